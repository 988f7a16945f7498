package server

import (
	"testing"

	"github.com/seed7221b0f9/parley/ui"
)

// TestSeen checks what counts as new in a session that another process goes on with.
func TestSeen(t *testing.T) {
	prompt := func(uuid string) []ui.Event {
		h := ui.Header{UUID: uuid}
		return []ui.Event{&ui.TurnStart{TurnID: "t" + uuid, By: ui.ByUser, PromptID: uuid}, &ui.UserMessage{Header: h, IsPrompt: true, Blocks: []ui.Content{ui.TextContent("hi")}}}
	}
	answer := func(uuid, message string, index int64) ui.Event {
		return &ui.AssistantMessage{Header: ui.Header{UUID: uuid, MessageID: message}, Blocks: []ui.IndexedBlock{{Index: index, Block: ui.TextContent("x")}}}
	}
	meta := &ui.UserMessage{Header: ui.Header{UUID: "meta"}, IsMeta: true, Blocks: []ui.Content{ui.TextContent("caveat")}}
	notice := &ui.Notice{Header: ui.Header{UUID: "n"}, Text: "a notice"}
	var conv ui.Conversation
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
	if s.fresh(&ui.SessionState{State: "idle"}) {
		t.Error("the state of the other process counts")
	}
	added := append(prompt("u2"), answer("a2", "m2", 0), answer("a3", "m2", 1), notice, meta,
		&ui.ToolComplete{Header: ui.Header{UUID: "r1"}, ToolUseID: "tool"})
	for i, ev := range added {
		if !s.fresh(ev) {
			t.Errorf("event %d (%T) is new and does not count", i, ev)
		}
	}
	for i, ev := range added {
		if _, ok := ev.(*ui.Notice); !ok && s.fresh(ev) {
			t.Errorf("event %d (%T) counts twice", i, ev)
		}
	}
}
