package claudestore

import (
	"encoding/json"
	"maps"
	"regexp"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/seed7221b0f9/parley/claude"
)

// SummaryData is the content of [claude.StoredSummary.Data], as far as this package knows it.
// Unknown members are kept.
type SummaryData struct {
	IsSidechain       bool   `json:"isSidechain,omitempty"`
	CreatedAt         int64  `json:"createdAt,omitempty"` // milliseconds since 1970
	CWD               string `json:"cwd,omitempty"`
	FirstPrompt       string `json:"firstPrompt,omitempty"`
	FirstPromptLocked bool   `json:"firstPromptLocked,omitempty"`
	CommandFallback   string `json:"commandFallback,omitempty"`
	CustomTitle       string `json:"customTitle,omitempty"`
	AITitle           string `json:"aiTitle,omitempty"`
	LastPrompt        string `json:"lastPrompt,omitempty"`
	SummaryHint       string `json:"summaryHint,omitempty"`
	GitBranch         string `json:"gitBranch,omitempty"`
	Tag               string `json:"tag,omitempty"`
}

// FoldSummary returns prev, the summary of a session or nil, updated with entries of its main
// transcript. A zero modTime keeps that of prev. It does not modify its arguments. It ignores
// entries that are not JSON objects, and keeps unknown members of Data.
func FoldSummary(prev *claude.StoredSummary, key claude.SessionKey, entries []json.RawMessage, modTime time.Time) (claude.StoredSummary, error) {
	out := claude.StoredSummary{SessionID: key.SessionID, ModTime: modTime}
	data := map[string]any{}
	if prev != nil {
		out.SessionID = prev.SessionID
		if modTime.IsZero() {
			out.ModTime = prev.ModTime
		}
		var before map[string]json.RawMessage
		if err := json.Unmarshal(prev.Data, &before); err != nil {
			return out, err
		}
		for k, v := range maps.All(before) {
			data[k] = v
		}
	}
	for _, raw := range entries {
		var e summaryEntry
		if json.Unmarshal(raw, &e) == nil {
			e.fold(data)
		}
	}
	var err error
	out.Data, err = json.Marshal(data)
	return out, err
}

// summaryEntry holds the members of an entry. A member of an unexpected type counts as
// missing.
type summaryEntry map[string]json.RawMessage

func (e summaryEntry) text(name string) (s string, ok bool) {
	raw := e[name]
	ok = len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil
	return s, ok
}

func (e summaryEntry) is(name string) bool { return string(e[name]) == "true" }

func (e summaryEntry) fold(data map[string]any) {
	if _, ok := data["isSidechain"]; !ok {
		data["isSidechain"] = e.is("isSidechain")
	}
	if ts, ok := e.text("timestamp"); ok && data["createdAt"] == nil {
		if at, err := time.Parse(time.RFC3339, ts); err == nil {
			data["createdAt"] = at.UnixMilli()
		}
	}
	if cwd, _ := e.text("cwd"); cwd != "" && data["cwd"] == nil {
		data["cwd"] = cwd
	}
	e.foldPrompt(data)
	for from, to := range map[string]string{"customTitle": "customTitle", "aiTitle": "aiTitle", "lastPrompt": "lastPrompt",
		"summary": "summaryHint", "gitBranch": "gitBranch"} {
		if s, ok := e.text(from); ok {
			data[to] = s
		}
	}
	switch typ, _ := e.text("type"); typ {
	case "tag":
		if tag, _ := e.text("tag"); tag != "" {
			data["tag"] = tag
		} else {
			delete(data, "tag")
		}
	case "relocated":
		if cwd, _ := e.text("relocatedCwd"); cwd != "" {
			data["cwd"] = cwd
		}
	}
}

var (
	commandName = regexp.MustCompile(`<command-name>(.*?)</command-name>`)
	bashInput   = regexp.MustCompile(`(?s)<bash-input>(.*?)</bash-input>`)
	noPrompt    = regexp.MustCompile(`^(?:\s*<[a-z][\w-]*[\s>]|\[Request interrupted by user[^\]]*\])`)
)

// foldPrompt records the first prompt of the user, or the first command until there is a
// prompt.
func (e summaryEntry) foldPrompt(data map[string]any) {
	if _, locked := data["firstPromptLocked"]; locked {
		return
	}
	if typ, _ := e.text("type"); typ != "user" || e.is("isMeta") || e.is("isCompactSummary") {
		return
	}
	for _, text := range e.texts() {
		text = strings.TrimSpace(strings.ReplaceAll(text, "\n", " "))
		switch command, bash := commandName.FindStringSubmatch(text), bashInput.FindStringSubmatch(text); {
		case text == "":
			continue
		case command != nil:
			if _, ok := data["commandFallback"]; !ok && command[1] != "" {
				data["commandFallback"] = command[1]
			}
			continue
		case bash != nil:
			text = "! " + strings.TrimSpace(bash[1])
		case noPrompt.MatchString(text):
			continue
		default:
			text = shortPrompt(text)
		}
		data["firstPrompt"], data["firstPromptLocked"] = text, true
		return
	}
}

// texts returns the texts of a prompt, or nil for the result of a tool.
func (e summaryEntry) texts() []string {
	var m struct{ Content json.RawMessage }
	if json.Unmarshal(e["message"], &m) != nil {
		return nil
	}
	var whole string
	if json.Unmarshal(m.Content, &whole) == nil {
		return []string{whole}
	}
	var blocks []summaryEntry
	if json.Unmarshal(m.Content, &blocks) != nil {
		return nil
	}
	var texts []string
	for _, b := range blocks {
		switch typ, _ := b.text("type"); typ {
		case "tool_result":
			return nil
		case "text":
			if s, ok := b.text("text"); ok {
				texts = append(texts, s)
			}
		}
	}
	return texts
}

// maxFirstPrompt is the maximum length of a first prompt, in UTF-16 units like in the official
// SDK.
const maxFirstPrompt = 200

func shortPrompt(s string) string {
	units := utf16.Encode([]rune(s))
	if len(units) <= maxFirstPrompt {
		return s
	}
	units = units[:maxFirstPrompt]
	if last := rune(units[maxFirstPrompt-1]); utf16.IsSurrogate(last) && last < 0xdc00 {
		units = units[:maxFirstPrompt-1]
	}
	return strings.TrimSpace(string(utf16.Decode(units))) + "…"
}
