package session

import (
	"encoding/json"
	"fmt"

	"github.com/seed7221b0f9/parley/agent/event"
)

// The bounds of one message of a session. What is larger would not fit into a record of the
// log, and no viewer could show it.
const (
	MaxMessage = 32 << 20 // bytes of its JSON
	keptResult = 64 << 10 // what is kept of a tool's result that is larger
)

// bounded is an event as the log takes it. A tool's result that is too large is cut and says
// so; the agent has it whole.
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

// beginning is the start of a text that is a JSON string, "" for anything else.
func beginning(text event.JSON) string {
	if len(text) < keptResult || text[0] != '"' {
		return ""
	}
	for end := keptResult; end > keptResult-16; end-- { // an escape may be cut in the middle
		var s string
		if json.Unmarshal([]byte(text[:end]+`"`), &s) == nil {
			return s
		}
	}
	return ""
}

// tooLarge stands for a message that is larger than the log takes.
func tooLarge(h event.Header, typ string, size int) event.Event {
	return &event.Error{Header: h, Message: fmt.Sprintf("A message of the type %s was left out: it has %d bytes, and the server keeps messages of up to %d.", typ, size, MaxMessage)}
}
