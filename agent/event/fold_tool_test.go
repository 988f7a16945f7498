package event_test

import (
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
)

// A folded call has the members of the complete messages about it. A later message without a member keeps the earlier
// value.
func TestApply_described(t *testing.T) {
	var c event.Conversation
	whole := func(b event.Content) {
		c.Apply(&event.AssistantMessage{Header: event.Header{MessageID: "m"}, Blocks: []event.IndexedBlock{{Block: b}}})
	}
	whole(event.Content{Type: "tool_use", ToolUseID: "t", Name: "n", Title: "Title", Kind: "execute", Input: `{"a":1}`, Content: `[{"type":"text","text":"c"}]`, Locations: `[{"path":"/p"}]`})
	whole(event.Content{Type: "tool_use", ToolUseID: "t", Name: "n", Input: `{"a":2}`})
	call := c.Threads[0].Items[0].Message.Blocks[0].Tool
	if call == nil || string(call.Title) != "Title" || string(call.Kind) != "execute" || string(call.Input) != `{"a":2}` || string(call.Content) != `[{"type":"text","text":"c"}]` || string(call.Locations) != `[{"path":"/p"}]` {
		t.Errorf("the call is %+v, want its title, kind, content and place, and the last input", call)
	}
}
