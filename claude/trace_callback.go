package claude

import (
	"context"
	"errors"

	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/internal/control"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// describe returns the function that reports the answer to a request of the CLI to Trace, or nil if
// Trace has no function for the request.
func (t *tracer) describe(req control.Request) func(p Period, answer string, err error) {
	switch req.Subtype {
	case "can_use_tool", "elicitation", "request_user_dialog":
		if t.t.Permission != nil {
			return func(p Period, answer string, err error) { t.t.Permission(permissionTrace(req, p, answer, err)) }
		}
	case "hook_callback":
		if t.t.Hook != nil {
			return func(p Period, _ string, err error) { t.t.Hook(hookTrace(req, p, err)) }
		}
	case "mcp_message":
		if t.t.MCPCall != nil {
			return func(p Period, answer string, err error) {
				if call, ok := mcpCallTrace(req, p, answer, err); ok {
					t.t.MCPCall(call)
				}
			}
		}
	}
	return nil
}

// errNoReturn is reported for a callback that panicked or ended its goroutine.
var errNoReturn = errors.New("claude: the callback did not return")

// traced calls answer and reports it to Trace.
func (r *responder) traced(ctx context.Context, req control.Request, answer callback) (text []byte, err error) {
	told := r.trace.callback(req)
	err = errNoReturn
	defer func() { told(text, err) }()
	return answer(ctx, req)
}

// Decoding errors below are ignored: the request was JSON, and this package wrote the answer.

func permissionTrace(req control.Request, p Period, answer string, err error) PermissionTrace {
	var body struct {
		ToolName  string `json:"tool_name"`
		ToolUseID string `json:"tool_use_id"`
		AgentID   string `json:"agent_id"`
	}
	_ = jsonwire.Unmarshal(req.Body, &body)
	var said struct {
		Behavior string `json:"behavior"`
		Action   string `json:"action"`
	}
	if answer != "" {
		_ = jsonwire.Unmarshal(answer, &said)
	}
	t := PermissionTrace{Period: p, Kind: req.Subtype, ToolName: body.ToolName, ToolUseID: body.ToolUseID, AgentID: body.AgentID, Answer: said.Behavior, Err: err}
	learn(&t.Answer, said.Action)
	return t
}

func hookTrace(req control.Request, p Period, err error) HookTrace {
	var body struct {
		ToolUseID string `json:"tool_use_id"`
		Input     struct {
			Event    hook.Event `json:"hook_event_name"`
			ToolName string     `json:"tool_name"`
		} `json:"input"`
	}
	_ = jsonwire.Unmarshal(req.Body, &body)
	return HookTrace{Period: p, Event: body.Input.Event, ToolName: body.Input.ToolName, ToolUseID: body.ToolUseID, Err: err}
}

func mcpCallTrace(req control.Request, p Period, answer string, err error) (_ MCPCallTrace, ok bool) {
	var body struct {
		ServerName string `json:"server_name"`
		Message    struct {
			Method string `json:"method"`
			Params struct {
				Name string `json:"name"`
				Meta struct {
					ToolUseID string `json:"claudecode/toolUseId"`
				} `json:"_meta"`
			} `json:"params"`
		} `json:"message"`
	}
	_ = jsonwire.Unmarshal(req.Body, &body)
	if body.Message.Method != "tools/call" {
		return MCPCallTrace{}, false
	}
	var said struct {
		Response struct {
			Result struct {
				IsError bool `json:"isError"`
			} `json:"result"`
			Error message.JSON `json:"error"`
		} `json:"mcp_response"`
	}
	if answer != "" {
		_ = jsonwire.Unmarshal(answer, &said)
	}
	params := body.Message.Params
	return MCPCallTrace{Period: p, Server: body.ServerName, Tool: params.Name, ToolUseID: params.Meta.ToolUseID,
		IsError: said.Response.Result.IsError || said.Response.Error != "", Err: err}, true
}
