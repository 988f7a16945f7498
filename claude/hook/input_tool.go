package hook

import "github.com/seed7221b0f9/parley/claude/message"

// ToolCall is the tool call that an event is about.
type ToolCall struct {
	ToolName  string                 `json:"tool_name"`
	ToolInput message.JSON           `json:"tool_input"`
	MCPServer *message.MCPProvenance `json:"mcp_server,omitempty"` // set for a tool of an MCP server
}

// Call returns the tool's name and its input, for tool.Decode.
func (c *ToolCall) Call() (name string, input message.JSON) { return c.ToolName, c.ToolInput }

// PreToolUseInput is about a tool call that has not run.
type PreToolUseInput struct {
	Input
	ToolCall
	ToolUseID string `json:"tool_use_id"`
}

// PostToolUseInput is about a tool call that ran well.
type PostToolUseInput struct {
	Input
	ToolCall
	ToolResponse message.JSON `json:"tool_response"`
	ToolUseID    string       `json:"tool_use_id"`
	DurationMS   *float64     `json:"duration_ms,omitempty"` // without the time of prompts and hooks
}

// PostToolUseFailureInput is about a tool call that failed.
type PostToolUseFailureInput struct {
	Input
	ToolCall
	ToolUseID   string   `json:"tool_use_id"`
	Error       string   `json:"error"`
	IsInterrupt bool     `json:"is_interrupt,omitempty"`
	DurationMS  *float64 `json:"duration_ms,omitempty"` // without the time of prompts and hooks
}

// PostToolBatchInput is about all tool calls of one step, when each of them has
// ended and before the model is asked again.
type PostToolBatchInput struct {
	Input
	ToolCalls []PostToolBatchToolCall `json:"tool_calls"`
}

// PostToolBatchToolCall is one call of a batch. ToolResponse is the result as
// the model gets it.
type PostToolBatchToolCall struct {
	ToolName     string       `json:"tool_name"`
	ToolInput    message.JSON `json:"tool_input"`
	ToolUseID    string       `json:"tool_use_id"`
	ToolResponse message.JSON `json:"tool_response,omitempty"`
}

// Call returns the tool's name and its input, for tool.Decode.
func (c *PostToolBatchToolCall) Call() (name string, input message.JSON) {
	return c.ToolName, c.ToolInput
}

// PermissionRequestInput is about a tool call for which permission is asked.
// The permission callback is asked at the same time; the first answer counts.
// The id of the call is [Input.CallID].
type PermissionRequestInput struct {
	Input
	ToolCall
	// PermissionSuggestions are permission updates that would allow such calls
	// from now on.
	PermissionSuggestions []message.PermissionUpdate `json:"permission_suggestions,omitempty"`
}

// PermissionDeniedInput is about a tool call that was denied.
type PermissionDeniedInput struct {
	Input
	ToolCall
	ToolUseID string `json:"tool_use_id"`
	Reason    string `json:"reason"`
}
