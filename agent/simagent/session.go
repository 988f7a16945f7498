package simagent

import (
	"context"
	"encoding/json"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude/claudeagent"
)

// Session is a simulated agent. It has fewer features than Claude: it lacks methods that the
// simulated CLI does not support.
type Session struct {
	agent.Session
	inner *claudeagent.Session
	p     *Provider
}

var (
	_ agent.ModelSetter     = (*Session)(nil)
	_ agent.ModeSetter      = (*Session)(nil)
	_ agent.ContextReporter = (*Session)(nil)
	_ agent.Catalog         = (*Session)(nil)
)

// Send sends a prompt to the simulated agent and records its uuid in the session's file for
// [Provider.Delivered].
func (s *Session) Send(ctx context.Context, in agent.Input) error {
	if err := s.inner.Send(ctx, in); err != nil {
		return err
	}
	return s.p.note(s.ID(), in.UUID)
}

// SetModel changes the reported name of the model, and returns it. It has no other effect.
func (s *Session) SetModel(ctx context.Context, model string) (string, error) {
	return s.inner.SetModel(ctx, model)
}

// Modes returns the permission modes of the simulated CLI.
func (s *Session) Modes() []string { return s.inner.Modes() }

// SetMode changes the permission mode. The simulated agent shows the mode but ignores it.
func (s *Session) SetMode(ctx context.Context, mode string) error { return s.inner.SetMode(ctx, mode) }

// ContextUsage returns the simulated agent's context usage, as JSON.
func (s *Session) ContextUsage(ctx context.Context) (json.RawMessage, error) {
	return s.inner.ContextUsage(ctx)
}

// Models returns the simulated agent's only model. No model exists.
func (s *Session) Models(ctx context.Context) ([]agent.Entry, error) { return s.inner.Models(ctx) }

// Commands returns the slash commands of the simulated agent, in the form of the real CLI.
func (s *Session) Commands(ctx context.Context) ([]agent.Entry, error) { return s.inner.Commands(ctx) }

// Agents returns an empty list, because the simulated agent has no subagents.
func (s *Session) Agents(ctx context.Context) ([]agent.Entry, error) { return s.inner.Agents(ctx) }
