package agentcheck_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agentcheck"
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

// A check that fails, or whose provider panics, is a result with the reason.
func TestResult(t *testing.T) {
	for want, p := range map[string]agent.Provider{"it does not work": broken{}, "at once": broken{true}} {
		r := agentcheck.Checks()[0].Result(agentcheck.Subject{Provider: p, Prompts: agentcheck.Prompts{Say: "x"}})
		if r.Status != agentcheck.Failed || !strings.Contains(r.Text, want) {
			t.Errorf("%+v, want a failure with %q", r, want)
		}
	}
}
