package acpagent

import (
	"encoding/json"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/agentkit"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// An answer selects the matching option of the agent, never one that allows more. The event
// contains the person's answer.
func TestRespond(t *testing.T) {
	all := []acp.PermissionOption{
		{OptionID: "always", Kind: acp.PermissionOptionKindAllowAlways}, {OptionID: "once", Kind: acp.PermissionOptionKindAllowOnce}, {OptionID: "once again", Kind: acp.PermissionOptionKindAllowOnce},
		{OptionID: "never", Kind: acp.PermissionOptionKindRejectAlways}, {OptionID: "no", Kind: acp.PermissionOptionKindRejectOnce},
	}
	tests := []struct {
		name     string
		offered  []acp.PermissionOption
		answer   agent.Answer
		result   string // "" is an error
		resolved string // behaviour, scope, message; or action and content
	}{
		{"once", all, &agent.PermissionAnswer{Allow: true, Message: "why"}, "selected once", "allow  why"},
		{"for the session", all, &agent.PermissionAnswer{Allow: true, Scope: event.ScopeSession, Message: "why"}, "selected always", "allow session why"},
		{"always", all, &agent.PermissionAnswer{Allow: true, Scope: event.ScopeAlways}, "selected always", "allow always "},
		{"refused", all, &agent.PermissionAnswer{Message: "why"}, "selected no", "deny  why"},
		{"refused always", all, &agent.PermissionAnswer{Scope: event.ScopeAlways}, "selected no", "deny always "},
		{"choice", all, &agent.PermissionAnswer{Allow: true, Choice: "once again"}, "selected once again", "allow  "},
		{"choice that refuses", all, &agent.PermissionAnswer{Choice: "never"}, "selected never", "deny  "},
		{"choice that is not offered", all, &agent.PermissionAnswer{Allow: true, Choice: "maybe"}, "", ""},
		{"refusing choice that is not offered", all, &agent.PermissionAnswer{Choice: "maybe"}, "", ""},
		{"only always is offered", all[:1], &agent.PermissionAnswer{Allow: true}, "", ""},
		{"only once is offered", all[1:2], &agent.PermissionAnswer{Allow: true, Scope: event.ScopeAlways}, "", ""},
		{"no refusal is offered", all[:2], &agent.PermissionAnswer{Message: "why"}, "cancelled", "deny  why"},
		{"nothing is offered", nil, &agent.PermissionAnswer{Allow: true}, "", ""},
		{"plan approved", all, &agent.PlanAnswer{Approve: true, Message: "go"}, "selected once", "allow  go"},
		{"plan refused", all, &agent.PlanAnswer{Message: "no"}, "selected no", "deny  no"},
		{"accepted", nil, &agent.ElicitationAnswer{Action: "accept", Content: json.RawMessage(`{"a":1}`)}, `{"action":"accept","content":{"a":1}}`, `accept {"a":1}`},
		{"accepted without content", nil, &agent.ElicitationAnswer{Action: "accept"}, `{"action":"accept"}`, "accept "},
		{"declined with content", nil, &agent.ElicitationAnswer{Action: "decline", Content: json.RawMessage(`{"a":1}`)}, `{"action":"decline"}`, `decline {"a":1}`},
		{"question", nil, &agent.QuestionAnswer{}, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSession(&Provider{}, t.TempDir(), agent.Options{})
			defer s.kit.End(nil, nil)
			r := &agentkit.Prompt{ID: "r", ToolUseID: "t"}
			if _, ok := tt.answer.(*agent.ElicitationAnswer); ok {
				r.Kind = "elicitation"
			}
			result, events, err := s.respond(r, tt.offered, tt.answer)
			if tt.result == "" {
				if !errors.Is(err, agent.ErrInvalid) || result != nil || events != nil {
					t.Errorf("respond = %v, %v, %v, want %v alone", result, events, err, agent.ErrInvalid)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := outcomeOf(t, result); got != tt.result {
				t.Errorf("the agent is told %s, want %s", got, tt.result)
			}
			if got := resolvedOf(events); got != tt.resolved {
				t.Errorf("the events tell %q, want %q", got, tt.resolved)
			}
		})
	}
}

func outcomeOf(t *testing.T, result any) string {
	t.Helper()
	if p, ok := result.(*acp.RequestPermissionResponse); ok {
		if s, ok := p.Outcome.Value.(*acp.SelectedPermissionOutcome); ok {
			return p.Outcome.Outcome + " " + string(s.OptionID)
		}
		return p.Outcome.Outcome
	}
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func resolvedOf(events []event.Event) string {
	for _, ev := range events {
		switch ev := ev.(type) {
		case *event.PermissionResolved:
			if ev.RequestID == "r" && ev.ToolUseID == "t" {
				return ev.Behavior + " " + ev.Scope + " " + ev.Message
			}
		case *event.QuestionResolved:
			if ev.RequestID == "r" {
				return ev.Action + " " + string(ev.Answers)
			}
		}
	}
	return fmt.Sprint(events)
}

// An error of the agent matches exactly the corresponding error of package agent and keeps its text.
func TestTranslate(t *testing.T) {
	kinds := []error{agent.ErrAuth, agent.ErrNotFound, agent.ErrInvalid, agent.ErrUnsupported, agent.ErrClosed}
	broken := errors.New("broken")
	for _, tt := range []struct {
		name      string
		err, want error
	}{
		{"login", &jsonrpc.Error{Code: acp.CodeAuthRequired, Message: "m"}, agent.ErrAuth},
		{"missing", &jsonrpc.Error{Code: acp.CodeResourceNotFound, Message: "m"}, agent.ErrNotFound},
		{"params", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "m"}, agent.ErrInvalid},
		{"method", &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "m"}, agent.ErrUnsupported},
		{"internal", &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "m"}, nil},
		{"closed", jsonrpc.ErrClosed, agent.ErrClosed},
		{"no reader", fmt.Errorf("writing: %w", syscall.EPIPE), agent.ErrClosed},
		{"other", broken, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &Session{provider: &Provider{}, conn: &jsonrpc.Conn{}}
			got := s.translate(tt.err)
			if !errors.Is(got, tt.err) {
				t.Errorf("translate = %v, which is not %v", got, tt.err)
			}
			for _, kind := range kinds {
				if errors.Is(got, kind) != (kind == tt.want) {
					t.Errorf("translate = %v; it is %v: %v", got, kind, kind != tt.want)
				}
			}
		})
	}
	if err := (&Session{}).translate(nil); err != nil {
		t.Errorf("translate(nil) = %v", err)
	}
}
