package ui

import "github.com/seed7221b0f9/parley/claude"

// SystemInit says what a session has, at the beginning of each turn.
type SystemInit struct {
	Header
	CWD            string
	Model          string
	PermissionMode string
	APIKeySource   string
	Tools          []string
	MCPServers     []MCPServer
	SlashCommands  []string
	Agents         []string
	Skills         []string
	OutputStyle    string
	CLIVersion     string
	Data           claude.JSON // the whole message
}

// MCPServer is an MCP server as it stood when a turn began.
type MCPServer struct {
	Name   string `json:"name"`
	Status string `json:"status"`
}

// Status says what the CLI is doing. An empty one means that it is done with it.
type Status struct {
	Header
	Status         string // requesting, compacting, …
	PermissionMode string // empty where it has not changed
	Data           claude.JSON
}

// CompactBoundary stands where the conversation was compacted.
type CompactBoundary struct {
	Header
	Trigger   string // manual, auto
	PreTokens int64
	Metadata  claude.JSON // all that the CLI says of it
}

// TaskStarted says that a task has begun: a subagent, a command in the background.
type TaskStarted struct {
	Header
	TaskID         string
	TaskType       string
	Description    string
	ToolUseID      string
	ParentTaskID   string
	SubagentType   string
	IsBackgrounded bool
	Data           claude.JSON
}

// TaskProgress says how far a task is.
type TaskProgress struct {
	Header
	TaskID       string
	Description  string
	LastToolName string
	Summary      string
	Usage        claude.JSON
	Data         claude.JSON
}

// TaskUpdated changes a task. Members that are empty have not changed.
type TaskUpdated struct {
	Header
	TaskID         string
	Status         string
	Description    string
	Error          string
	IsBackgrounded *bool
	Data           claude.JSON
}

// TaskNotification says that a task has ended.
type TaskNotification struct {
	Header
	TaskID     string
	Status     string // completed, failed, stopped
	Summary    string
	OutputFile string
	Usage      claude.JSON
	Data       claude.JSON
}

// RateLimit says where the account stands with a limit.
type RateLimit struct {
	Header
	Info claude.JSON
}

// SessionState says what the session does now. The set is open: idle, running,
// requires_action from the CLI, more from a server.
type SessionState struct {
	Header
	State string
}

// QueueChanged is the whole queue of inputs that wait, in their order.
type QueueChanged struct {
	Header
	Items []QueueItem
}

// QueueItem is an input that waits.
type QueueItem struct {
	ID       string      `json:"id"`
	Content  claude.JSON `json:"content,omitempty"` // a string or blocks
	Priority string      `json:"priority,omitempty"`
}
