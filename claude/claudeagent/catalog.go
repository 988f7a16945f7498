package claudeagent

import (
	"context"
	"errors"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/agentkit"
)

// Models returns the models that the session can use, as the CLI listed them when it started.
func (s *Session) Models(context.Context) ([]agent.Entry, error) {
	return models(s.client.ServerInfo()), s.kit.Alive()
}

// Model returns the model that the settings select; empty is the default of the CLI.
func (s *Session) Model(ctx context.Context) (string, error) {
	settings, err := s.client.FetchSettings(ctx)
	if err != nil {
		return "", err
	}
	var effective struct {
		Model string `json:"model"`
	}
	err = settings.Effective.Decode(&effective)
	return effective.Model, err
}

// Commands returns the slash commands of the session, as the CLI listed them when it started.
func (s *Session) Commands(context.Context) ([]agent.Entry, error) {
	return commands(s.client.ServerInfo()), s.kit.Alive()
}

// Agents returns the subagents of the session, as the CLI listed them when it started.
func (s *Session) Agents(context.Context) ([]agent.Entry, error) {
	return agents(s.client.ServerInfo()), s.kit.Alive()
}

// Models returns the models that a new session could use. The first call of Models, Commands or Agents starts a
// CLI briefly and caches its answer.
func (p *Provider) Models(ctx context.Context) ([]agent.Entry, error) {
	info, err := p.info(ctx)
	return models(info), err
}

// Commands returns the slash commands that a new session would have; see [Provider.Models].
func (p *Provider) Commands(ctx context.Context) ([]agent.Entry, error) {
	info, err := p.info(ctx)
	return commands(info), err
}

// Agents returns the subagents that a new session would have; see [Provider.Models].
func (p *Provider) Agents(ctx context.Context) ([]agent.Entry, error) {
	info, err := p.info(ctx)
	return agents(info), err
}

// info returns the information that a CLI reports, or nil after an error. It starts one CLI at a time, until one
// has answered.
func (p *Provider) info(ctx context.Context) (*claude.ServerInfo, error) {
	p.mu.Lock()
	if p.asking == nil {
		p.asking = make(chan struct{}, 1)
	}
	asking := p.asking
	p.mu.Unlock()
	select {
	case asking <- struct{}{}:
		defer func() { <-asking }()
	case <-ctx.Done():
		return &claude.ServerInfo{}, context.Cause(ctx)
	}
	if p.catalog != nil {
		return p.catalog, nil
	}
	o := p.Options
	o.PersistSession = new(false)
	client, err := claude.Connect(ctx, &o)
	if err != nil {
		return &claude.ServerInfo{}, translate(err)
	}
	info := client.ServerInfo()
	if err := client.Close(); err != nil {
		return &claude.ServerInfo{}, errors.Join(translate(err))
	}
	p.catalog = info
	return info, nil
}

func models(info *claude.ServerInfo) []agent.Entry {
	return agentkit.Entries(info.Models, func(m *claude.ModelInfo) (string, string) { return m.Value, m.Description })
}

func commands(info *claude.ServerInfo) []agent.Entry {
	return agentkit.Entries(info.Commands, func(c *message.SlashCommand) (string, string) { return c.Name, c.Description })
}

func agents(info *claude.ServerInfo) []agent.Entry {
	return agentkit.Entries(info.Agents, func(a *claude.AgentInfo) (string, string) { return a.Name, a.Description })
}
