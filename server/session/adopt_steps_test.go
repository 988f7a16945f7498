package session

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/spawn"
)

// adopting is a provider whose agents can be adopted.
type adopting struct {
	*puppets
	session bare
	err     error
	got     *agent.Adoption
}

func (p adopting) Adopt(_ context.Context, _ string, _ agent.Options, a agent.Adoption) (agent.Session, error) {
	*p.got = a
	if p.err != nil {
		return nil, p.err
	}
	return p.session, nil
}

// plain hides the optional methods of a provider.
type plain struct{ agent.Provider }

// An adoption that fails at any step returns the error of the step, leaves no agent, and releases its slot and its
// access. A successful adoption keeps both, and calls wait until earlier lines have been read.
func TestAdopt_steps(t *testing.T) {
	errStep := errors.New("the step")
	for name, tt := range map[string]struct {
		prepare, open, adopt error
		last, stored         uint64
		revoked, opened      int
	}{
		"no access":        {prepare: errStep},
		"not attached":     {open: errStep, revoked: 1, opened: 1},
		"not adopted":      {adopt: errStep, revoked: 1, opened: 1},
		"without lines":    {opened: 1},
		"lines, unstored":  {last: 5, opened: 1},
		"lines, in part":   {last: 5, stored: 3, opened: 1},
		"lines, all known": {last: 5, stored: 5, opened: 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := newStage(t, Opened{})
			revoked, opened := 0, 0
			provider := adopting{c.puppets, newBare("agent-1"), tt.adopt, &agent.Adoption{}}
			c.opts.Prepare = func(string, agent.Provider, *agent.Options) (func(), error) {
				return func() { revoked++ }, tt.prepare
			}
			l := &leftAgent{Agent: host.Agent{Number: 7, Last: tt.last}, drop: func(context.Context) error { return nil }}
			l.open = func(context.Context) (spawn.LineProcess, error) { opened++; return nil, tt.open }
			fails := tt.prepare != nil || tt.open != nil || tt.adopt != nil
			err := c.with(t.Context(), c.id, func(a *actor) error {
				a.provider, a.core.Host, a.core.Line = provider, 7, tt.stored
				prompt, _ := event.NewPrompt(&event.PermissionRequest{RequestID: "r"})
				a.core.Requests = []pendingPrompt{{Prompt: prompt}}
				err := a.adopt(t.Context(), l)
				if (a.agent == nil) != fails || (a.caught != nil) != (!fails && tt.last > 0) || !fails && a.rebuilding != (tt.stored > 0) {
					t.Errorf("the actor has the agent %v, waits %v, rebuilds %v", a.agent != nil, a.caught != nil, a.rebuilding)
				}
				if !fails && (len(a.unseen) != 1 || provider.got.Last != tt.last || provider.got.Stored != tt.stored) {
					t.Errorf("the requests %v are expected again, the agent got %+v, want the open request, and the lines %d and %d", a.unseen, provider.got, tt.last, tt.stored)
				}
				return err
			})
			if fails != (err != nil) || fails && !errors.Is(err, errStep) {
				t.Errorf("the adoption returned %v, want an error: %v", err, fails)
			}
			free, _ := c.Places()
			if want := map[bool]int{true: 8, false: 7}[fails]; free != want || revoked != tt.revoked || opened != tt.opened {
				t.Errorf("%d places are free, access was revoked %d times, the agent opened %d times, want %d, %d, %d", free, revoked, opened, want, tt.revoked, tt.opened)
			}
			if !fails {
				if err := provider.session.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// An agent is adopted only if its number and its host are those in the log, because each host counts its agents.
func TestAdopt_host(t *testing.T) {
	for name, tt := range map[string]struct {
		log, host string // the key of the host
		number    uint32
		want      bool
	}{
		"without a cluster": {number: 7, want: true},
		"its host":          {log: "h-1", host: "h-1", number: 7, want: true},
		"from before":       {host: "h-1", number: 7, want: true}, // the server has joined a cluster since
		"another host":      {log: "h-1", host: "h-2", number: 7},
		"another agent":     {log: "h-1", host: "h-1", number: 8},
	} {
		t.Run(name, func(t *testing.T) {
			c := newStage(t, Opened{})
			provider := adopting{c.puppets, newBare("agent-1"), nil, &agent.Adoption{}}
			l := &leftAgent{Agent: host.Agent{Number: tt.number}, host: &Host{key: tt.host}, drop: func(context.Context) error { return nil }}
			l.open = func(context.Context) (spawn.LineProcess, error) { return nil, nil }
			err := c.with(t.Context(), c.id, func(a *actor) error {
				a.provider, a.core.Host, a.core.HostIn = provider, 7, tt.log
				return a.adopt(t.Context(), l)
			})
			if (err == nil) != tt.want {
				t.Errorf("adopting agent %d of host %q, with agent 7 of %q in the log: %v, want that it is adopted: %v", tt.number, tt.host, tt.log, err, tt.want)
			}
			_ = provider.session.Close()
		})
	}
}

// After the loss of a link the session has no agent and no unpublished deltas, and calls that wait for earlier lines
// return.
func TestLeaveAgent(t *testing.T) {
	c := newStage(t, Opened{})
	p := c.connect()
	caught := make(chan struct{})
	var ended chan struct{}
	if err := c.with(t.Context(), c.id, func(a *actor) error {
		a.last, a.caught, ended = 9, caught, a.agent.ended
		now := time.Now()
		a.joiner.add(&event.TextDelta{Header: event.Header{MessageID: "m"}, Text: "shown"}, now, time.Hour)
		if !a.joiner.add(&event.TextDelta{Header: event.Header{MessageID: "m"}, Text: "held"}, now, time.Hour) {
			t.Error("the delta is not held, so that the test proves nothing")
		}
		a.leaveAgent()
		if ev := a.joiner.take(now); ev != nil {
			t.Errorf("the joiner still has %+v, want nothing: the agent reports it again", ev)
		}
		if a.agent != nil || !a.away || a.last != 0 {
			t.Errorf("the agent is %v, away %v, the last line %d, want an actor without an agent", a.agent, a.away, a.last)
		}
		if err := a.linked(); FailureOf(err).Reason != api.NotConnected {
			t.Errorf("calls to the agent fail with %v, want not_connected", err)
		}
		a.start("")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for what, done := range map[string]chan struct{}{"the wait for the past": caught, "the end of the link": ended} {
		select {
		case <-done:
		default:
			t.Errorf("%s is still expected", what)
		}
	}
	if c.puppets.agent() != p {
		t.Error("another agent was started, while the first one runs on")
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

// The provider of a session gets its tenant and name. On another machine it gets no features that need files, and no
// environment.
func TestProviderOf(t *testing.T) {
	c := newStage(t, Opened{})
	var got []string
	var provider agent.Provider = c.puppets
	var fail error
	c.opts.Provider = func(_ context.Context, tenant, name string) (agent.Provider, []string, error) {
		got = append(got, tenant+"/"+name)
		return provider, []string{"E=1"}, fail
	}
	p, env, err := c.providerOf(t.Context(), "acme", "claude", "")
	if p != agent.Provider(c.puppets) || !slices.Equal(env, []string{"E=1"}) || err != nil {
		t.Errorf("here it is %v with %v, %v, want the provider of the server", p, env, err)
	}
	if _, _, err = c.providerOf(t.Context(), "acme", "claude", "m1"); FailureOf(err).Reason != api.Unsupported {
		t.Errorf("a provider that cannot adopt: %v, want the reason %s", err, api.Unsupported)
	}
	provider = adopting{puppets: c.puppets}
	p, env, err = c.providerOf(t.Context(), "acme", "claude", "m1")
	if _, ok := p.(agent.Adopter); !ok || env != nil || err != nil {
		t.Errorf("there it is %v with %v, %v, want an adopter without an environment", p, env, err)
	}
	if _, ok := p.(interface{ History() agent.History }); ok {
		t.Error("the agent of another machine has a history here")
	}
	if _, err := (remoteProvider{plain{c.puppets}, adopting{}}).Resume(t.Context(), "agent-1", agent.Options{}); !errors.Is(err, agent.ErrUnsupported) {
		t.Errorf("a provider that cannot resume: %v, want %v", err, agent.ErrUnsupported)
	}
	if s, err := (remoteProvider{c.puppets, adopting{}}).Resume(t.Context(), "agent-1", agent.Options{}); err != nil || s == nil {
		t.Errorf("a provider that can resume: %v, %v", s, err)
	}
	fail = errPuppet
	for _, machine := range []string{"", "m1"} {
		if _, _, err := c.providerOf(t.Context(), "acme", "claude", machine); !errors.Is(err, errPuppet) {
			t.Errorf("on the machine %q: %v, want the error of the server", machine, err)
		}
	}
	if want := strings.Repeat(" acme/claude", 5)[1:]; strings.Join(got, " ") != want {
		t.Errorf("asked for %v, want %s", got, want)
	}
}

// A logged answer that cannot be sent again leaves the request open, and an answer without a JSON form is not logged.
func TestKeptAnswer_unusable(t *testing.T) {
	c := newStage(t, Opened{})
	p := c.connect()
	c.turn("work")
	n, _ := c.records(0)
	if err := c.with(t.Context(), c.id, func(a *actor) error {
		a.core.Given = []keptAnswer{{ID: "r", Kind: "other", Answer: json.RawMessage(`{}`)}}
		a.takeBatch(nil, pumped{events: []event.Event{&event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r", ToolUseID: "tu", ToolName: "Bash", Input: `{}`}}})
		return a.write()
	}); err != nil {
		t.Fatal(err)
	}
	if _, records := c.records(n); !strings.Contains(records, "permission_request") {
		t.Errorf("the log has %s, want the request", records)
	}
	if p.got("Answer") {
		t.Error("the agent got an answer that is unknown")
	}
	if kept := newKeptAnswer("r", &agent.QuestionAnswer{Answers: json.RawMessage(`{`)}); kept != nil {
		t.Errorf("kept %+v, want no answer that is not JSON", kept)
	}
}

// An input with content that cannot be read waits for a person, whether it is sent for the first time or again.
func TestSend_noContent(t *testing.T) {
	for name, status := range map[string]inputStatus{"sent": inputQueued, "sent again": inputSent} {
		for _, content := range []event.JSON{`"half`, `[{`} {
			c := newStage(t, Opened{})
			p := c.connect()
			if err := c.with(t.Context(), c.id, func(a *actor) error {
				drafts := []draft{{queue: true, facts: &facts{Inputs: []input{{ID: "i", Content: content, Status: status}}}}}
				if status == inputSent {
					drafts = append(drafts, a.core.stateDraft(Running))
				}
				a.draft(drafts...)
				if status == inputSent {
					a.sendAgain()
				} else {
					a.sendNext()
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			c.await("the input waits for a person", func() bool { return c.queueIs("i", inputUnknown) })
			c.inState(Idle)
			if p.got("Send") {
				t.Errorf("%s: the agent got %s", name, p.take())
			}
		}
	}
}

// A failure to show the changes of a session is reported once.
func TestLookFailed(t *testing.T) {
	c := newStage(t, Opened{})
	n, _ := c.records(0)
	for range 3 {
		if err := c.with(t.Context(), c.id, func(a *actor) error { return a.changes.lookFailed(errPuppet) }); err != nil {
			t.Fatal(err)
		}
	}
	if _, records := c.records(n); strings.Count(records, "changes_unknown") != 1 {
		t.Errorf("the log has %s, want one notice", records)
	}
}
