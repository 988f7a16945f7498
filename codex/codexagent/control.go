package codexagent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/internal/agentkit"
)

// SetModel changes the model from the next prompt on. An empty model means the thread's first one.
func (s *Session) SetModel(_ context.Context, model string) (string, error) {
	if err := s.kit.Alive(); err != nil {
		return "", err
	}
	if model == "" {
		model = s.thread.Info().Model
	}
	s.kit.Do(func() { s.model = model })
	return model, nil
}

// Modes returns the permission modes of the session, bypassPermissions only if the options
// allow it.
func (s *Session) Modes() []string { return modes(s.opts.AllowBypass) }

// SetMode changes the permission mode from the next prompt on. A running turn keeps its mode.
func (s *Session) SetMode(_ context.Context, mode string) error {
	if err := s.kit.Choose("mode", mode, s.Modes()); err != nil {
		return err
	}
	s.kit.Do(func() { s.mode = mode })
	return nil
}

// efforts are the reasoning efforts of Codex; a model may support only some.
var efforts = []string{"minimal", "low", "medium", "high", "xhigh"}

// Efforts returns the reasoning efforts of Codex. A model may support only some of them.
func (s *Session) Efforts() []string { return efforts }

// SetEffort changes the reasoning effort from the next prompt on. A running turn keeps its effort.
func (s *Session) SetEffort(_ context.Context, effort string) error {
	if err := s.kit.Choose("effort", effort, append(slices.Clone(efforts), "")); err != nil {
		return err
	}
	s.kit.Do(func() { s.effort = effort })
	return nil
}

// SetThinking changes the reasoning effort from the next prompt on. Codex has efforts instead of
// budgets: up to 4,096 tokens mean low, up to 16,384 medium, and more mean high.
func (s *Session) SetThinking(ctx context.Context, tokens *int64) error {
	effort := "high"
	switch {
	case tokens == nil:
		effort = ""
	case *tokens == 0:
		effort = "minimal"
	case *tokens <= 4096:
		effort = "low"
	case *tokens <= 16384:
		effort = "medium"
	}
	return s.SetEffort(ctx, effort)
}

// Models returns the server's catalogue of models, without the hidden ones.
func (s *Session) Models(ctx context.Context) ([]agent.Entry, error) {
	models, err := s.client.Models(ctx, false)
	return agentkit.Entries(models, func(m *codex.Model) (string, string) { return m.Model, m.Description }), translate(err)
}

// Agents returns an empty list, because Codex does not list the subagents that it can start.
func (s *Session) Agents(context.Context) ([]agent.Entry, error) { return nil, s.kit.Alive() }

// servers returns the MCP servers, or the one with the name.
func (s *Session) servers(ctx context.Context, name string) ([]codex.MCPServer, error) {
	list, err := s.client.MCPServers(ctx)
	if err != nil {
		return nil, translate(err)
	}
	return agentkit.Server(list, name, func(m *codex.MCPServer) string { return m.Name })
}

// named returns an error unless an MCP server has the name.
func (s *Session) named(ctx context.Context, name string) error {
	_, err := s.servers(ctx, name)
	if err == nil && name == "" {
		err = fmt.Errorf("%w: MCP server %q", agent.ErrNotFound, name)
	}
	return err
}

// MCPStatus returns the server's report about each of its MCP servers, as one JSON object each.
func (s *Session) MCPStatus(ctx context.Context) ([]json.RawMessage, error) {
	servers, err := s.servers(ctx, "")
	if err != nil {
		return nil, err
	}
	var list []json.RawMessage
	for _, m := range servers {
		data, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		list = append(list, data)
	}
	return list, nil
}

// MCPReconnect makes the server reload its configuration, which reconnects all MCP servers, not
// only the named one.
func (s *Session) MCPReconnect(ctx context.Context, server string) error {
	if err := s.named(ctx, server); err != nil {
		return err
	}
	return translate(s.client.ReloadMCPServers(ctx))
}

// MCPToggle always returns agent.ErrUnsupported: a server can be turned off only in the
// configuration.
func (s *Session) MCPToggle(ctx context.Context, server string, _ bool) error {
	if err := s.named(ctx, server); err != nil {
		return err
	}
	return fmt.Errorf("%w: turning an MCP server on or off", agent.ErrUnsupported)
}

// MCPTools returns the tools of one MCP server, or of all servers if the name is empty.
func (s *Session) MCPTools(ctx context.Context, server string) ([]agent.MCPTool, error) {
	servers, err := s.servers(ctx, server)
	if err != nil {
		return nil, err
	}
	var list []agent.MCPTool
	for _, m := range servers {
		for name, raw := range m.Tools {
			var tool struct {
				Description string          `json:"description"`
				InputSchema json.RawMessage `json:"inputSchema"`
			}
			_ = raw.Decode(&tool) // missing members are not shown
			list = append(list, agent.MCPTool{Server: m.Name, Name: name, Description: tool.Description, InputSchema: tool.InputSchema})
		}
	}
	agentkit.SortTools(list)
	return list, nil
}
