package api

import "github.com/seed7221b0f9/parley/agent/event"

// SystemInit reports what a session has, at the start of a turn. A list that is absent is not
// known; an empty list is known to have no elements.
type SystemInit struct {
	SessionID      string            `json:"session_id,omitempty"`
	CWD            string            `json:"cwd"`
	Model          string            `json:"model"`
	PermissionMode string            `json:"permissionMode"`
	Sandbox        string            `json:"sandbox,omitempty"`
	APIKeySource   string            `json:"apiKeySource"`
	Tools          []string          `json:"tools,omitempty"`
	MCPServers     []event.MCPServer `json:"mcp_servers,omitempty"`
	SlashCommands  []string          `json:"slash_commands,omitempty"`
	Agents         []string          `json:"agents,omitempty"`
	Skills         []string          `json:"skills,omitempty"`
	OutputStyle    string            `json:"output_style,omitempty"`
	CLIVersion     string            `json:"claude_code_version,omitempty"`
	UUID           string            `json:"uuid,omitempty"`
	Provider       string            `json:"provider"`
	Extra          Extra             `json:"-"`
}

// StatusSystem reports what the agent is doing at the moment, such as requesting. Status is empty
// when it has finished that.
type StatusSystem struct {
	Subtype        string `json:"subtype"` // status
	Status         string `json:"status"`
	PermissionMode string `json:"permissionMode,omitempty"`
	SessionID      string `json:"session_id,omitempty"`
	UUID           string `json:"uuid,omitempty"`
	Provider       string `json:"provider"`
	Extra          Extra  `json:"-"`
}

// CompactBoundary marks the place at which the conversation was compacted. What came before is
// now a summary.
type CompactBoundary struct {
	SessionID       string     `json:"session_id,omitempty"`
	CompactMetadata event.JSON `json:"compact_metadata"` // trigger, pre_tokens, …
	UUID            string     `json:"uuid,omitempty"`
	Provider        string     `json:"provider"`
	Extra           Extra      `json:"-"`
}

// ToolProgress reports that a tool is still running, with the output since the last report in
// OutputDelta. Only clients with [CapabilityOutputDelta] get it.
type ToolProgress struct {
	ToolUseID          string  `json:"tool_use_id"`
	ToolName           string  `json:"tool_name,omitempty"`
	ElapsedTimeSeconds float64 `json:"elapsed_time_seconds"`
	TaskID             string  `json:"task_id,omitempty"`
	Heartbeat          bool    `json:"heartbeat,omitempty"`
	OutputDelta        string  `json:"output_delta,omitempty"`
	ParentToolUseID    string  `json:"parent_tool_use_id,omitempty"`
	SessionID          string  `json:"session_id,omitempty"`
	Provider           string  `json:"provider"`
	Extra              Extra   `json:"-"`
}

// TaskStarted reports that a task has begun: a subagent, or a command that runs in the
// background.
type TaskStarted struct {
	TaskID         string `json:"task_id"`
	TaskType       string `json:"task_type,omitempty"`
	Description    string `json:"description,omitempty"`
	ToolUseID      string `json:"tool_use_id,omitempty"`
	ParentTaskID   string `json:"parent_task_id,omitempty"`
	SubagentType   string `json:"subagent_type,omitempty"`
	IsBackgrounded bool   `json:"is_backgrounded,omitempty"`
	SessionID      string `json:"session_id,omitempty"`
	Provider       string `json:"provider"`
	Extra          Extra  `json:"-"`
}

// TaskProgress reports what a task is doing at the moment and what it has used so far.
type TaskProgress struct {
	TaskID       string     `json:"task_id"`
	Description  string     `json:"description,omitempty"`
	LastToolName string     `json:"last_tool_name,omitempty"`
	Summary      string     `json:"summary,omitempty"`
	Usage        event.JSON `json:"usage,omitempty"`
	SessionID    string     `json:"session_id,omitempty"`
	Provider     string     `json:"provider"`
	Extra        Extra      `json:"-"`
}

// TaskUpdated changes members of a task. Those that are absent have not changed since the last
// message about it.
type TaskUpdated struct {
	TaskID         string `json:"task_id"`
	Status         string `json:"status,omitempty"`
	Description    string `json:"description,omitempty"`
	Error          string `json:"error,omitempty"`
	IsBackgrounded *bool  `json:"is_backgrounded,omitempty"`
	SessionID      string `json:"session_id,omitempty"`
	Provider       string `json:"provider"`
	Extra          Extra  `json:"-"`
}

// TaskNotification reports that a task has ended, with its status, a summary, and the file with
// its output.
type TaskNotification struct {
	TaskID     string     `json:"task_id"`
	Status     string     `json:"status,omitempty"`
	Summary    string     `json:"summary,omitempty"`
	OutputFile string     `json:"output_file,omitempty"`
	Usage      event.JSON `json:"usage,omitempty"`
	SessionID  string     `json:"session_id,omitempty"`
	Provider   string     `json:"provider"`
	Extra      Extra      `json:"-"`
}

// RateLimit reports the state of one of the account's limits. The information is the provider's
// own and is not decoded.
type RateLimit struct {
	RateLimitInfo event.JSON `json:"rate_limit_info"`
	SessionID     string     `json:"session_id,omitempty"`
	Provider      string     `json:"provider"`
	Extra         Extra      `json:"-"`
}

// QueueChanged is the whole queue of the inputs that wait, in their order. It replaces any
// earlier one.
type QueueChanged struct {
	Items     []event.QueueItem `json:"items"`
	SessionID string            `json:"session_id,omitempty"`
	Provider  string            `json:"provider"`
	Extra     Extra             `json:"-"`
}

// SessionState reports what the session is doing now, such as idle or running. The set of
// states is open.
type SessionState struct {
	State     string `json:"state"`
	SessionID string `json:"session_id,omitempty"`
	Provider  string `json:"provider"`
	Extra     Extra  `json:"-"`
}
