package agenttest

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestProvider(t *testing.T) {
	Run(t, func(t *testing.T) Subject {
		return Subject{
			Provider: &Provider{Dir: t.TempDir()}, Kill: func(s agent.Session) { s.(*Session).Kill() },
			Prompts: Prompts{Say: "say one two three", Tool: "tool Bash", Plan: "plan", Question: "ask", Elicit: "elicit",
				Wait: "wait", Die: "die", Task: "task"},
		}
	})
}

// TestInterrupt_early interrupts inputs right after they were sent, some before and some after the start of their
// turn. Each of them ends, and the following input runs.
func TestInterrupt_early(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	p := &Provider{Dir: t.TempDir()}
	s, err := p.Open(ctx, agent.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	results := make(chan *event.ResultMessage)
	go func() {
		defer close(results)
		for ev, err := range s.Events(ctx) {
			if r, ok := ev.(*event.ResultMessage); ok && err == nil {
				select {
				case results <- r:
				case <-ctx.Done():
				}
			}
		}
	}()
	for n := range 200 {
		for _, text := range []string{"stall", "say hello"} {
			if err := s.Send(ctx, agent.Input{Text: text}); err != nil {
				t.Fatal(err)
			}
			if text == "stall" {
				if got, err := s.Interrupt(ctx); err != nil || len(got.StillQueued) > 0 {
					t.Fatalf("Interrupt: %+v, %v", got, err)
				}
			}
			if r := <-results; r == nil || r.IsError != (text == "stall") {
				t.Fatalf("turn %d of %q ended with %+v, %v", n, text, r, ctx.Err())
			}
		}
	}
}
