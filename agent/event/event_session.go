package event

// SystemInit says what a session has, at the beginning of a turn. A list that is nil
// was not on the wire; one that is empty was, and had no element.
type SystemInit struct {
	Header         `wire:"session<cwd,uuid"`
	CWD            string      `json:"cwd"`
	Model          string      `json:"model"`
	PermissionMode string      `json:"permissionMode"`
	Sandbox        string      `json:"sandbox,omitempty"` // what commands may reach, where the provider has that apart from the mode
	APIKeySource   string      `json:"apiKeySource"`
	Tools          []string    `json:"tools,omitempty"`
	MCPServers     []MCPServer `json:"mcp_servers,omitempty"`
	SlashCommands  []string    `json:"slash_commands,omitempty"`
	Agents         []string    `json:"agents,omitempty"`
	Skills         []string    `json:"skills,omitempty"`
	OutputStyle    string      `json:"output_style,omitempty"`
	CLIVersion     string      `json:"claude_code_version,omitempty"` // of the agent's program
	Data           JSON        `json:"-" wire:"rest"`                 // the whole message
}

// MCPServer is an MCP server of the session with the status of its connection and, if that
// failed, the error.
type MCPServer struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Error  string `json:"error,omitempty"` // why it failed
}

// Status says what the agent is doing. An empty one means that it is done with it.
type Status struct {
	Header         `wire:"session,uuid"`
	Status         string `json:"status"`                   // requesting, compacting, reviewing, …
	PermissionMode string `json:"permissionMode,omitempty"` // empty where it has not changed
	Data           JSON   `json:"-" wire:"rest"`
}

// CompactBoundary marks the place at which the conversation was compacted. What came before is
// now a summary.
type CompactBoundary struct {
	Header    `wire:"session<compact_metadata,uuid"`
	Metadata  JSON   `json:"compact_metadata"` // all that the provider says of it
	Trigger   string `json:"-"`                // manual, auto; empty where it is not known
	PreTokens *int64 `json:"-"`                // nil where it is not known
}

// TaskStarted reports that a task has begun: a subagent, or a command that runs in the
// background.
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

// TaskProgress reports what a task is doing at the moment and what it has used so far.
type TaskProgress struct {
	Header       `wire:"session"`
	TaskID       string `json:"task_id"`
	Description  string `json:"description,omitempty"`
	LastToolName string `json:"last_tool_name,omitempty"`
	Summary      string `json:"summary,omitempty"`
	Usage        JSON   `json:"usage,omitempty"`
	Data         JSON   `json:"-" wire:"rest"`
}

// TaskUpdated changes members of a task. Those that are empty have not changed since the last
// event about it.
type TaskUpdated struct {
	Header         `wire:"session"`
	TaskID         string `json:"task_id"`
	Status         string `json:"status,omitempty"`
	Description    string `json:"description,omitempty"`
	Error          string `json:"error,omitempty"`
	IsBackgrounded *bool  `json:"is_backgrounded,omitempty"`
	Data           JSON   `json:"-" wire:"rest"`
}

// TaskNotification reports that a task has ended, with its status, a summary, and the file with
// its output.
type TaskNotification struct {
	Header     `wire:"session"`
	TaskID     string `json:"task_id"`
	Status     string `json:"status,omitempty"` // completed, failed, stopped
	Summary    string `json:"summary,omitempty"`
	OutputFile string `json:"output_file,omitempty"`
	Usage      JSON   `json:"usage,omitempty"`
	Data       JSON   `json:"-" wire:"rest"`
}

// RateLimit reports the state of one of the account's limits. Info is what the provider says of
// it, undecoded.
type RateLimit struct {
	Header `wire:"session"`
	Info   JSON `json:"rate_limit_info"`
}

// SessionState says what the session does now. The set is open: idle, running,
// requires_action from an agent, more from a server.
type SessionState struct {
	Header `wire:"session"`
	State  string `json:"state"`
}

// QueueChanged is the whole queue of the inputs that wait, in their order. It replaces any
// earlier one. A client with [CapabilityQueueUpdated] gets it only where nothing of the queue is as it was, else
// [QueueUpdated].
type QueueChanged struct {
	Header `wire:"session"`
	Items  []QueueItem `json:"items"`
}

// QueueUpdated is a change of the queue. An item that is new comes last; one that has changed keeps
// its place, and without a content the content that it had. An item of a removed id waits no
// longer. Order is present if the order has changed in another way: the ids of all that wait.
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
	Status   string `json:"status,omitempty"` // held, unknown: it waits for a person; empty is queued
}

// SessionInfo says what has changed about a session. A member that is nil has not
// changed; one that points to an empty value was taken away.
type SessionInfo struct {
	Header         `wire:"session,uuid"`
	Title          *string     `json:"title,omitempty"`
	Model          *string     `json:"model,omitempty"`
	PermissionMode *string     `json:"permissionMode,omitempty"`
	Sandbox        *string     `json:"sandbox,omitempty"`
	CWD            *string     `json:"cwd,omitempty"`
	Goal           *string     `json:"goal,omitempty"`        // what the agent works towards by itself
	Archived       *bool       `json:"archived,omitempty"`    // put away
	Deleted        *bool       `json:"deleted,omitempty"`     // gone from the provider's history
	MCPServers     []MCPServer `json:"mcp_servers,omitempty"` // all of them with how they are now
	Commands       JSON        `json:"commands,omitempty"`    // the commands that can be called now, as the provider describes them
	Data           JSON        `json:"-" wire:"rest"`         // the whole message
}
