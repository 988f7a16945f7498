package serveragent

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/agent/event"
)

// TestRename checks that events have the caller's id of a prompt instead of the server's, and other
// ids unchanged.
func TestRename(t *testing.T) {
	s := &Session{prompts: map[string]string{"server-1": "own-1"}}
	for _, c := range []struct{ ev, want event.Event }{
		{&event.UserMessage{Header: event.Header{UUID: "server-1"}}, &event.UserMessage{Header: event.Header{UUID: "own-1"}}},
		{&event.UserMessage{Header: event.Header{UUID: "other"}}, &event.UserMessage{Header: event.Header{UUID: "other"}}},
		{&event.TurnStart{TurnID: "server-1", PromptID: "server-1"}, &event.TurnStart{TurnID: "server-1", PromptID: "own-1"}},
		{&event.TurnStart{PromptID: "other"}, &event.TurnStart{PromptID: "other"}},
		{&event.QueueChanged{Items: []event.QueueItem{{ID: "other"}, {ID: "server-1"}}}, &event.QueueChanged{Items: []event.QueueItem{{ID: "other"}, {ID: "own-1"}}}},
	} {
		s.rename(c.ev)
		if diff := cmp.Diff(c.want, c.ev); diff != "" {
			t.Errorf("%T (-want +got):\n%s", c.ev, diff)
		}
	}
}
