package event

// SystemInit says what a session has, at the beginning of a turn. A list that is nil
// was not on the wire; one that is empty was, and had no element.
type SystemInit struct {
	Header
	CWD            string
	Model          string
	PermissionMode string
	Sandbox        string // what commands may reach, where the provider has that apart from the mode
	APIKeySource   string
	Tools          []string
	MCPServers     []MCPServer
	SlashCommands  []string
	Agents         []string
	Skills         []string
	OutputStyle    string
	CLIVersion     string // of the agent's program
	Data           JSON   // the whole message
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
	Header
	Status         string // requesting, compacting, reviewing, …
	PermissionMode string // empty where it has not changed
	Data           JSON
}

// CompactBoundary marks the place at which the conversation was compacted. What came before is
// now a summary.
type CompactBoundary struct {
	Header
	Trigger   string // manual, auto; empty where it is not known
	PreTokens *int64 // nil where it is not known
	Metadata  JSON   // all that the provider says of it
}

// TaskStarted reports that a task has begun: a subagent, or a command that runs in the
// background.
type TaskStarted struct {
	Header
	TaskID         string
	TaskType       string
	Description    string
	ToolUseID      string
	ParentTaskID   string
	SubagentType   string
	IsBackgrounded bool
	Data           JSON
}

// TaskProgress reports what a task is doing at the moment and what it has used so far.
type TaskProgress struct {
	Header
	TaskID       string
	Description  string
	LastToolName string
	Summary      string
	Usage        JSON
	Data         JSON
}

// TaskUpdated changes members of a task. Those that are empty have not changed since the last
// event about it.
type TaskUpdated struct {
	Header
	TaskID         string
	Status         string
	Description    string
	Error          string
	IsBackgrounded *bool
	Data           JSON
}

// TaskNotification reports that a task has ended, with its status, a summary, and the file with
// its output.
type TaskNotification struct {
	Header
	TaskID     string
	Status     string // completed, failed, stopped
	Summary    string
	OutputFile string
	Usage      JSON
	Data       JSON
}

// RateLimit reports the state of one of the account's limits. Info is what the provider says of
// it, undecoded.
type RateLimit struct {
	Header
	Info JSON
}

// SessionState says what the session does now. The set is open: idle, running,
// requires_action from an agent, more from a server.
type SessionState struct {
	Header
	State string
}

// QueueChanged is the whole queue of the inputs that wait, in their order. It replaces any
// earlier one.
type QueueChanged struct {
	Header
	Items []QueueItem
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
	Header
	Title          *string
	Model          *string
	PermissionMode *string
	Sandbox        *string
	CWD            *string
	Goal           *string     // what the agent works towards by itself
	Archived       *bool       // put away
	Deleted        *bool       // gone from the provider's history
	MCPServers     []MCPServer // all of them with how they are now
	Commands       JSON        // the commands that can be called now, as the provider describes them
	Data           JSON        // the whole message
}
