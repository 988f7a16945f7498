package hook

import "github.com/seed7221b0f9/parley/claude/message"

// ToolCall is the tool call of an event. The inputs of all events for a single call embed it.
type ToolCall struct {
	ToolName  string                 `json:"tool_name"`
	ToolInput message.JSON           `json:"tool_input"`
	MCPServer *message.MCPProvenance `json:"mcp_server,omitempty"` // set for a tool of an MCP server
}

// Call returns the name of the tool and its input, undecoded, in the form in which tool.Decode
// takes them.
func (c *ToolCall) Call() (name string, input message.JSON) { return c.ToolName, c.ToolInput }

// PreToolUseInput is the input of a PreToolUse hook: a tool call that has not run yet.
type PreToolUseInput struct {
	Input
	ToolCall
	ToolUseID string `json:"tool_use_id"`
}

// PostToolUseInput is the input of a PostToolUse hook: a tool call that succeeded, with its
// result.
type PostToolUseInput struct {
	Input
	ToolCall
	ToolResponse message.JSON `json:"tool_response"`
	ToolUseID    string       `json:"tool_use_id"`
	DurationMS   *float64     `json:"duration_ms,omitempty"` // without the time of permission prompts and hooks
}

// PostToolUseFailureInput is the input of a PostToolUseFailure hook: a tool call that failed or
// was interrupted, with its error.
type PostToolUseFailureInput struct {
	Input
	ToolCall
	ToolUseID   string   `json:"tool_use_id"`
	Error       string   `json:"error"`
	IsInterrupt bool     `json:"is_interrupt,omitempty"`
	DurationMS  *float64 `json:"duration_ms,omitempty"` // without the time of permission prompts and hooks
}

// PostToolBatchInput is the input of a PostToolBatch hook: all tool calls of one step, after each
// of them has ended and before the model is asked again.
type PostToolBatchInput struct {
	Input
	ToolCalls []PostToolBatchToolCall `json:"tool_calls"`
}

// PostToolBatchToolCall is one call of a [PostToolBatchInput]. ToolResponse is the result as the
// model reads it.
type PostToolBatchToolCall struct {
	ToolName     string       `json:"tool_name"`
	ToolInput    message.JSON `json:"tool_input"`
	ToolUseID    string       `json:"tool_use_id"`
	ToolResponse message.JSON `json:"tool_response,omitempty"`
}

// Call returns the name of the tool and its input, undecoded, in the form in which tool.Decode
// takes them.
func (c *PostToolBatchToolCall) Call() (name string, input message.JSON) {
	return c.ToolName, c.ToolInput
}

// PermissionRequestInput is the input of a PermissionRequest hook: a tool call that needs
// permission. The CLI asks the permission callback at the same time, and the first answer counts.
// The id of the call is [Input.CallID].
type PermissionRequestInput struct {
	Input
	ToolCall
	// PermissionSuggestions are permission updates that would allow such calls
	// from now on.
	PermissionSuggestions []message.PermissionUpdate `json:"permission_suggestions,omitempty"`
}

// PermissionDeniedInput is the input of a PermissionDenied hook: a tool call that was denied,
// with the reason.
type PermissionDeniedInput struct {
	Input
	ToolCall
	ToolUseID string `json:"tool_use_id"`
	Reason    string `json:"reason"`
}
