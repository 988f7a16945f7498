package server

import (
	"context"
	"errors"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// keeper returns the provider of a caller that keeps settings, and the directory of a project.
func (s *Server) keeper(ctx context.Context, c *caller, provider, cwd string) (agent.SettingsKeeper, string, error) {
	dir, err := s.directory(cwd)
	if err != nil {
		return nil, "", err
	}
	tenant, err := s.tenants.get(ctx, c.tenant)
	if err != nil {
		return nil, "", err
	}
	p, err := tenant.provider(provider)
	if err != nil {
		return nil, "", err
	}
	k, ok := p.(agent.SettingsKeeper)
	if !ok {
		return nil, "", session.Fail(api.Unsupported, "%s keeps no settings that can be read", p.Name())
	}
	return k, dir, nil
}

func rulesList(s *Server, ctx context.Context, c *caller, p api.SettingsOf) (api.RulesListResult, error) {
	k, dir, err := s.keeper(ctx, c, p.Provider, p.CWD)
	if err != nil {
		return api.RulesListResult{}, err
	}
	all, err := k.Rules(dir)
	if err != nil {
		return api.RulesListResult{}, session.Conflict("%v", err)
	}
	result := api.RulesListResult{Rules: []api.Rule{}}
	for _, r := range all {
		result.Rules = append(result.Rules, api.Rule{Rule: r.Text, Behavior: r.Behavior, Scope: r.Scope, File: r.File})
	}
	return result, nil
}

func rulesAdd(s *Server, ctx context.Context, c *caller, p api.RuleParams) (api.Empty, error) {
	return s.setRule(ctx, c, p, true)
}

func rulesRemove(s *Server, ctx context.Context, c *caller, p api.RuleParams) (api.Empty, error) {
	return s.setRule(ctx, c, p, false)
}

func (s *Server) setRule(ctx context.Context, c *caller, p api.RuleParams, keep bool) (api.Empty, error) {
	text, ok := session.ValidTitle(p.Rule)
	if !ok || text != p.Rule {
		return api.Empty{}, session.Invalid("the rule is not one line of visible characters")
	}
	switch p.Behavior {
	case "allow", "ask", "deny":
	default:
		return api.Empty{}, session.Invalid("behavior is %.20q, not allow, ask or deny", p.Behavior)
	}
	switch p.Scope {
	case agent.ScopeUser, agent.ScopeProject, agent.ScopeLocal:
	default:
		return api.Empty{}, session.Invalid("scope is %.20q, not user, project or local", p.Scope)
	}
	k, dir, err := s.keeper(ctx, c, p.Provider, p.CWD)
	if err != nil {
		return api.Empty{}, err
	}
	if err := k.SetRule(dir, agent.Rule{Text: text, Behavior: p.Behavior, Scope: p.Scope}, keep); err != nil {
		return api.Empty{}, session.Conflict("%v", err)
	}
	return api.Empty{}, nil
}

func mcpConfigured(s *Server, ctx context.Context, c *caller, p api.SettingsOf) (api.MCPConfiguredResult, error) {
	k, dir, err := s.keeper(ctx, c, p.Provider, p.CWD)
	if err != nil {
		return api.MCPConfiguredResult{}, err
	}
	all, err := k.MCPServers(dir)
	if err != nil {
		return api.MCPConfiguredResult{}, session.Conflict("%v", err)
	}
	result := api.MCPConfiguredResult{Servers: []api.MCPConfig{}}
	for _, m := range all {
		result.Servers = append(result.Servers, api.MCPConfig{Name: m.Name, Scope: m.Scope, File: m.File, Type: m.Type, Command: m.Command, Args: m.Args, URL: m.URL, Env: m.Env, Headers: m.Headers})
	}
	return result, nil
}

// mcpConfigure adds a server to a project, or changes it. The change applies when the next session
// starts.
func mcpConfigure(s *Server, ctx context.Context, c *caller, p api.MCPConfigureParams) (api.Empty, error) {
	m := p.Server
	name, ok := session.ValidTitle(m.Name)
	if !ok || name != m.Name || strings.ContainsAny(name, " /") {
		return api.Empty{}, session.Invalid("the name of an MCP server is one word")
	}
	switch m.Type {
	case "stdio":
		ok = m.Command != "" && m.URL == "" && len(m.Headers) == 0
	case "http", "sse":
		ok = (strings.HasPrefix(m.URL, "https://") || strings.HasPrefix(m.URL, "http://")) && m.Command == "" && len(m.Args) == 0 && len(m.Env) == 0
	default:
		ok = false
	}
	if !ok {
		return api.Empty{}, session.Invalid("an MCP server is stdio with a command, or http or sse with an address")
	}
	k, dir, err := s.keeper(ctx, c, p.Provider, p.CWD)
	if err != nil {
		return api.Empty{}, err
	}
	config := agent.MCPConfig{Name: name, Scope: agent.ScopeProject, Type: m.Type, Command: m.Command, Args: m.Args, URL: m.URL, Env: m.Env, Headers: m.Headers}
	if err := k.SetMCPServer(dir, config); err != nil {
		return api.Empty{}, session.Conflict("%v", err)
	}
	return api.Empty{}, nil
}

func mcpUnconfigure(s *Server, ctx context.Context, c *caller, p api.MCPUnconfigureParams) (api.Empty, error) {
	k, dir, err := s.keeper(ctx, c, p.Provider, p.CWD)
	if err != nil {
		return api.Empty{}, err
	}
	err = k.RemoveMCPServer(dir, p.Name)
	if errors.Is(err, agent.ErrNotFound) {
		return api.Empty{}, session.Conflict("MCP server %q not found in this project", p.Name)
	}
	if err != nil {
		return api.Empty{}, session.Conflict("%v", err)
	}
	return api.Empty{}, nil
}
