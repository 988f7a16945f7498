package session

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
			a.started(session, &access{place: func() { released++ }, revoke: func() { revoked++ }}, nil, c.fail)
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
		"all of it, allowed":     {api.PermissionRespondParams{RequestID: "r", Behavior: "allow", Scope: "session", Reason: "why", UpdatedInput: `{"a":1}`}, "", ""},
		"all of it, refusing":    {api.PermissionRespondParams{RequestID: "r", Behavior: "deny", Scope: "once", Reason: "why", UpdatedInput: `{"a":1}`}, "", ""},
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
		allow := d.p.Behavior == "allow"
		want := &agent.PermissionAnswer{Allow: allow, Choice: d.p.Choice, Scope: d.p.Scope, Message: d.p.Reason, Interrupt: d.p.Interrupt && !allow}
		if allow {
			want.UpdatedInput, want.UpdatedPermissions = rawJSON(d.p.UpdatedInput), rawJSON(event.JSON(d.rules))
		}
		if diff := cmp.Diff(agent.Answer(want), rep.answer); diff != "" {
			t.Errorf("%s: the agent gets another answer (-want +got):\n%s", name, diff)
		}
		if id := event.ResolvedID(rep.event); id != "r" {
			t.Errorf("%s: the request %q is resolved", name, id)
		}
	}
}

// TestPermissionReply_plan checks that an edited plan is sent to the agent, and that an edit without text is rejected.
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
		rep, err := c.permissionReply(api.PermissionRespondParams{RequestID: "r", Behavior: tt.behavior, UpdatedInput: tt.input, UpdatedPermissions: `[{"type":"setMode","mode":"acceptEdits"}]`, Reason: "why", Interrupt: true}, "by")
		if err != nil || tt.reason != "" {
			if FailureOf(err).Reason != tt.reason {
				t.Errorf("%s with %s: %v, want the reason %q", tt.behavior, tt.input, err, tt.reason)
			}
			continue
		}
		allow := tt.behavior == "allow"
		if want := (&agent.PlanAnswer{Approve: allow, Plan: tt.want, Mode: "acceptEdits", Message: "why", Interrupt: !allow}); !cmp.Equal(agent.Answer(want), rep.answer) {
			t.Errorf("%s with %s: the agent gets %+v, want %+v", tt.behavior, tt.input, rep.answer, want)
		}
	}
}

// TestAnswer checks the records of an answer: it resolves its request with the key of the caller, and ends the turn's
// waiting time. The turn continues after the last answer. An agent that outlives the server may need the answer again.
func TestAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		open  int
		host  uint32
		state State
	}{
		"the only request":  {1, 0, Running},
		"one of two":        {2, 0, RequiresAction},
		"under a host":      {1, 1, Running},
		"several, and host": {3, 7, RequiresAction},
	} {
		t.Run(name, func(t *testing.T) {
			c := core{Host: tt.host}
			c.apply(1, "2026-01-01T00:00:00Z", &facts{State: Running})
			for i := range tt.open {
				p, _ := event.NewPrompt(&event.PermissionRequest{Kind: event.PermissionTool, RequestID: string(rune('a' + i))})
				c.apply(2, "2026-01-01T00:00:01Z", &facts{State: RequiresAction, Asked: &asking{AskedAt: "t", prompt: p}})
			}
			rep, err := c.permissionReply(api.PermissionRespondParams{RequestID: "a", Behavior: "allow"}, "me")
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range c.answer("a", rep, "key", "me") {
				c.apply(3, "2026-01-01T00:00:03Z", d.facts)
			}
			k, _ := c.accepted("key")
			if c.State != tt.state || len(c.Requests) != tt.open-1 || k != (accepted{Key: "key", By: "me", Seq: 3}) {
				t.Errorf("the state is %s with %d requests, and the key %+v; want %s and %d", c.State, len(c.Requests), k, tt.state, tt.open-1)
			}
			if _, kept := c.givenAnswer("a"); kept != (tt.host > 0) {
				t.Errorf("the answer is kept for the agent: %v", kept)
			}
			if ms := c.Waits.until("2026-01-01T00:00:03Z"); ms != 2000 {
				t.Errorf("the turn has waited for %d ms, want 2000", ms)
			}
			c.apply(4, "2026-01-01T00:00:04Z", &facts{State: Idle})
			if c.Waits.MS != 0 || c.Given != nil || c.Turns != 1 {
				t.Errorf("after the turn: %+v, %v, %d turns; want neither waits nor answers", c.Waits, c.Given, c.Turns)
			}
		})
	}
}
