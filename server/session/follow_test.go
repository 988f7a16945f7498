package session

import (
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
)

// TestSeen checks which events are new in a session that another process continues.
func TestSeen(t *testing.T) {
	prompt := func(uuid string) []event.Event {
		h := event.Header{UUID: uuid}
		return []event.Event{&event.TurnStart{TurnID: "t" + uuid, By: event.ByUser, PromptID: uuid}, &event.UserMessage{Header: h, IsPrompt: true, Blocks: []event.Content{event.TextContent("hi")}}}
	}
	answer := func(uuid, message string, index int64) event.Event {
		return &event.AssistantMessage{Header: event.Header{UUID: uuid, MessageID: message}, Blocks: []event.IndexedBlock{{Index: index, Block: event.TextContent("x")}}}
	}
	meta := &event.UserMessage{Header: event.Header{UUID: "meta"}, IsMeta: true, Blocks: []event.Content{event.TextContent("caveat")}}
	notice := &event.Notice{Header: event.Header{UUID: "n"}, Text: "a notice"}
	var conv event.Conversation
	known := append(prompt("u1"), answer("a1", "m1", 0))
	for _, ev := range known {
		conv.Apply(ev)
	}
	s := newSeen(&conv)
	for i, ev := range append(known, meta, notice, answer("other", "m1", 0)) {
		if s.fresh(ev) {
			t.Errorf("event %d (%T) is in the log and counts as new", i, ev)
		}
	}
	if s.fresh(&event.SessionState{State: "idle"}) {
		t.Error("the state of the other process counts")
	}
	added := append(prompt("u2"), answer("a2", "m2", 0), answer("a3", "m2", 1), notice, meta,
		&event.ToolComplete{Header: event.Header{UUID: "r1"}, ToolUseID: "tool"})
	for i, ev := range added {
		if !s.fresh(ev) {
			t.Errorf("event %d (%T) is new and does not count", i, ev)
		}
	}
	for i, ev := range added {
		if _, ok := ev.(*event.Notice); !ok && s.fresh(ev) {
			t.Errorf("event %d (%T) counts twice", i, ev)
		}
	}
}
