package acpagent

import (
	"context"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/agentkit"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// TestHandle_withdrawn checks that a withdrawn request is closed immediately and answered, whether
// the agent cancels it or the session interrupts its turn.
func TestHandle_withdrawn(t *testing.T) {
	permission := &jsonrpc.Message{Method: acp.MethodSessionRequestPermission,
		Params: `{"sessionId":"s","toolCall":{"toolCallId":"c","title":"t"},"options":[{"optionId":"o","name":"Yes","kind":"allow_once"}]}`}
	elicitation := &jsonrpc.Message{Method: acp.MethodElicitationCreate, Params: `{"sessionId":"s","mode":"form","message":"m","requestedSchema":{"type":"object","properties":{}}}`}
	for name, m := range map[string]*jsonrpc.Message{"permission": permission, "elicitation": elicitation} {
		for by, take := range map[string]func(*Session, context.CancelFunc){
			"the agent":   func(_ *Session, cancel context.CancelFunc) { cancel() },
			"the session": func(s *Session, _ context.CancelFunc) { s.kit.Withdraw(agentkit.All) },
		} {
			t.Run(name+" by "+by, func(t *testing.T) {
				s := newSession(&Provider{}, t.TempDir(), agent.Options{})
				defer s.kit.End(nil, nil)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				type answer struct {
					result any
					err    error
				}
				answered := make(chan answer, 1)
				go func() {
					result, err := s.handle(ctx, m)
					answered <- answer{result, err}
				}()
				bound, stop := context.WithTimeout(t.Context(), 10*time.Second)
				defer stop()
				asked := ""
				for ev, err := range s.kit.Events(bound) {
					if err != nil {
						t.Fatalf("the request %q stays open: %v", asked, err)
					}
					if p, ok := event.NewPrompt(ev); ok {
						asked = p.RequestID()
						take(s, cancel)
					}
					if id := event.ResolvedID(ev); id != "" {
						if id != asked {
							t.Errorf("%s is resolved, want %s", id, asked)
						}
						break
					}
				}
				if got := <-answered; (got.err == nil) == (by == "the agent") {
					t.Errorf("the agent has the answer %v, %v", got.result, got.err)
				}
				if err := s.Answer(t.Context(), asked, &agent.PermissionAnswer{}); err == nil {
					t.Error("it can still be answered")
				}
			})
		}
	}
}
