package api

import "github.com/seed7221b0f9/parley/agent/event"

// Notice is a remark for people that is not part of the conversation, such as a warning. Other
// members of the provider's message are in Extra, under the provider's names.
type Notice struct {
	Severity        string `json:"severity"` // info, warning, error
	Text            string `json:"text"`
	Code            string `json:"code,omitempty"`
	ToolUseID       string `json:"tool_use_id,omitempty"`
	ParentToolUseID string `json:"parent_tool_use_id,omitempty"`
	SessionID       string `json:"session_id,omitempty"`
	UUID            string `json:"uuid,omitempty"`
	Provider        string `json:"provider"`
	Extra           Extra  `json:"-"`
}

// Retry reports that a request to the model failed and is sent again. Other members of the
// provider's message are in Extra, under the provider's names.
type Retry struct {
	Attempt         int64  `json:"attempt"`
	MaxAttempts     *int64 `json:"max_attempts,omitempty"`
	DelayMS         *int64 `json:"delay_ms,omitempty"`
	Reason          string `json:"reason,omitempty"`
	Status          *int64 `json:"status,omitempty"`
	ParentToolUseID string `json:"parent_tool_use_id,omitempty"`
	SessionID       string `json:"session_id,omitempty"`
	UUID            string `json:"uuid,omitempty"`
	Provider        string `json:"provider"`
	Extra           Extra  `json:"-"`
}

// Hook reports the start, the progress or the end of a hook that the agent runs. Other members of
// the provider's message are in Extra, under the provider's names.
type Hook struct {
	HookID          string `json:"hook_id"`
	Name            string `json:"name,omitempty"`
	Event           string `json:"event,omitempty"`
	State           string `json:"state"` // started, running, finished
	Outcome         string `json:"outcome,omitempty"`
	Decision        string `json:"decision,omitempty"`
	Message         string `json:"message,omitempty"`
	Output          string `json:"output,omitempty"`
	ExitCode        *int64 `json:"exit_code,omitempty"`
	ToolUseID       string `json:"tool_use_id,omitempty"`
	ParentToolUseID string `json:"parent_tool_use_id,omitempty"`
	SessionID       string `json:"session_id,omitempty"`
	UUID            string `json:"uuid,omitempty"`
	Provider        string `json:"provider"`
	Extra           Extra  `json:"-"`
}

// SessionInfo reports what has changed about a session. A member that is absent has not changed;
// one that is empty was removed.
type SessionInfo struct {
	Title          *string           `json:"title,omitempty"`
	Model          *string           `json:"model,omitempty"`
	PermissionMode *string           `json:"permissionMode,omitempty"`
	Sandbox        *string           `json:"sandbox,omitempty"`
	CWD            *string           `json:"cwd,omitempty"`
	Goal           *string           `json:"goal,omitempty"`
	Archived       *bool             `json:"archived,omitempty"`
	Deleted        *bool             `json:"deleted,omitempty"`
	MCPServers     []event.MCPServer `json:"mcp_servers,omitempty"`
	Commands       event.JSON        `json:"commands,omitempty"`
	SessionID      string            `json:"session_id,omitempty"`
	UUID           string            `json:"uuid,omitempty"`
	Provider       string            `json:"provider"`
	Extra          Extra             `json:"-"`
}
