package agentcheck_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

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
		if r := check.Result(subject); r.Name != "capabilities" || r.Status != tt.status || r.Status == agentcheck.Failed && !strings.Contains(r.Text, "the capabilities are") {
			t.Errorf("%s: %+v, want %s", name, r, tt.status)
		}
	}
}

// A check that fails, or a provider that panics in it, gives a result with the reason.
func TestResult(t *testing.T) {
	for want, p := range map[string]agent.Provider{"it does not work": broken{}, "at once": broken{true}} {
		r := agentcheck.Checks()[0].Result(agentcheck.Subject{Provider: p, Prompts: agentcheck.Prompts{Say: "x"}})
		if r.Status != agentcheck.Failed || !strings.Contains(r.Text, want) {
			t.Errorf("%+v, want a failure with %q", r, want)
		}
	}
}
