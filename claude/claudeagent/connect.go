package claudeagent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

var (
	_ agent.Finisher = (*Session)(nil)
	_ agent.Canceler = (*Session)(nil)
)

// Connect starts a CLI with exactly the provider's Options, for programs that offer the CLI's
// flags. Unless ask is set, the CLI denies calls that need permission. It returns the errors of
// [claude.Connect]; onLine may be nil, see [agent.Options].
func (p *Provider) Connect(ctx context.Context, ask bool, onLine func(json.RawMessage)) (agent.Session, error) {
	o := p.Options
	opts := agent.Options{AllowBypass: o.AllowDangerouslySkipPermissions || o.PermissionMode == message.ModeBypassPermissions, OnLine: onLine}
	s := newSession(p, opts, cmp.Or(o.SessionID, o.Resume))
	if ask {
		o.CanUseTool = s.permit
	}
	client, err := claude.Connect(ctx, &o)
	if err != nil {
		return nil, err
	}
	s.begin(client)
	return s, nil
}

// begin starts the session of a started CLI.
func (s *Session) begin(client *claude.Client) {
	s.client = client
	p := s.provider
	p.mu.Lock()
	if p.running == nil {
		p.running = map[*Session]bool{}
	}
	p.running[s] = true
	p.mu.Unlock()
	s.run()
}

// Finish closes the input of the CLI, which then finishes its prompts and exits.
func (s *Session) Finish(context.Context) error {
	if err := s.kit.Alive(); err != nil {
		return err
	}
	return s.failed(s.client.CloseInput())
}

// Cancel removes a prompt from the queue of the CLI.
func (s *Session) Cancel(ctx context.Context, uuid string) error {
	if err := s.kit.Alive(); err != nil {
		return err
	}
	cancelled, err := s.client.CancelMessage(ctx, uuid)
	if err == nil && !cancelled {
		return fmt.Errorf("%w: %s", agent.ErrNotOpen, uuid)
	}
	return s.failed(err)
}
