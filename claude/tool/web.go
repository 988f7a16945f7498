package tool

import (
	"encoding/json"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// WebFetchInput is the input of WebFetch: a page, and what to make of it.
type WebFetchInput struct {
	URL    string `json:"url"`
	Prompt string `json:"prompt"`
	Offset int64  `json:"offset,omitempty"` // in characters
}

// WebFetchResult is the result of WebFetch.
type WebFetchResult struct {
	Bytes        int64         `json:"bytes"`
	Code         int64         `json:"code"` // the status of HTTP
	CodeText     string        `json:"codeText"`
	Result       string        `json:"result"`
	DurationMS   int64         `json:"durationMs"`
	URL          string        `json:"url"`
	ArtifactRead *ArtifactRead `json:"artifactRead,omitempty"`
}

// WebSearchInput is the input of WebSearch.
type WebSearchInput struct {
	Query          string   `json:"query"`
	AllowedDomains []string `json:"allowed_domains,omitempty"`
	BlockedDomains []string `json:"blocked_domains,omitempty"`
}

// WebSearchResult is the result of WebSearch.
type WebSearchResult struct {
	Query           string           `json:"query"`
	Results         []WebSearchEntry `json:"results"`
	DurationSeconds float64          `json:"durationSeconds"`
	SearchCount     *int64           `json:"searchCount,omitempty"`
}

// WebSearchEntry is either one search with its hits or a text of the model
// between searches. The wire gives the text as a plain string.
type WebSearchEntry struct {
	Text      string         `json:"-"`
	ToolUseID string         `json:"tool_use_id"`
	Content   []WebSearchHit `json:"content"`

	raw message.JSON
}

// WebSearchHit is a page that a search found.
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

// IsText reports whether the entry is a text and not a search.
func (e *WebSearchEntry) IsText() bool { return e.ToolUseID == "" && e.Content == nil }

// Raw returns a copy of the entry's text, nil for an entry that was built.
func (e *WebSearchEntry) Raw() json.RawMessage { return e.raw.Bytes() }

// MarshalJSON writes the entry as it was read, or as it was built.
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

// UnmarshalJSON takes a string for a text and an object for a search.
func (e *WebSearchEntry) UnmarshalJSON(text []byte) error {
	return jsonwire.Unmarshal(string(text), e)
}
