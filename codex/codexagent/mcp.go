package codexagent

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
)

// MCPTransports returns stdio and http: Codex has no servers with server-sent events.
func (p *Provider) MCPTransports() []string { return []string{"stdio", "http"} }

// mcpConfig returns MCP servers as values of config.toml, by dotted key.
func mcpConfig(raw json.RawMessage) (map[string]any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var servers map[string]struct {
		Type, Command, URL string
		Args               []string
		Env, Headers       map[string]string
	}
	if err := json.Unmarshal(raw, &servers); err != nil {
		return nil, fmt.Errorf("%w: the MCP servers: %w", agent.ErrInvalid, err)
	}
	config := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		one, entry := servers[name], map[string]any{}
		switch one.Type {
		case "", "stdio":
			entry["command"], entry["args"] = one.Command, append([]string{}, one.Args...)
			if len(one.Env) > 0 {
				entry["env"] = one.Env
			}
		case "http":
			entry["url"] = one.URL
			if len(one.Headers) > 0 {
				entry["http_headers"] = one.Headers
			}
		default:
			return nil, fmt.Errorf("%w: the MCP server %s has the type %q, and Codex has stdio and http", agent.ErrUnsupported, name, one.Type)
		}
		key := "mcp_servers." + serverName(name)
		if config[key] != nil {
			return nil, fmt.Errorf("%w: two MCP servers have the name %s", agent.ErrInvalid, serverName(name))
		}
		config[key] = entry
	}
	return config, nil
}

// serverName replaces the characters that Codex does not allow in the name of a server: all but
// letters, digits, - and _.
func serverName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, name)
}
