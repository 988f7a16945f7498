package tool

import (
	"encoding/json"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// WebFetchInput is the input of WebFetch: the address of a page, and a prompt that describes
// what to extract from it.
type WebFetchInput struct {
	URL    string `json:"url"`
	Prompt string `json:"prompt"`
	Offset int64  `json:"offset,omitempty"` // in characters
}

// WebFetchResult is the result of WebFetch: the HTTP status of the page, and the answer to the
// prompt about it.
type WebFetchResult struct {
	Bytes        int64         `json:"bytes"`
	Code         int64         `json:"code"` // the status of HTTP
	CodeText     string        `json:"codeText"`
	Result       string        `json:"result"`
	DurationMS   int64         `json:"durationMs"`
	URL          string        `json:"url"`
	ArtifactRead *ArtifactRead `json:"artifactRead,omitempty"`
}

// WebSearchInput is the input of WebSearch: the query, and the allowed and the blocked domains.
type WebSearchInput struct {
	Query          string   `json:"query"`
	AllowedDomains []string `json:"allowed_domains,omitempty"`
	BlockedDomains []string `json:"blocked_domains,omitempty"`
}

// WebSearchResult is the result of WebSearch: the searches that were made with their hits, and
// texts in between.
type WebSearchResult struct {
	Query           string           `json:"query"`
	Results         []WebSearchEntry `json:"results"`
	DurationSeconds float64          `json:"durationSeconds"`
	SearchCount     *int64           `json:"searchCount,omitempty"`
}

// WebSearchEntry is either one search with its hits, or a text that the model wrote between
// searches. On the wire such a text is a plain string.
type WebSearchEntry struct {
	Text      string         `json:"-"`
	ToolUseID string         `json:"tool_use_id"`
	Content   []WebSearchHit `json:"content"`

	raw message.JSON
}

// WebSearchHit is a page that a search found: its title and its address, and, only for hooks, a
// snippet.
type WebSearchHit struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Snippet string `json:"snippet,omitempty"` // only hooks get it
}

var _ = jsonwire.Register(decodeWebSearchEntry)

func decodeWebSearchEntry(d *jsonwire.Decoder) WebSearchEntry {
	var e WebSearchEntry
	start := d.Offset()
	if d.Kind() == '"' {
		e.Text, _ = d.String()
	} else {
		type plain WebSearchEntry
		d.Into((*plain)(&e))
	}
	e.raw = message.JSON(d.Since(start))
	return e
}

// IsText reports whether the entry is a text that the model wrote and not a search with its
// hits.
func (e *WebSearchEntry) IsText() bool { return e.ToolUseID == "" && e.Content == nil }

// Raw returns a copy of the JSON that the entry was decoded from, or nil for an entry that the
// program built.
func (e *WebSearchEntry) Raw() json.RawMessage { return e.raw.Bytes() }

// MarshalJSON writes the entry byte for byte as it was read, or encodes it if it was built by
// the program.
func (e WebSearchEntry) MarshalJSON() ([]byte, error) {
	switch {
	case e.raw != "":
		return e.raw.Bytes(), nil
	case e.IsText():
		return jsonwire.Marshal(e.Text)
	}
	type plain WebSearchEntry
	return jsonwire.Marshal(plain(e))
}

// UnmarshalJSON decodes a string as a text and an object as a search. Members without a field
// stay in Raw.
func (e *WebSearchEntry) UnmarshalJSON(text []byte) error {
	return jsonwire.Unmarshal(string(text), e)
}
