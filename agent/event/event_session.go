package event

// SystemInit describes the session at the start of a turn. A nil list was absent on the wire; an
// empty one was present without elements.
type SystemInit struct {
	Header         `wire:"session<cwd,uuid"`
	CWD            string      `json:"cwd"`
	Model          string      `json:"model"`
	PermissionMode string      `json:"permissionMode"`
	Sandbox        string      `json:"sandbox,omitempty"` // restrictions of commands, if the provider has them in addition to the mode
	APIKeySource   string      `json:"apiKeySource"`
	Tools          []string    `json:"tools,omitempty"`
	MCPServers     []MCPServer `json:"mcp_servers,omitempty"`
	SlashCommands  []string    `json:"slash_commands,omitempty"`
	Agents         []string    `json:"agents,omitempty"`
	Skills         []string    `json:"skills,omitempty"`
	OutputStyle    string      `json:"output_style,omitempty"`
	CLIVersion     string      `json:"claude_code_version,omitempty"` // of the agent's program
	Data           JSON        `json:"-" wire:"rest"`                 // the complete message
}

// MCPServer is an MCP server of the session with the status of its connection and, if that failed,
// the error.
type MCPServer struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Error  string `json:"error,omitempty"` // the reason of a failure
}

// Status reports the agent's current activity. An empty one means that it has ended.
type Status struct {
	Header         `wire:"session,uuid"`
	Status         string `json:"status"`                   // requesting, compacting, reviewing, …
	PermissionMode string `json:"permissionMode,omitempty"` // empty if unchanged
	Data           JSON   `json:"-" wire:"rest"`
}

// CompactBoundary marks the place at which the conversation was compacted. A summary replaces
// everything before it.
type CompactBoundary struct {
	Header    `wire:"session<compact_metadata,uuid"`
	Metadata  JSON   `json:"compact_metadata"` // the provider's complete metadata
	Trigger   string `json:"-"`                // manual, auto; empty if unknown
	PreTokens *int64 `json:"-"`                // nil if unknown
}

// TaskStarted reports the start of a task: a subagent, or a command that runs in the background.
type TaskStarted struct {
	Header         `wire:"session"`
	TaskID         string `json:"task_id"`
	TaskType       string `json:"task_type,omitempty"`
	Description    string `json:"description,omitempty"`
	ToolUseID      string `json:"tool_use_id,omitempty"`
	ParentTaskID   string `json:"parent_task_id,omitempty"`
	SubagentType   string `json:"subagent_type,omitempty"`
	IsBackgrounded bool   `json:"is_backgrounded,omitempty"`
	Data           JSON   `json:"-" wire:"rest"`
}

// TaskProgress reports the current activity of a task and its usage so far.
type TaskProgress struct {
	Header       `wire:"session"`
	TaskID       string `json:"task_id"`
	Description  string `json:"description,omitempty"`
	LastToolName string `json:"last_tool_name,omitempty"`
	Summary      string `json:"summary,omitempty"`
	Usage        JSON   `json:"usage,omitempty"`
	Data         JSON   `json:"-" wire:"rest"`
}

// TaskUpdated changes members of a task. Empty members have not changed since the last event about
// it.
type TaskUpdated struct {
	Header         `wire:"session"`
	TaskID         string `json:"task_id"`
	Status         string `json:"status,omitempty"`
	Description    string `json:"description,omitempty"`
	Error          string `json:"error,omitempty"`
	IsBackgrounded *bool  `json:"is_backgrounded,omitempty"`
	Data           JSON   `json:"-" wire:"rest"`
}

// TaskNotification reports that a task has ended, with its status, a summary, and the file with its
// output.
type TaskNotification struct {
	Header     `wire:"session"`
	TaskID     string `json:"task_id"`
	Status     string `json:"status,omitempty"` // completed, failed, stopped
	Summary    string `json:"summary,omitempty"`
	OutputFile string `json:"output_file,omitempty"`
	Usage      JSON   `json:"usage,omitempty"`
	Data       JSON   `json:"-" wire:"rest"`
}

// RateLimit reports the state of one of the account's limits. Info is the provider's description,
// undecoded.
type RateLimit struct {
	Header `wire:"session"`
	Info   JSON `json:"rate_limit_info"`
}

// SessionState reports the current state of the session. The set is open: idle, running,
// requires_action from an agent, more from a server.
type SessionState struct {
	Header `wire:"session"`
	State  string `json:"state"`
}

// QueueChanged is the complete queue of waiting inputs, in order. It replaces any earlier one. A client with
// [CapabilityQueueUpdated] gets it only if no part of the queue is unchanged, else [QueueUpdated].
type QueueChanged struct {
	Header `wire:"session"`
	Items  []QueueItem `json:"items"`
}

// QueueUpdated is a change of the queue. A new item is last; a changed one keeps its position and,
// if it has no content, its content. Removed items no longer wait. Order is present if the order
// has changed in another way: the ids of all waiting items.
type QueueUpdated struct {
	Header  `wire:"session"`
	Items   []QueueItem `json:"items,omitempty"`
	Removed []string    `json:"removed,omitempty"`
	Order   []string    `json:"order,omitempty"`
}

// QueueItem is an input that waits for its turn. Status is set if it also waits for a person to
// release it.
type QueueItem struct {
	ID       string `json:"id"`
	Content  JSON   `json:"content,omitempty"` // a string or blocks
	Priority string `json:"priority,omitempty"`
	Status   string `json:"status,omitempty"` // held or unknown: it waits for a person; empty is queued
}

// SessionInfo reports changes of a session. A nil member has not changed; one that points to an
// empty value was removed.
type SessionInfo struct {
	Header         `wire:"session,uuid"`
	Title          *string     `json:"title,omitempty"`
	Model          *string     `json:"model,omitempty"`
	PermissionMode *string     `json:"permissionMode,omitempty"`
	Sandbox        *string     `json:"sandbox,omitempty"`
	CWD            *string     `json:"cwd,omitempty"`
	Goal           *string     `json:"goal,omitempty"`        // the goal that the agent pursues without prompts
	Archived       *bool       `json:"archived,omitempty"`    // moved to the archive
	Deleted        *bool       `json:"deleted,omitempty"`     // deleted from the provider's history
	MCPServers     []MCPServer `json:"mcp_servers,omitempty"` // all servers with their current status
	Commands       JSON        `json:"commands,omitempty"`    // the available commands, as the provider describes them
	Data           JSON        `json:"-" wire:"rest"`         // the complete message
}
