package api_test

import (
	"testing"

	"github.com/seed7221b0f9/parley/server/api"
)

// An event of a stream that does not name its message belongs to the one that was begun last in its thread.
func TestReaderNamesTheMessage(t *testing.T) {
	begin := func(parent, id string) *api.StreamEvent {
		return &api.StreamEvent{ParentToolUseID: parent, Event: &api.MessageStartEvent{Message: api.StreamMessage{ID: id}}}
	}
	delta := func(parent, id string) *api.StreamEvent {
		return &api.StreamEvent{ParentToolUseID: parent, APIMessageID: id, Event: &api.ContentBlockDeltaEvent{Delta: &api.TextDelta{Text: "x"}}}
	}
	var r api.Reader
	for i, step := range []struct {
		m    *api.StreamEvent
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
