package codexagent

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/item"
)

// TestDecide checks the decision for each answer: no decision allows more than the person has
// chosen.
func TestDecide(t *testing.T) {
	rule := []string{"go", "test"}
	amended := codex.AcceptWithAmendment(rule)
	for _, tt := range []struct {
		name   string
		answer agent.PermissionAnswer
		kind   string
		rule   []string
		want   codex.Decision
	}{
		{"a denial", agent.PermissionAnswer{}, "", rule, codex.Decline},
		{"a denial with a scope", agent.PermissionAnswer{Scope: event.ScopeAlways, Choice: "always"}, "", rule, codex.Decline},
		{"a denial that interrupts", agent.PermissionAnswer{Interrupt: true}, "", nil, codex.Cancel},
		{"an approval", agent.PermissionAnswer{Allow: true}, "", rule, codex.Accept},
		{"an approval that interrupts", agent.PermissionAnswer{Allow: true, Interrupt: true}, "", nil, codex.Accept},
		{"for the session", agent.PermissionAnswer{Allow: true, Scope: event.ScopeSession}, "", rule, codex.AcceptForSession},
		{"always", agent.PermissionAnswer{Allow: true, Scope: event.ScopeAlways}, "", rule, amended},
		{"always, without a rule", agent.PermissionAnswer{Allow: true, Scope: event.ScopeAlways}, "", nil, codex.Accept},
		{"always, a tool", agent.PermissionAnswer{Allow: true, Scope: event.ScopeAlways}, codex.ApproveMCPTool, nil, codex.AcceptAlways},
		{"the choice of the session", agent.PermissionAnswer{Allow: true, Choice: "acceptForSession"}, "", nil, codex.AcceptForSession},
		{"the choice of the session, of a tool", agent.PermissionAnswer{Allow: true, Choice: "session"}, "", nil, codex.AcceptForSession},
		{"the choice of a rule", agent.PermissionAnswer{Allow: true, Choice: "acceptWithExecpolicyAmendment"}, "", rule, amended},
		{"the choice of always", agent.PermissionAnswer{Allow: true, Choice: "always"}, "", nil, codex.AcceptAlways},
		{"an unknown choice", agent.PermissionAnswer{Allow: true, Choice: "wild", Scope: event.ScopeAlways}, "", rule, codex.Accept},
	} {
		got := decide(&tt.answer, &codex.Approval{Kind: tt.kind, Amendment: tt.rule})
		if !cmp.Equal(got, tt.want, cmp.AllowUnexported(codex.Decision{})) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestCommandOf checks which texts are commands, and what they start.
func TestCommandOf(t *testing.T) {
	review := func(r codex.ReviewTarget) *codex.Prompt { return &codex.Prompt{ClientID: "c", Review: &r} }
	for text, want := range map[string]*codex.Prompt{
		"/review":              review(codex.ReviewTarget{Type: "uncommittedChanges"}),
		" /review  the tests ": review(codex.ReviewTarget{Type: "custom", Instructions: "the tests"}),
		"/review-branch main":  review(codex.ReviewTarget{Type: "baseBranch", Branch: "main"}),
		"/review-commit abc":   review(codex.ReviewTarget{Type: "commit", SHA: "abc"}),
		"/compact":             {ClientID: "c", Compact: true},
		"/review-branch":       nil,
		"/review-commit ":      nil,
		"/compact all":         nil,
		"/unknown":             nil,
		"review":               nil,
		"":                     nil,
		"look at /review":      nil,
	} {
		got := commandOf(&codex.Prompt{ClientID: "c", Model: "m", Input: []item.Input{&item.Text{Text: text}}})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	for name, input := range map[string][]item.Input{"nothing": nil, "an image": {&item.Image{}}, "two texts": {&item.Text{Text: "/compact"}, &item.Text{Text: "/compact"}}} {
		if got := commandOf(&codex.Prompt{Input: input}); got != nil {
			t.Errorf("%s is the command %+v", name, got)
		}
	}
}
