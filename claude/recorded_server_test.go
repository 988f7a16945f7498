package claude_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/mcptool"
)

// recordedServer is an in-process MCP server of a recording. Its key among the servers
// identifies it; Name is the name that it reports.
type recordedServer struct {
	Type    string                 `json:"type"`
	Name    string                 `json:"name"`
	Version string                 `json:"version"`
	Tools   []json.RawMessage      `json:"tools"` // as in tools/list
	Timeout int                    `json:"timeout"`
	Policy  []claude.MCPToolPolicy `json:"toolPolicy"`
}

// recordedTool is a tool in the form of tools/list.
type recordedTool struct {
	Name        string               `json:"name"`
	Title       string               `json:"title"`
	Description string               `json:"description"`
	InputSchema json.RawMessage      `json:"inputSchema"`
	Annotations *mcp.ToolAnnotations `json:"annotations"`
	Meta        map[string]any       `json:"_meta"`
}

// server creates a recorded server with tools that repeat the recorded results. key is its
// name among the servers.
func (a *callAnswers) server(key string, raw json.RawMessage) (claude.MCPServer, error) {
	var r recordedServer
	if err := json.Unmarshal(raw, &r); err != nil {
		return claude.MCPServer{}, err
	}
	var tools []mcptool.Tool
	for _, def := range r.Tools {
		tool, err := a.tool(key, def)
		if err != nil {
			return claude.MCPServer{}, err
		}
		tools = append(tools, tool)
	}
	server := claude.MCPServer{Server: mcptool.NewToolServer(r.Name, r.Version, tools...)}
	server.Timeout, server.Tools = r.Timeout, r.Policy
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.servers == nil {
		a.servers = map[string]*mcp.Server{}
	}
	a.servers[key] = server.Server
	return server, nil
}

// tool creates a recorded tool of a server.
func (a *callAnswers) tool(server string, raw json.RawMessage) (tool mcptool.Tool, err error) {
	var def recordedTool
	if err := json.Unmarshal(raw, &def); err != nil {
		return tool, err
	}
	opts := []mcptool.Option{mcptool.InputSchema(def.InputSchema), mcptool.Title(def.Title)}
	if def.Annotations != nil {
		opts = append(opts, mcptool.Annotations(*def.Annotations))
	}
	for k, v := range def.Meta {
		opts = append(opts, mcptool.Meta(k, v))
	}
	call := func(ctx context.Context, _ json.RawMessage) (*mcp.CallToolResult, error) {
		return a.callTool(ctx, server, def.Name)
	}
	return mcptool.NewTool(def.Name, def.Description, call, opts...), nil
}

// callTool repeats the recorded call of a tool.
func (a *callAnswers) callTool(ctx context.Context, server, name string) (*mcp.CallToolResult, error) {
	call := mcptool.CallInfo(ctx)
	answer, err := a.give(ctx, "tool "+server+" "+name, func(r *recordedAnswer) bool {
		return r.Server == server && r.Tool == name && (r.ToolUseID == "" || r.ToolUseID == call.ToolUseID)
	})
	if err != nil {
		return nil, err
	}
	if err := sendNotifications(ctx, call, answer.Notify); err != nil {
		return nil, err
	}
	result := &mcp.CallToolResult{}
	if err := json.Unmarshal(answer.Return, result); err != nil {
		return nil, fmt.Errorf("recording: the result of %s: %w", name, err)
	}
	if result.StructuredContent != nil { // a map would lose the order of its members
		var v struct {
			StructuredContent json.RawMessage `json:"structuredContent"`
		}
		if err := json.Unmarshal(answer.Return, &v); err != nil {
			return nil, err
		}
		result.StructuredContent = v.StructuredContent
	}
	return result, nil
}

// sendNotifications sends the notifications that a tool sent before it returned: one or
// several.
func sendNotifications(ctx context.Context, call *mcptool.Call, raw json.RawMessage) error {
	if isNull(raw) {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	for _, n := range list {
		if err := sendNotification(ctx, call, n); err != nil {
			return err
		}
	}
	return nil
}

func sendNotification(ctx context.Context, call *mcptool.Call, raw json.RawMessage) error {
	var n struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(raw, &n); err != nil {
		return err
	}
	switch n.Method {
	case "notifications/progress":
		var p mcp.ProgressNotificationParams
		if err := json.Unmarshal(n.Params, &p); err != nil {
			return err
		}
		return call.Session.NotifyProgress(ctx, &p)
	case "notifications/message":
		//lint:ignore SA1019 the protocol of today has it
		var p mcp.LoggingMessageParams
		if err := json.Unmarshal(n.Params, &p); err != nil {
			return err
		}
		//lint:ignore SA1019 the protocol of today has it
		return call.Session.Log(ctx, &p)
	}
	return fmt.Errorf("recording: a tool cannot send %s", n.Method)
}

// addTool executes a step that adds a tool to a server during the call: to the server that
// the step names, or to the only one.
func (a *callAnswers) addTool(s recordedStep) error {
	a.mu.Lock()
	key, server := s.Server, a.servers[s.Server]
	if server == nil && len(a.servers) == 1 {
		for key, server = range a.servers {
		}
	}
	a.mu.Unlock()
	if server == nil {
		return fmt.Errorf("recording: there is no server %q", s.Server)
	}
	if isNull(s.Tool) {
		return errors.New("recording: the step names no tool")
	}
	tool, err := a.tool(key, s.Tool)
	if err != nil {
		return err
	}
	tool.AddTo(server)
	return nil
}

// mcpServers returns the servers of a recording; the tools of those in this process repeat
// the recorded results. In-process servers are omitted if a is nil.
func (a *callAnswers) mcpServers(raw json.RawMessage, inProcess map[string]json.RawMessage) (map[string]claude.MCPServer, error) {
	var servers map[string]claude.MCPServer
	if err := json.Unmarshal(raw, &servers); err != nil {
		return nil, err
	}
	for key, s := range servers {
		if s.Type != "sdk" {
			continue
		}
		if a == nil {
			delete(servers, key)
			continue
		}
		made, err := a.server(key, inProcess[key])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		servers[key] = made
	}
	return servers, nil
}
