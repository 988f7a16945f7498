package agentcheck_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agentcheck"
	"github.com/seed7221b0f9/parley/agent/agenttest"
)

// broken is a provider that cannot open sessions.
type broken struct{ panics bool }

func (broken) Name() string { return "broken" }

func (b broken) Open(context.Context, agent.Options) (agent.Session, error) {
	if b.panics {
		panic("at once")
	}
	return nil, errors.New("it does not work")
}

// TestChecks_capabilities checks that a provider with more or fewer capabilities than the subject
// lists fails, and that any are allowed without a list.
func TestChecks_capabilities(t *testing.T) {
	all := []string{"resume", "history", "usage", "witness", "catalog", "model", "modes", "thinking", "efforts", "fork", "rewind", "background", "tasks", "context", "mcp", "title"}
	checks := agentcheck.Checks()
	check := checks[len(checks)-1]
	for name, tt := range map[string]struct {
		want   []string
		status string
	}{
		"no list": {nil, agentcheck.Passed}, "all": {all, agentcheck.Passed}, "one is not listed": {all[1:], agentcheck.Failed},
		"one is missing": {append(slices.Clone(all), "x"), agentcheck.Failed}, "none is listed": {[]string{}, agentcheck.Failed},
	} {
		subject := agentcheck.Subject{Provider: &agenttest.Provider{Dir: t.TempDir()}, Prompts: agentcheck.Prompts{Say: "say hello"}, Capabilities: tt.want}
		if r := check.Result(t.Context(), subject); r.Name != "capabilities" || r.Status != tt.status || r.Status == agentcheck.Failed && !strings.Contains(r.Text, "the capabilities are") {
			t.Errorf("%s: %+v, want %s", name, r, tt.status)
		}
	}
}

// A check that fails, or a provider that panics in it, gives a result with the reason.
func TestResult(t *testing.T) {
	for want, p := range map[string]agent.Provider{"it does not work": broken{}, "at once": broken{true}} {
		r := agentcheck.Checks()[0].Result(t.Context(), agentcheck.Subject{Provider: p, Prompts: agentcheck.Prompts{Say: "x"}})
		if r.Status != agentcheck.Failed || !strings.Contains(r.Text, want) {
			t.Errorf("%+v, want a failure with %q", r, want)
		}
	}
}

// canceller cancels a context when a prompt was sent.
type canceller struct {
	agent.Session
	cancel func()
}

func (c canceller) Send(ctx context.Context, in agent.Input) error {
	defer c.cancel()
	return c.Session.Send(ctx, in)
}

type cancellingProvider struct {
	agent.Provider
	cancel func()
}

func (p cancellingProvider) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	s, err := p.Provider.Open(ctx, opts)
	return canceller{s, p.cancel}, err
}

// TestCheck_cancelled cancels a check while the agent works: it ends long before its time limit, and so does the session.
func TestCheck_cancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := cancellingProvider{&agenttest.Provider{}, cancel}
		start := time.Now()
		r := agentcheck.Checks()[0].Result(ctx, agentcheck.Subject{Provider: p, Prompts: agentcheck.Prompts{Say: "wait"}, Timeout: time.Hour})
		if took := time.Since(start); r.Status != agentcheck.Failed || !strings.Contains(r.Text, "context canceled") || took > time.Minute {
			t.Errorf("the result is %+v after %v", r, took)
		}
	})
}
