package claudetest

import (
	"encoding/json"
	"slices"
	"strings"
)

// apiAsk holds the members of a message request that select its answer.
type apiAsk struct {
	Model     string            `json:"model"`
	MaxTokens int               `json:"max_tokens"`
	Stream    bool              `json:"stream"`
	Tools     []json.RawMessage `json:"tools"`
	System    json.RawMessage   `json:"system"`
	Messages  []apiTurn         `json:"messages"`
}

type apiTurn struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// side reports whether the request is a side request.
func (s Script) side(q apiAsk) bool {
	switch {
	case s.AllMain:
		return false
	case q.MaxTokens == 1:
		return true
	default:
		return len(q.Tools) == 0 && !s.NoToolsMain
	}
}

// take finds the reply for a request, and its index or -1. The caller holds a.mu.
func (a *FakeAPI) take(q apiAsk, side bool) (Reply, int) {
	plain := -1
	for i, s := range a.slots {
		switch {
		case s.used == s.times:
		case s.reply.Match != nil:
			if s.reply.Match.fits(q, side) {
				return a.slots[i].take()
			}
		case plain < 0 && !side:
			plain = i
		}
	}
	if plain >= 0 {
		return a.slots[plain].take()
	}
	if side {
		return Say(a.script.sideText()), -1
	}
	return Say("SCRIPT EXHAUSTED"), -1
}

func (s *replySlot) take() (Reply, int) {
	s.used++
	return s.reply, s.first + s.used - 1
}

func (s Script) sideText() string {
	if s.SideText != "" {
		return s.SideText
	}
	// An answer that the CLI can read both as a title and as a verdict about a new topic.
	return `{"title":"Fake title","isNewTopic":false}`
}

func (m *Match) fits(q apiAsk, side bool) bool {
	return m.Side == side &&
		(m.Model == "" || m.Model == q.Model) &&
		(m.SystemIncludes == "" || includes(m.SystemIncludes, q.System)) &&
		(m.LastIncludes == "" || includes(m.LastIncludes, q.lastUser())) &&
		(m.AnyIncludes == "" || includes(m.AnyIncludes, q.contents()...))
}

// lastUser returns the content of the last user message. The CLI appends messages with
// role system, so it need not be the last message.
func (q apiAsk) lastUser() json.RawMessage {
	for i := len(q.Messages) - 1; i >= 0; i-- {
		if q.Messages[i].Role == "user" {
			return q.Messages[i].Content
		}
	}
	return nil
}

func (q apiAsk) contents() []json.RawMessage {
	contents := make([]json.RawMessage, len(q.Messages))
	for i, t := range q.Messages {
		contents[i] = t.Content
	}
	return contents
}

// includes reports whether a string in the values contains text.
func includes(text string, values ...json.RawMessage) bool {
	for _, data := range values {
		var value any
		if len(data) > 0 && json.Unmarshal(data, &value) == nil && within(value, text) {
			return true
		}
	}
	return false
}

func within(value any, text string) bool {
	switch v := value.(type) {
	case string:
		return strings.Contains(v, text)
	case []any:
		return slices.ContainsFunc(v, func(element any) bool { return within(element, text) })
	case map[string]any:
		for _, member := range v {
			if within(member, text) {
				return true
			}
		}
	}
	return false
}
