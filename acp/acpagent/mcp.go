package acpagent

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
)

// clientServers converts MCP servers to the form in which a client passes them to an agent.
func clientServers(raw json.RawMessage) ([]acp.MCPServer, error) {
	list := []acp.MCPServer{}
	if len(raw) == 0 {
		return list, nil
	}
	var byName map[string]struct {
		Type, Command, URL string
		Args               []string
		Env, Headers       map[string]string
	}
	if err := json.Unmarshal(raw, &byName); err != nil {
		return nil, fmt.Errorf("%w: the MCP servers: %w", agent.ErrInvalid, err)
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		one := byName[name]
		headers := []acp.HTTPHeader{}
		for _, k := range slices.Sorted(maps.Keys(one.Headers)) {
			headers = append(headers, acp.HTTPHeader{Name: k, Value: one.Headers[k]})
		}
		switch one.Type {
		case "http":
			list = append(list, acp.MCPServer{Type: acp.MCPServerIsHTTP, Value: &acp.MCPServerHTTP{Name: name, URL: one.URL, Headers: headers}})
		case "sse":
			list = append(list, acp.MCPServer{Type: acp.MCPServerIsSSE, Value: &acp.MCPServerSSE{Name: name, URL: one.URL, Headers: headers}})
		case "", "stdio":
			env := []acp.EnvVariable{}
			for _, k := range slices.Sorted(maps.Keys(one.Env)) {
				env = append(env, acp.EnvVariable{Name: k, Value: one.Env[k]})
			}
			list = append(list, acp.MCPServer{Value: &acp.MCPServerStdio{Name: name, Command: one.Command, Args: append([]string{}, one.Args...), Env: env}})
		default:
			return nil, fmt.Errorf("%w: the MCP server %s has the type %q", agent.ErrInvalid, name, one.Type)
		}
	}
	return list, nil
}
