package api

import "github.com/seed7221b0f9/parley/agent/event"

// PermissionRequest asks a person whether a tool may run (kind tool), whether a plan is approved
// (kind plan) or whether permissions are granted (kind profile). A [PermissionResolved] with the
// same request id ends it.
type PermissionRequest struct {
	Kind                  string             `json:"kind"`
	RequestID             string             `json:"request_id"`
	ToolName              string             `json:"tool_name,omitempty"`
	DisplayName           string             `json:"display_name,omitempty"`
	Description           string             `json:"description,omitempty"`
	Input                 event.JSON         `json:"input,omitempty"`
	ToolUseID             string             `json:"tool_use_id,omitempty"`
	PermissionSuggestions []event.Suggestion `json:"permission_suggestions,omitempty"`
	Choices               []event.Choice     `json:"choices,omitempty"`
	Profile               event.JSON         `json:"profile,omitempty"`
	BlockedPath           string             `json:"blocked_path,omitempty"`
	AgentID               string             `json:"agent_id,omitempty"`
	DefaultToNo           bool               `json:"default_to_no,omitempty"`
	ParentToolUseID       string             `json:"parent_tool_use_id,omitempty"`
	SessionID             string             `json:"session_id,omitempty"`
	Provider              string             `json:"provider"`
	Extra                 Extra              `json:"-"`
}

// PermissionResolved ends a permission request. It carries the decision, the time for which it
// holds, and who answered.
type PermissionResolved struct {
	RequestID string `json:"request_id"`
	ToolUseID string `json:"tool_use_id,omitempty"`
	Behavior  string `json:"behavior"`        // allow, deny, cancelled, expired, unknown
	Scope     string `json:"scope,omitempty"` // how long it holds; absent means once
	Message   string `json:"message,omitempty"`
	By        string `json:"by,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	Provider  string `json:"provider"`
	Extra     Extra  `json:"-"`
}

// QuestionRequest asks a person a question of the model (kind ask_user_question) or of an MCP
// server (kind elicitation). A [QuestionResolved] with the same request id ends it.
type QuestionRequest struct {
	Kind            string           `json:"kind"`
	RequestID       string           `json:"request_id"`
	ToolUseID       string           `json:"tool_use_id,omitempty"`
	Questions       []event.Question `json:"questions,omitempty"`
	Blocking        *bool            `json:"blocking,omitempty"`
	MCPServerName   string           `json:"mcp_server_name,omitempty"`
	Message         string           `json:"message,omitempty"`
	Mode            string           `json:"mode,omitempty"`
	RequestedSchema event.JSON       `json:"requested_schema,omitempty"`
	URL             string           `json:"url,omitempty"`
	ParentToolUseID string           `json:"parent_tool_use_id,omitempty"`
	SessionID       string           `json:"session_id,omitempty"`
	Provider        string           `json:"provider"`
	Extra           Extra            `json:"-"`
}

// QuestionResolved ends a question. It carries what was done with it, the answers, and who gave
// them.
type QuestionResolved struct {
	RequestID string     `json:"request_id"`
	ToolUseID string     `json:"tool_use_id,omitempty"`
	Action    string     `json:"action"` // accept, decline, cancel, expired, unknown
	Answers   event.JSON `json:"answers,omitempty"`
	By        string     `json:"by,omitempty"`
	SessionID string     `json:"session_id,omitempty"`
	Provider  string     `json:"provider"`
	Extra     Extra      `json:"-"`
}
