package serveragent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// joins returns the events with which a view reports a conversation when it is attached.
func joins(t *testing.T, c *event.Conversation, state string, first bool) []string {
	t.Helper()
	snapshot, err := c.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(nil, "", nil, "", nil)
	if err := s.join(&api.AttachResult{State: state, Snapshot: event.JSON(snapshot)}, first); err != nil {
		t.Fatal(err)
	}
	if got := s.Past() != nil; got != first {
		t.Errorf("the view has a past: %v, want one for the first alone: %v", got, first)
	}
	s.kit.End(nil, nil)
	var list []string
	for ev, err := range s.Events(t.Context()) {
		if err != nil {
			break
		}
		if h := ev.Head(); h.Provider != "claude" || h.SessionID != "agent-1" {
			t.Errorf("%T is of %q %q, want claude agent-1", ev, h.Provider, h.SessionID)
		}
		switch ev := ev.(type) {
		case *event.SessionState:
			list = append(list, "state "+ev.State)
		case *event.QueueChanged:
			ids := ""
			for _, item := range ev.Items {
				ids += " " + item.ID
			}
			list = append(list, "queue"+ids)
		case *event.PermissionRequest:
			list = append(list, "asks "+ev.RequestID)
		case *event.PermissionResolved: // at the end of the view
			list = append(list, ev.Behavior+" "+ev.RequestID)
		case *event.ResultMessage:
			list = append(list, "result "+ev.UUID)
		case *event.Notice:
			list = append(list, strings.TrimSpace("notice "+ev.Code))
		default:
			list = append(list, fmt.Sprintf("%T", ev))
		}
	}
	return list
}

// TestJoin_states checks the first events of a view: the state, the queue, the requests and lost
// parts. A view that starts again also reports a gap, an empty queue, and the end of the last turn
// if it has ended.
func TestJoin_states(t *testing.T) {
	open := []event.Event{
		&event.QueueChanged{Items: []event.QueueItem{{ID: "q-1", Content: `"x"`}, {ID: "q-2", Content: `"y"`}}},
		&event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r-1", ToolUseID: "t", ToolName: "Bash", Input: `{}`},
	}
	ended := []event.Event{&event.ResultMessage{Header: event.Header{UUID: "one"}}, &event.ResultMessage{Header: event.Header{UUID: "two"}}, &event.Notice{Severity: "warning", Code: "other", Text: "x"}}
	lost := []event.Event{&event.Notice{Severity: "warning", Code: event.NoticeLost, Text: "x"}}
	for name, tt := range map[string]struct {
		events       []event.Event
		first, again string // after the state
	}{
		"nothing":      {nil, "", "notice; STATE; queue"},
		"open":         {open, "queue q-1 q-2; asks r-1; unknown r-1", "notice; STATE; queue q-1 q-2; asks r-1; unknown r-1"},
		"a turn ended": {ended, "", "notice; RESULT; STATE; queue"},
		"a loss":       {lost, "notice log_damaged", "notice; STATE; queue"},
	} {
		for _, state := range []string{"starting", "idle", "running", "requires_action", "interrupted", "draining", "failed", "ended", "lost_host"} {
			t.Run(name+" "+state, func(t *testing.T) {
				conversation := func() *event.Conversation {
					c := &event.Conversation{}
					for _, ev := range tt.events {
						c.Apply(ev)
					}
					c.Provider, c.SessionID = "claude", "agent-1"
					return c
				}
				want := strings.TrimSuffix("state "+state+"; "+tt.first, "; ")
				if got := strings.Join(joins(t, conversation(), state, true), "; "); got != want {
					t.Errorf("the first view reports %s, want %s", got, want)
				}
				want = strings.Replace(tt.again, "STATE", "state "+state, 1)
				if state == "running" || state == "requires_action" {
					want = strings.Replace(want, "RESULT; ", "", 1)
				}
				want = strings.Replace(want, "RESULT", "result two", 1)
				if got := strings.Join(joins(t, conversation(), state, false), "; "); got != want {
					t.Errorf("a view that begins again reports %s, want %s", got, want)
				}
			})
		}
	}
}
