package serveragent

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
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

// TestJoin_requests checks that a request that was answered while the view had a gap, and one that is open at its end, is
// resolved once.
func TestJoin_requests(t *testing.T) {
	s := newSession(nil, "id", nil, "", func() {})
	for i, ids := range [][]string{{"gone", "stays"}, {"stays", "form"}} {
		c := event.Conversation{Provider: "p", SessionID: "agent"}
		for _, id := range ids {
			var ev event.Event = &event.PermissionRequest{RequestID: id, ToolUseID: "call", Kind: event.PermissionTool}
			if id == "form" {
				ev = &event.QuestionRequest{RequestID: id, Kind: event.QuestionElicitation}
			}
			p, _ := event.NewPrompt(ev)
			c.Prompts = append(c.Prompts, &p)
		}
		if err := s.join(&api.AttachResult{State: "requires_action", Snapshot: event.Encoded(&c)}, i == 0); err != nil {
			t.Fatal(err)
		}
	}
	s.kit.End(nil, nil)
	var got []event.Event
	for ev := range s.Events(t.Context()) {
		if event.ResolvedID(ev) != "" {
			got = append(got, ev)
		}
	}
	head := event.Header{Provider: "p", SessionID: "agent"}
	want := []event.Event{
		&event.PermissionResolved{Header: head, RequestID: "gone", ToolUseID: "call", Behavior: event.ResolvedUnknown},
		&event.QuestionResolved{Header: head, RequestID: "form", Action: event.ResolvedUnknown},
		&event.PermissionResolved{Header: head, RequestID: "stays", ToolUseID: "call", Behavior: event.ResolvedUnknown},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
