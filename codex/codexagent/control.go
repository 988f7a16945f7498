package codexagent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/codex"
)

// SetModel changes the model from the next prompt on. Empty is the thread's first one.
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

// SetMode changes the permission mode from the next prompt on. A turn that is running keeps its
// mode.
func (s *Session) SetMode(_ context.Context, mode string) error {
	if err := s.kit.Alive(); err != nil {
		return err
	}
	if !slices.Contains(s.Modes(), mode) {
		return fmt.Errorf("%w: mode %q", agent.ErrInvalid, mode)
	}
	s.kit.Do(func() { s.mode = mode })
	return nil
}

// efforts are the reasoning efforts that Codex knows; a model may know only some.
var efforts = []string{"minimal", "low", "medium", "high", "xhigh"}

// Efforts returns the reasoning efforts that Codex knows. A model may support only some of
// them.
func (s *Session) Efforts() []string { return efforts }

// SetEffort changes the reasoning effort from the next prompt on. A turn that is running keeps
// its effort.
func (s *Session) SetEffort(_ context.Context, effort string) error {
	if err := s.kit.Alive(); err != nil {
		return err
	}
	if effort != "" && !slices.Contains(efforts, effort) {
		return fmt.Errorf("%w: effort %q", agent.ErrInvalid, effort)
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

// Models returns the server's catalogue of models, without those that are hidden from users.
func (s *Session) Models(ctx context.Context) ([]agent.Entry, error) {
	models, err := s.client.Models(ctx, false)
	if err != nil {
		return nil, translate(err)
	}
	var list []agent.Entry
	for _, m := range models {
		data, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		list = append(list, agent.Entry{Name: m.Model, Description: m.Description, Data: data})
	}
	return list, nil
}

// Commands returns an empty list, because Codex has no commands that a prompt could call.
func (s *Session) Commands(context.Context) ([]agent.Entry, error) { return nil, s.kit.Alive() }

// Agents returns an empty list, because Codex does not list the subagents that it can start.
func (s *Session) Agents(context.Context) ([]agent.Entry, error) { return nil, s.kit.Alive() }

// server returns an MCP server by its name.
func (s *Session) server(ctx context.Context, name string) (*codex.MCPServer, error) {
	servers, err := s.client.MCPServers(ctx)
	if err != nil {
		return nil, translate(err)
	}
	i := slices.IndexFunc(servers, func(m codex.MCPServer) bool { return m.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("%w: MCP server %q", agent.ErrNotFound, name)
	}
	return &servers[i], nil
}

// MCPStatus returns what the server says about each of its MCP servers, as one JSON object for
// each.
func (s *Session) MCPStatus(ctx context.Context) ([]json.RawMessage, error) {
	servers, err := s.client.MCPServers(ctx)
	if err != nil {
		return nil, translate(err)
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

// MCPReconnect makes the server read its configuration again, which connects all MCP servers
// again, not only the named one.
func (s *Session) MCPReconnect(ctx context.Context, server string) error {
	if _, err := s.server(ctx, server); err != nil {
		return err
	}
	return translate(s.client.ReloadMCPServers(ctx))
}

// MCPToggle always fails with agent.ErrUnsupported: a server can be turned off only in the
// configuration.
func (s *Session) MCPToggle(ctx context.Context, server string, _ bool) error {
	if _, err := s.server(ctx, server); err != nil {
		return err
	}
	return fmt.Errorf("%w: turning an MCP server on or off", agent.ErrUnsupported)
}

// MCPTools returns the tools of one MCP server, or those of all servers if none is named.
func (s *Session) MCPTools(ctx context.Context, server string) ([]agent.MCPTool, error) {
	servers, err := s.client.MCPServers(ctx)
	if err != nil {
		return nil, translate(err)
	}
	var list []agent.MCPTool
	found := server == ""
	for _, m := range servers {
		if server != "" && m.Name != server {
			continue
		}
		found = true
		for name, raw := range m.Tools {
			var tool struct {
				Description string          `json:"description"`
				InputSchema json.RawMessage `json:"inputSchema"`
			}
			_ = raw.Decode(&tool) // what is not there is not shown
			list = append(list, agent.MCPTool{Server: m.Name, Name: name, Description: tool.Description, InputSchema: tool.InputSchema})
		}
	}
	if !found {
		return nil, fmt.Errorf("%w: MCP server %q", agent.ErrNotFound, server)
	}
	slices.SortFunc(list, func(a, b agent.MCPTool) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Name, b.Name))
	})
	return list, nil
}
