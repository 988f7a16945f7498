package session

import (
	"encoding/json"
	"fmt"

	"github.com/seed7221b0f9/parley/agent/event"
)

// The limits of one message of a session. A larger one would not fit into a record of the log, and
// no viewer could show it.
const (
	MaxMessage = 32 << 20 // bytes of its JSON
	keptResult = 64 << 10 // the kept part of a larger tool result
)

// bounded returns an event that fits into the log. A tool result that is too large is cut and
// marked; the agent has it completely.
func bounded(ev event.Event) event.Event {
	r, ok := ev.(*event.ToolComplete)
	if !ok || len(r.Content)+len(r.ToolUseResult) <= MaxMessage/2 {
		return ev
	}
	cut := *r
	cut.Truncated = true
	size := len(r.Content)
	if size > keptResult {
		cut.Content = event.Quote(beginning(r.Content) + fmt.Sprintf("\n[cut: the result has %d bytes, and the server keeps results of up to %d]", size, MaxMessage/2))
	}
	if len(cut.ToolUseResult) > keptResult {
		cut.ToolUseResult = ""
	}
	return &cut
}

// beginning returns the start of a text that is a JSON string, "" for anything else.
func beginning(text event.JSON) string {
	if len(text) < keptResult || text[0] != '"' {
		return ""
	}
	for end := keptResult; end > keptResult-16; end-- { // the cut may be inside an escape
		var s string
		if json.Unmarshal([]byte(text[:end]+`"`), &s) == nil {
			return s
		}
	}
	return ""
}

// tooLarge replaces a message that exceeds the limit of the log.
func tooLarge(h event.Header, typ string, size int) event.Event {
	return &event.Error{Header: h, Message: fmt.Sprintf("A message of the type %s was left out: it has %d bytes, and the server keeps messages of up to %d.", typ, size, MaxMessage)}
}
