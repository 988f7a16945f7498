package claudeagent

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// TestUpdates checks the rules of an allow: for a session, no rules that are stored in a file; for one
// call, no rules. A scope never adds other updates than rules.
func TestUpdates(t *testing.T) {
	rule := func(tool string, d message.PermissionDestination) message.PermissionUpdate {
		return message.PermissionUpdate{Type: message.UpdateAddRules, Rules: []message.PermissionRule{{ToolName: tool}}, Behavior: message.BehaviorAllow, Destination: d}
	}
	mode := message.PermissionUpdate{Type: message.UpdateSetMode, Mode: "acceptEdits", Destination: message.DestinationSession}
	suggested := []message.PermissionUpdate{rule("Bash", "localSettings"), mode, rule("Read", "userSettings"), rule("Edit", message.DestinationSession)}
	inSession := []message.PermissionUpdate{rule("Bash", message.DestinationSession), rule("Read", message.DestinationSession), rule("Edit", message.DestinationSession)}
	asSuggested := []message.PermissionUpdate{suggested[0], suggested[2], suggested[3]}
	for name, c := range map[string]struct {
		suggested []message.PermissionUpdate
		answer    agent.PermissionAnswer
		want      []message.PermissionUpdate
		err       error
	}{
		"once":                    {suggested, agent.PermissionAnswer{Scope: event.ScopeOnce}, nil, nil},
		"no scope":                {suggested, agent.PermissionAnswer{}, nil, nil},
		"for the session":         {suggested, agent.PermissionAnswer{Scope: event.ScopeSession}, inSession, nil},
		"always":                  {suggested, agent.PermissionAnswer{Scope: event.ScopeAlways}, asSuggested, nil},
		"for the session, none":   {nil, agent.PermissionAnswer{Scope: event.ScopeSession}, nil, agent.ErrUnsupported},
		"always, none but a mode": {[]message.PermissionUpdate{mode}, agent.PermissionAnswer{Scope: event.ScopeAlways}, nil, agent.ErrUnsupported},
		"its own":                 {suggested, agent.PermissionAnswer{Scope: event.ScopeAlways, UpdatedPermissions: []byte(`[{"type":"addRules","rules":[{"toolName":"Own"}],"behavior":"allow","destination":"session"}]`)}, []message.PermissionUpdate{rule("Own", message.DestinationSession)}, nil},
	} {
		c.answer.Allow = true
		updates, err := new(Session).updates(c.suggested, &c.answer)
		got, err1 := json.Marshal(updates)
		want, err2 := json.Marshal(c.want)
		if !errors.Is(err, c.err) || c.err == nil && (string(got) != string(want) || errors.Join(err1, err2) != nil) {
			t.Errorf("%s: %s, %v\nwant %s, %v", name, got, err, want, c.err)
		}
	}
}

// TestPlan_edited checks that the CLI gets an edited plan.
func TestPlan_edited(t *testing.T) {
	result, _, err := (&Session{}).plan(&agent.PlanAnswer{Approve: true, Plan: "mine"})
	if d, ok := result.(*claude.PlanDecision); err != nil || !ok || !d.Approve || d.Plan != "mine" {
		t.Errorf("the decision is %+v, %v; want an approval of the edited plan", result, err)
	}
}
