package message

// SlashCommand is a command that a prompt can begin with.
type SlashCommand struct {
	Name         string   `json:"name"`
	Description  string   `json:"description"`
	ArgumentHint string   `json:"argumentHint"`
	Aliases      []string `json:"aliases,omitempty"`
	Builtin      bool     `json:"builtin,omitempty"`
}

// SessionState is what a session is doing. The set is open.
type SessionState string

// The states that are known.
const (
	StateIdle           SessionState = "idle"
	StateRunning        SessionState = "running"
	StateRequiresAction SessionState = "requires_action" // a permission or a question is open
)

// SessionStateChanged says what the session does now. With SDKHostOnly
// set it is meant for this package and not delivered.
type SessionStateChanged struct {
	System
	State       SessionState `json:"state"`
	SDKHostOnly bool         `json:"sdk_host_only,omitempty"`
}

// SessionTitleChanged has the session's new title.
type SessionTitleChanged struct {
	System
	Title string `json:"title"`
}

// ThinkingTokens is a running estimate of what is being thought.
type ThinkingTokens struct {
	System
	EstimatedTokens      int64  `json:"estimated_tokens"`
	EstimatedTokensDelta int64  `json:"estimated_tokens_delta"`
	UserMessageUUID      string `json:"user_message_uuid,omitempty"`
}

// WorkerShuttingDown announces the end of the process.
type WorkerShuttingDown struct {
	System
	Reason string `json:"reason"`
}

// CommandsChanged has the new list of slash commands.
type CommandsChanged struct {
	System
	Commands []SlashCommand `json:"commands"`
}

// Notification is a note for the user interface.
type Notification struct {
	System
	Key       string `json:"key"`
	Text      string `json:"text"`
	Priority  string `json:"priority"` // low, medium, high, immediate
	Color     string `json:"color,omitempty"`
	TimeoutMS int64  `json:"timeout_ms,omitempty"`
}

// Informational is a note in the flow of the conversation.
type Informational struct {
	System
	Content             string               `json:"content"`
	Level               string               `json:"level"` // info, notice, suggestion, warning
	Tag                 string               `json:"tag,omitempty"`
	ToolUseID           string               `json:"tool_use_id,omitempty"`
	PreventContinuation bool                 `json:"prevent_continuation,omitempty"`
	PromptSubmitOutcome *PromptSubmitOutcome `json:"prompt_submit_outcome,omitempty"`
}

// PromptSubmitOutcome says what a hook did to a prompt.
type PromptSubmitOutcome struct {
	Kind       string `json:"kind"`
	PromptKept bool   `json:"prompt_kept"`
	Reason     string `json:"reason,omitempty"`
}

// PluginInstall tells how the installing of plugins goes.
type PluginInstall struct {
	System
	Status string `json:"status"` // started, installed, failed, completed
	Name   string `json:"name,omitempty"`
	Error  string `json:"error,omitempty"`
}

// PermissionDenied says that a tool was not allowed. It is a note; the
// record is [Result.PermissionDenials].
type PermissionDenied struct {
	System
	ToolName           string `json:"tool_name"`
	ToolUseID          string `json:"tool_use_id"`
	AgentID            string `json:"agent_id,omitempty"`
	DecisionReasonType string `json:"decision_reason_type,omitempty"`
	DecisionReason     string `json:"decision_reason,omitempty"`
	Message            string `json:"message"`
}

// ElicitationComplete says that a question of an MCP server is answered.
type ElicitationComplete struct {
	System
	MCPServerName string `json:"mcp_server_name"`
	ElicitationID string `json:"elicitation_id"`
}

// FilesPersisted lists files that were stored.
type FilesPersisted struct {
	System
	Files       []PersistedFile `json:"files"`
	Failed      []PersistedFile `json:"failed"`
	ProcessedAt string          `json:"processed_at"`
}

// PersistedFile is a file that was stored, or was not.
type PersistedFile struct {
	Filename string `json:"filename"`
	FileID   string `json:"file_id,omitempty"`
	Error    string `json:"error,omitempty"`
}

// MemoryRecall lists memories that were brought in.
type MemoryRecall struct {
	System
	Mode     string   `json:"mode"` // select, synthesize
	Memories []Memory `json:"memories"`
}

// Memory is one memory.
type Memory struct {
	Path    string `json:"path"`
	Scope   string `json:"scope"` // personal, team, organization
	Content string `json:"content,omitempty"`
}

// MirrorError says that a session store did not take a batch. No CLI
// writes it; SDKs do.
type MirrorError struct {
	System
	Error string    `json:"error"`
	Key   MirrorKey `json:"key"`
}

// MirrorKey names a transcript in a session store.
type MirrorKey struct {
	ProjectKey string `json:"projectKey"`
	SessionID  string `json:"sessionId"`
	Subpath    string `json:"subpath,omitempty"`
}

// SessionWritesLost comes at the end when the disk was full.
type SessionWritesLost struct {
	System
	ErrorCode            string   `json:"error_code"` // ENOSPC, EDQUOT
	Lost                 []string `json:"lost"`       // transcript, global_config
	TranscriptSessionIDs []string `json:"transcript_session_ids,omitempty"`
}
