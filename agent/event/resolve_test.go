package event_test

import (
	"reflect"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
)

func TestResolve(t *testing.T) {
	h := event.Header{SessionID: "s"}
	for _, tt := range []struct {
		question bool
		r        event.Resolution
		want     event.Event
	}{
		{false, event.Resolution{Behavior: event.ResolvedAllow, Scope: event.ScopeSession, Message: "m", By: "ann"},
			&event.PermissionResolved{Header: h, RequestID: "r", ToolUseID: "t", Behavior: "allow", Scope: "session", Message: "m", By: "ann"}},
		{false, event.Resolution{Behavior: event.ResolvedCancelled}, &event.PermissionResolved{Header: h, RequestID: "r", ToolUseID: "t", Behavior: "cancelled"}},
		{true, event.Resolution{Behavior: "accept", Answers: `{}`, By: "ann"}, &event.QuestionResolved{Header: h, RequestID: "r", ToolUseID: "t", Action: "accept", Answers: `{}`, By: "ann"}},
		{true, event.Resolution{Behavior: event.ResolvedAllow}, &event.QuestionResolved{Header: h, RequestID: "r", ToolUseID: "t", Action: "accept"}},
		{true, event.Resolution{Behavior: event.ResolvedDeny}, &event.QuestionResolved{Header: h, RequestID: "r", ToolUseID: "t", Action: "decline"}},
		{true, event.Resolution{Behavior: event.ResolvedCancelled}, &event.QuestionResolved{Header: h, RequestID: "r", ToolUseID: "t", Action: "cancel"}},
		{true, event.Resolution{Behavior: event.ResolvedExpired}, &event.QuestionResolved{Header: h, RequestID: "r", ToolUseID: "t", Action: "expired"}},
	} {
		if got := event.Resolve(h, tt.question, "r", "t", tt.r); !reflect.DeepEqual(got, tt.want) || event.ResolvedID(got) != "r" {
			t.Errorf("question %v, %+v: %+v", tt.question, tt.r, got)
		}
	}
}
