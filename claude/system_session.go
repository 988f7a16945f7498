package claude

// SessionState is what a session is doing. The set is open.
type SessionState string

// The states that are known.
const (
	StateIdle           SessionState = "idle"
	StateRunning        SessionState = "running"
	StateRequiresAction SessionState = "requires_action" // a permission or a question is open
)

// SessionStateChangedMessage says what the session does now. With SDKHostOnly
// set it is meant for this package and not delivered.
type SessionStateChangedMessage struct {
	SystemMessage
	State       SessionState `json:"state"`
	SDKHostOnly bool         `json:"sdk_host_only,omitempty"`
}

// SessionTitleChangedMessage has the session's new title.
type SessionTitleChangedMessage struct {
	SystemMessage
	Title string `json:"title"`
}

// ThinkingTokensMessage is a running estimate of what is being thought.
type ThinkingTokensMessage struct {
	SystemMessage
	EstimatedTokens      int64  `json:"estimated_tokens"`
	EstimatedTokensDelta int64  `json:"estimated_tokens_delta"`
	UserMessageUUID      string `json:"user_message_uuid,omitempty"`
}

// WorkerShuttingDownMessage announces the end of the process.
type WorkerShuttingDownMessage struct {
	SystemMessage
	Reason string `json:"reason"`
}

// CommandsChangedMessage has the new list of slash commands.
type CommandsChangedMessage struct {
	SystemMessage
	Commands []SlashCommand `json:"commands"`
}

// NotificationMessage is a note for the user interface.
type NotificationMessage struct {
	SystemMessage
	Key       string `json:"key"`
	Text      string `json:"text"`
	Priority  string `json:"priority"` // low, medium, high, immediate
	Color     string `json:"color,omitempty"`
	TimeoutMS int64  `json:"timeout_ms,omitempty"`
}

// InformationalMessage is a note in the flow of the conversation.
type InformationalMessage struct {
	SystemMessage
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

// PluginInstallMessage tells how the installing of plugins goes.
type PluginInstallMessage struct {
	SystemMessage
	Status string `json:"status"` // started, installed, failed, completed
	Name   string `json:"name,omitempty"`
	Error  string `json:"error,omitempty"`
}

// PermissionDeniedMessage says that a tool was not allowed. It is a note; the
// record is [ResultMessage.PermissionDenials].
type PermissionDeniedMessage struct {
	SystemMessage
	ToolName           string `json:"tool_name"`
	ToolUseID          string `json:"tool_use_id"`
	AgentID            string `json:"agent_id,omitempty"`
	DecisionReasonType string `json:"decision_reason_type,omitempty"`
	DecisionReason     string `json:"decision_reason,omitempty"`
	Message            string `json:"message"`
}

// ElicitationCompleteMessage says that a question of an MCP server is answered.
type ElicitationCompleteMessage struct {
	SystemMessage
	MCPServerName string `json:"mcp_server_name"`
	ElicitationID string `json:"elicitation_id"`
}

// FilesPersistedMessage lists files that were stored.
type FilesPersistedMessage struct {
	SystemMessage
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

// MemoryRecallMessage lists memories that were brought in.
type MemoryRecallMessage struct {
	SystemMessage
	Mode     string   `json:"mode"` // select, synthesize
	Memories []Memory `json:"memories"`
}

// Memory is one memory.
type Memory struct {
	Path    string `json:"path"`
	Scope   string `json:"scope"` // personal, team, organization
	Content string `json:"content,omitempty"`
}

// MirrorErrorMessage says that a session store did not take a batch. No CLI
// writes it; SDKs do.
type MirrorErrorMessage struct {
	SystemMessage
	Error string    `json:"error"`
	Key   MirrorKey `json:"key"`
}

// MirrorKey names a transcript in a session store.
type MirrorKey struct {
	ProjectKey string `json:"projectKey"`
	SessionID  string `json:"sessionId"`
	Subpath    string `json:"subpath,omitempty"`
}

// SessionWritesLostMessage comes at the end when the disk was full.
type SessionWritesLostMessage struct {
	SystemMessage
	ErrorCode            string   `json:"error_code"` // ENOSPC, EDQUOT
	Lost                 []string `json:"lost"`       // transcript, global_config
	TranscriptSessionIDs []string `json:"transcript_session_ids,omitempty"`
}
