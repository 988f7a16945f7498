package claudetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed7221b0f9/parley/claude"
)

// recordedServer is a server that ran in the caller's process.
type recordedServer struct {
	Type    string         `json:"type"`
	Name    string         `json:"name"`
	Version string         `json:"version"`
	Tools   []recordedTool `json:"tools"`
	Timeout int            `json:"timeout"`
}

// recordedTool is a tool as in tools/list.
type recordedTool struct {
	Name        string               `json:"name"`
	Title       string               `json:"title"`
	Description string               `json:"description"`
	InputSchema json.RawMessage      `json:"inputSchema"`
	Annotations *mcp.ToolAnnotations `json:"annotations"`
	Meta        map[string]any       `json:"_meta"`
}

// serveTools adds the servers of the caller's process to the options.
func (c *Call) serveTools(o *claude.Options) error {
	var servers map[string]json.RawMessage
	if raw := c.Options["mcpServers"]; raw == nil || json.Unmarshal(raw, &servers) != nil {
		return nil // told by the option itself
	}
	answers := newToolAnswers(c)
	for name, raw := range servers {
		server, ok, err := answers.server(name, raw)
		if err != nil {
			return fmt.Errorf("claudetest: option mcpServers: %s: %w", name, err)
		}
		if ok {
			o.MCPServers[name] = server
		}
	}
	return nil
}

// toolAnswers are the recorded calls of tools that have not been made again.
type toolAnswers struct {
	call *Call
	mu   sync.Mutex
	used map[int]bool
}

func newToolAnswers(c *Call) *toolAnswers { return &toolAnswers{call: c, used: map[int]bool{}} }

// server makes a server that behaves as the recorded one; false if it did not
// run in the caller's process.
func (a *toolAnswers) server(name string, raw json.RawMessage) (s claude.MCPServer, ok bool, err error) {
	var def recordedServer
	if json.Unmarshal(raw, &def) != nil || def.Type != "sdk" {
		return s, false, nil
	}
	var tools []claude.Tool
	for _, t := range def.Tools {
		tools = append(tools, a.tool(name, t))
	}
	s = claude.NewToolServer(def.Name, def.Version, tools...)
	s.Timeout = def.Timeout
	return s, true, nil
}

func (a *toolAnswers) tool(server string, t recordedTool) claude.Tool {
	opts := []claude.ToolOption{claude.ToolTitle(t.Title), claude.ToolInputSchema(t.InputSchema)}
	if t.Annotations != nil {
		opts = append(opts, claude.ToolAnnotations(*t.Annotations))
	}
	for k, v := range t.Meta {
		opts = append(opts, claude.ToolMeta(k, v))
	}
	return claude.NewTool(t.Name, t.Description, func(ctx context.Context, _ json.RawMessage) (*mcp.CallToolResult, error) {
		return a.answer(ctx, server, t.Name)
	}, opts...)
}

// take finds the recorded call of a tool that is made again.
func (a *toolAnswers) take(server, tool, id string) (answer Answer, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, answer := range a.call.Answers {
		if !a.used[i] && answer.Server == server && answer.Tool == tool && answer.ToolUseID == id {
			a.used[i] = true
			a.call.invoke(i)
			return answer, true
		}
	}
	return answer, false
}

// answer does what the recorded tool did.
func (a *toolAnswers) answer(ctx context.Context, server, tool string) (*mcp.CallToolResult, error) {
	info := claude.CallInfo(ctx)
	answer, ok := a.take(server, tool, info.ToolUseID)
	if !ok {
		return nil, fmt.Errorf("the recording has no call %s of %s at %s", info.ToolUseID, tool, server)
	}
	if err := answer.notify(ctx, info); err != nil {
		return nil, err
	}
	if answer.DelayAfterCancelMS != nil {
		<-ctx.Done()
	} else if ms := answer.DelayMS; ms > 0 {
		select {
		case <-time.After(time.Duration(ms * float64(time.Millisecond))):
		case <-ctx.Done():
		}
	}
	if answer.Throw != nil {
		return nil, errors.New(*answer.Throw)
	}
	return answer.result()
}

// result is what the recorded tool returned; the members of its structured
// content keep their order.
func (a *Answer) result() (*mcp.CallToolResult, error) {
	result := &mcp.CallToolResult{}
	if a.Return == nil {
		return result, nil
	}
	var members struct {
		Structured json.RawMessage `json:"structuredContent"`
	}
	if err := errors.Join(json.Unmarshal(a.Return, result), json.Unmarshal(a.Return, &members)); err != nil {
		return nil, err
	}
	if members.Structured != nil {
		result.StructuredContent = members.Structured
	}
	return result, nil
}

// notify tells the progress that the recorded tool told.
func (a *Answer) notify(ctx context.Context, info *claude.ToolCall) error {
	if a.Notify == nil {
		return nil
	}
	var notice struct {
		Params struct {
			Progress float64 `json:"progress"`
			Total    float64 `json:"total"`
			Message  string  `json:"message"`
		} `json:"params"`
	}
	if err := json.Unmarshal(a.Notify, &notice); err != nil {
		return err
	}
	return info.Progress(ctx, notice.Params.Progress, notice.Params.Total, notice.Params.Message)
}

// setServers is mcp_set_servers with servers of the caller's process.
func (r *callRunner) setServers(s Step, fields map[string]json.RawMessage) (json.RawMessage, error) {
	var servers map[string]claude.MCPServer
	if err := json.Unmarshal(fields["servers"], &servers); err != nil {
		return nil, err
	}
	answers := newToolAnswers(r.call)
	for name, raw := range s.SDKServers {
		server, ok, err := answers.server(name, raw)
		if err != nil || !ok {
			return nil, fmt.Errorf("claudetest: server %s: %w", name, err)
		}
		servers[name] = server
	}
	change, err := r.client.SetMCPServers(r.ctx, servers)
	if err != nil {
		return nil, err
	}
	return change.Raw().Bytes(), nil
}
