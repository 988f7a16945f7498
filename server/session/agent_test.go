package session

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestStarted checks a started agent: it is taken over if the session still waits for it, and otherwise
// ended and its place released. After a failed start no input is sent automatically.
func TestStarted(t *testing.T) {
	for name, c := range map[string]struct {
		state    State
		draining bool
		fail     error
		taken    bool
	}{
		"wanted":                 {Starting, false, nil, true},
		"disconnected meanwhile": {Ended, false, nil, false},
		"lost meanwhile":         {LostHost, false, nil, false},
		"the server stops":       {Starting, true, nil, false},
		"it failed":              {Starting, false, errors.New("no"), false},
		"it failed, too late":    {Ended, false, errors.New("no"), false},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := memSessions(t)
			a := s.newActor(Prefix+"started", "e")
			a.provider, a.core.Provider = providerOf(s), "claude"
			a.core.State, a.draining, a.starting = c.state, c.draining, true
			a.core.Inputs = []input{{ID: "q", Content: mustJSON("x"), Status: inputHeld}, {ID: "r", Content: mustJSON("y"), Status: inputQueued}}
			wait := make(chan error, 1)
			a.waiters = []chan error{wait}
			released, revoked := 0, 0
			var session agent.Session
			if c.fail == nil {
				var err error
				if session, err = a.provider.Open(t.Context(), agent.Options{}); err != nil {
					t.Fatal(err)
				}
			}
			if c.fail == nil || c.state != Starting {
				a.core.Inputs[1].Status = inputHeld // no input must be sent here
			}
			a.started(session, &access{place: func() { released++ }, revoke: func() { revoked++ }}, c.fail)
			if taken := a.agent != nil; taken != c.taken || a.starting || (<-wait == nil) != c.taken {
				t.Errorf("the agent is taken over: %v, it starts: %v, want %v", taken, a.starting, c.taken)
			}
			if !c.taken && c.fail == nil && (released != 1 || revoked != 1) {
				t.Errorf("the place was freed %d times and the access ended %d times, want 1 and 1", released, revoked)
			}
			if a.agent != nil {
				a.stop(onEnd)
			}
			for a.agent != nil {
				a.receive(<-a.agent.events)
			}
			if in, _ := a.core.input("r"); c.fail != nil && c.state == Starting && in.Status != inputHeld {
				t.Errorf("after a start that failed an input is %s, want it to be held", in.Status)
			}
			a.cancel()
			close(a.done)
			s.wg.Wait()
		})
	}
}

// TestPermissionReply checks which answers to a request are rejected, and which answer the agent gets.
func TestPermissionReply(t *testing.T) {
	c := core{Requests: []pendingPrompt{
		{Prompt: event.Prompt{Permission: &event.PermissionRequest{RequestID: "r", Kind: event.PermissionTool,
			Choices:     []event.Choice{{ID: "yes", Behavior: event.ResolvedAllow}, {ID: "no", Behavior: event.ResolvedDeny}},
			Suggestions: []event.Suggestion{{Update: `{"one":1}`}, {Update: `{"two":2}`}}}}},
		{Prompt: event.Prompt{Question: &event.QuestionRequest{RequestID: "q", Kind: event.QuestionAsk}}},
	}}
	for name, d := range map[string]struct {
		p      api.PermissionRespondParams
		reason api.Reason
		rules  string
	}{
		"allow":                  {api.PermissionRespondParams{RequestID: "r", Behavior: "allow"}, "", ""},
		"deny":                   {api.PermissionRespondParams{RequestID: "r", Behavior: "deny", Suggestions: []int64{0}}, "", ""},
		"neither":                {api.PermissionRespondParams{RequestID: "r", Behavior: "maybe"}, api.InvalidParams, ""},
		"not open":               {api.PermissionRespondParams{RequestID: "gone", Behavior: "allow"}, api.Conflict, ""},
		"a question":             {api.PermissionRespondParams{RequestID: "q", Behavior: "allow"}, api.InvalidParams, ""},
		"a choice":               {api.PermissionRespondParams{RequestID: "r", Behavior: "allow", Choice: "yes"}, "", ""},
		"a choice to deny":       {api.PermissionRespondParams{RequestID: "r", Behavior: "deny", Choice: "no"}, "", ""},
		"the opposite choice":    {api.PermissionRespondParams{RequestID: "r", Behavior: "deny", Choice: "yes"}, api.InvalidParams, ""},
		"the other opposite":     {api.PermissionRespondParams{RequestID: "r", Behavior: "allow", Choice: "no"}, api.InvalidParams, ""},
		"no such choice":         {api.PermissionRespondParams{RequestID: "r", Behavior: "allow", Choice: "other"}, api.InvalidParams, ""},
		"a suggestion":           {api.PermissionRespondParams{RequestID: "r", Behavior: "allow", Suggestions: []int64{1}}, "", `[{"two":2}]`},
		"all suggestions":        {api.PermissionRespondParams{RequestID: "r", Behavior: "allow", Suggestions: []int64{0, 1}}, "", `[{"one":1},{"two":2}]`},
		"a suggestion too many":  {api.PermissionRespondParams{RequestID: "r", Behavior: "allow", Suggestions: []int64{2}}, api.InvalidParams, ""},
		"a suggestion before":    {api.PermissionRespondParams{RequestID: "r", Behavior: "allow", Suggestions: []int64{-1}}, api.InvalidParams, ""},
		"its own rules":          {api.PermissionRespondParams{RequestID: "r", Behavior: "allow", UpdatedPermissions: `[3]`, Suggestions: []int64{0}}, "", `[3]`},
		"an interrupt, allowed":  {api.PermissionRespondParams{RequestID: "r", Behavior: "allow", Interrupt: true}, "", ""},
		"an interrupt, refusing": {api.PermissionRespondParams{RequestID: "r", Behavior: "deny", Interrupt: true}, "", ""},
	} {
		rep, err := c.permissionReply(d.p, "by")
		if got := FailureOf(err); err != nil && got.Reason != d.reason || err == nil && d.reason != "" {
			t.Errorf("%s: %v, want the reason %q", name, err, d.reason)
		}
		if err != nil {
			if name == "the opposite choice" && !strings.Contains(err.Error(), `choice "yes" is to allow`) {
				t.Errorf("%s: %v, want what the choice means", name, err)
			}
			continue
		}
		a, ok := rep.answer.(*agent.PermissionAnswer)
		allow := d.p.Behavior == "allow"
		if !ok || a.Allow != allow || a.Choice != d.p.Choice || string(a.UpdatedPermissions) != d.rules || a.Interrupt != (d.p.Interrupt && !allow) {
			t.Errorf("%s: the agent gets %+v", name, rep.answer)
		}
		if id := event.ResolvedID(rep.event); id != "r" {
			t.Errorf("%s: the request %q is resolved", name, id)
		}
	}
}

// TestPermissionReply_plan checks that the agent gets the plan that a person has edited, and that an edit without text is rejected.
func TestPermissionReply_plan(t *testing.T) {
	c := core{Requests: []pendingPrompt{{Prompt: event.Prompt{Permission: &event.PermissionRequest{RequestID: "r", Kind: event.PermissionPlan}}}}}
	for _, tt := range []struct {
		behavior string
		input    event.JSON
		want     string
		reason   api.Reason
	}{
		{"allow", "", "", ""},
		{"allow", `{"plan":"mine"}`, "mine", ""},
		{"allow", `{"plan":""}`, "", api.InvalidParams},
		{"allow", `{"other":"x"}`, "", api.InvalidParams},
		{"deny", `{"plan":"mine"}`, "", ""},
	} {
		rep, err := c.permissionReply(api.PermissionRespondParams{RequestID: "r", Behavior: tt.behavior, UpdatedInput: tt.input}, "by")
		if err != nil || tt.reason != "" {
			if FailureOf(err).Reason != tt.reason {
				t.Errorf("%s with %s: %v, want the reason %q", tt.behavior, tt.input, err, tt.reason)
			}
			continue
		}
		if a, ok := rep.answer.(*agent.PlanAnswer); !ok || a.Plan != tt.want || a.Approve != (tt.behavior == "allow") {
			t.Errorf("%s with %s: the agent gets %+v, want the plan %q", tt.behavior, tt.input, rep.answer, tt.want)
		}
	}
}
