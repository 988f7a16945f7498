package rpc_test

import (
	"testing"

	"github.com/seed7221b0f9/parley/rpc"
)

// An event of a stream that does not name its message belongs to the one that was begun last in its thread.
func TestReaderNamesTheMessage(t *testing.T) {
	begin := func(parent, id string) *rpc.StreamEvent {
		return &rpc.StreamEvent{ParentToolUseID: parent, Event: &rpc.MessageStartEvent{Message: rpc.StreamMessage{ID: id}}}
	}
	delta := func(parent, id string) *rpc.StreamEvent {
		return &rpc.StreamEvent{ParentToolUseID: parent, APIMessageID: id, Event: &rpc.ContentBlockDeltaEvent{Delta: &rpc.TextDelta{Text: "x"}}}
	}
	var r rpc.Reader
	for i, step := range []struct {
		m    *rpc.StreamEvent
		want string
	}{
		{delta("", ""), ""},
		{begin("", "one"), "one"},
		{delta("", ""), "one"},
		{begin("tool", "two"), "two"},
		{delta("", ""), "one"},
		{delta("tool", ""), "two"},
		{delta("tool", "three"), "three"},
		{begin("", "four"), "four"},
		{delta("", ""), "four"},
	} {
		events := r.Events(step.m)
		if len(events) != 1 || events[0].Head().MessageID != step.want {
			t.Errorf("step %d: %v, want message %q", i, events, step.want)
		}
	}
}
