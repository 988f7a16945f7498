package session

import (
	"context"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
)

// drained is a provider with agents that report interrupts.
type drained struct {
	*agenttest.Provider
	interrupts chan struct{}
}

type drainedSession struct {
	*agenttest.Session
	interrupts chan struct{}
}

func (p drained) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	s, err := p.Provider.Open(ctx, opts)
	if err != nil {
		return nil, err
	}
	return drainedSession{s.(*agenttest.Session), p.interrupts}, nil
}

func (s drainedSession) Interrupt(ctx context.Context) (agent.Interrupted, error) {
	s.interrupts <- struct{}{}
	return s.Session.Interrupt(ctx)
}

// TestDrain checks how long a server that stops waits for a session in each state: until the
// timeout for a running turn, and not at all for a turn that waits for a person.
func TestDrain(t *testing.T) {
	for name, c := range map[string]struct {
		prompt     string
		state      State
		patient    bool // it waits until the timeout
		interrupts int
	}{
		"idle":                {"", Idle, false, 0},
		"a turn":              {"wait", Running, true, 1},
		"a silent turn":       {"stall", Running, true, 1},
		"a permission":        {"tool Bash", RequiresAction, false, 1},
		"a question":          {"ask", RequiresAction, false, 1},
		"a plan":              {"plan", RequiresAction, false, 1},
		"an MCP server's ask": {"elicit", RequiresAction, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := memSessions(t)
			p := drained{&agenttest.Provider{ProviderName: "claude", Dir: t.TempDir()}, make(chan struct{}, 10)}
			s.opts.Provider = func(context.Context, string, string) (agent.Provider, []string, error) { return p, nil, nil }
			result, err := created(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if c.prompt != "" {
				if _, err := s.Query(t.Context(), result.SessionID, "", mustJSON(c.prompt), "", ""); err != nil {
					t.Fatal(err)
				}
			}
			a, release, err := s.use(t.Context(), result.SessionID)
			if err != nil {
				t.Fatal(err)
			}
			defer release()
			until(t, "the session is "+string(c.state), func() (is bool) {
				_ = a.call(t.Context(), func() error { is = a.core.State == c.state && !a.sending; return nil })
				return is
			})
			over, stop := context.WithCancel(t.Context())
			defer stop()
			done := make(chan struct{})
			go func() {
				defer close(done)
				a.drain(over)
			}()
			if c.patient {
				select {
				case <-done:
					t.Error("a turn that runs is not waited for")
				case <-p.interrupts:
					t.Error("a turn that runs is interrupted before the time is over")
				case <-time.After(30 * time.Millisecond): // a short time in which a wrong wait would show
				}
				stop()
			}
			select {
			case <-done:
			case <-time.After(10 * time.Second):
				t.Fatal("the session is still waited for")
			}
			if n := len(p.interrupts); n != c.interrupts {
				t.Errorf("%d interrupts, want %d", n, c.interrupts)
			}
			if err := a.call(t.Context(), a.owned); FailureOf(err).Reason != "draining" {
				t.Errorf("a session that is drained takes an input: %v", err)
			}
		})
	}
}
