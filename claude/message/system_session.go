package message

// SlashCommand is a command that a prompt can begin with, after a slash, with its description
// and its arguments.
type SlashCommand struct {
	Name         string   `json:"name"`
	Description  string   `json:"description"`
	ArgumentHint string   `json:"argumentHint"`
	Aliases      []string `json:"aliases,omitempty"`
	Builtin      bool     `json:"builtin,omitempty"`
}

// SessionState is the activity of a session. The set is open: a newer CLI may send values that
// have no constant here.
type SessionState string

// The states that are known. A newer CLI may send others, so a switch over them needs a default.
const (
	StateIdle           SessionState = "idle"
	StateRunning        SessionState = "running"
	StateRequiresAction SessionState = "requires_action" // a permission or a question is open
)

// SessionStateChanged reports that the session began to work, to wait for a person, or to be
// idle. Package claude consumes those with SDKHostOnly, which it requested itself, and does not
// deliver them.
type SessionStateChanged struct {
	System
	State       SessionState `json:"state"`
	SDKHostOnly bool         `json:"sdk_host_only,omitempty"`
}

// SessionTitleChanged reports the session's new title, whether a user, a program or the CLI
// itself has set it.
type SessionTitleChanged struct {
	System
	Title string `json:"title"`
}

// ThinkingTokens is a running estimate of the model's thinking tokens, in total and since the
// last estimate.
type ThinkingTokens struct {
	System
	EstimatedTokens      int64  `json:"estimated_tokens"`
	EstimatedTokensDelta int64  `json:"estimated_tokens_delta"`
	UserMessageUUID      string `json:"user_message_uuid,omitempty"`
}

// WorkerShuttingDown announces that the CLI's process is about to end, with the reason that the
// CLI gives for it.
type WorkerShuttingDown struct {
	System
	Reason string `json:"reason"`
}

// CommandsChanged has the new list of slash commands. It replaces the list that the session had
// before.
type CommandsChanged struct {
	System
	Commands []SlashCommand `json:"commands"`
}

// Notification is a short note that a user interface should show for a while, with its priority
// and duration.
type Notification struct {
	System
	Key       string `json:"key"`
	Text      string `json:"text"`
	Priority  string `json:"priority"` // low, medium, high, immediate
	Color     string `json:"color,omitempty"`
	TimeoutMS int64  `json:"timeout_ms,omitempty"`
}

// Informational is a note from the CLI that belongs to the flow of the conversation, with a
// level such as warning.
type Informational struct {
	System
	Content             string               `json:"content"`
	Level               string               `json:"level"` // info, notice, suggestion, warning
	Tag                 string               `json:"tag,omitempty"`
	ToolUseID           string               `json:"tool_use_id,omitempty"`
	PreventContinuation bool                 `json:"prevent_continuation,omitempty"`
	PromptSubmitOutcome *PromptSubmitOutcome `json:"prompt_submit_outcome,omitempty"`
}

// PromptSubmitOutcome reports the effect of a UserPromptSubmit hook on a prompt, and whether the
// prompt was kept.
type PromptSubmitOutcome struct {
	Kind       string `json:"kind"`
	PromptKept bool   `json:"prompt_kept"`
	Reason     string `json:"reason,omitempty"`
}

// PluginInstall reports the progress of installing plugins. Name and Error are set if it
// concerns a single plugin.
type PluginInstall struct {
	System
	Status string `json:"status"` // started, installed, failed, completed
	Name   string `json:"name,omitempty"`
	Error  string `json:"error,omitempty"`
}

// PermissionDenied reports that a tool call was denied without asking. It is advisory: the
// complete list of a turn is [Result.PermissionDenials].
type PermissionDenied struct {
	System
	ToolName           string `json:"tool_name"`
	ToolUseID          string `json:"tool_use_id"`
	AgentID            string `json:"agent_id,omitempty"`
	DecisionReasonType string `json:"decision_reason_type,omitempty"`
	DecisionReason     string `json:"decision_reason,omitempty"`
	Message            string `json:"message"`
}

// ElicitationComplete reports that a question of an MCP server, which the user answered at an
// address, is done.
type ElicitationComplete struct {
	System
	MCPServerName string `json:"mcp_server_name"`
	ElicitationID string `json:"elicitation_id"`
}

// FilesPersisted lists the files that the CLI has stored, those that it could not store, and
// when.
type FilesPersisted struct {
	System
	Files       []PersistedFile `json:"files"`
	Failed      []PersistedFile `json:"failed"`
	ProcessedAt string          `json:"processed_at"`
}

// PersistedFile is a file that was stored, with its id, or that could not be stored, with the
// error.
type PersistedFile struct {
	Filename string `json:"filename"`
	FileID   string `json:"file_id,omitempty"`
	Error    string `json:"error,omitempty"`
}

// MemoryRecall lists the memories that the CLI brought into the context, verbatim or as a
// synthesis.
type MemoryRecall struct {
	System
	Mode     string   `json:"mode"` // select, synthesize
	Memories []Memory `json:"memories"`
}

// Memory is one memory that was brought into the context: its file, its scope, and optionally
// its content.
type Memory struct {
	Path    string `json:"path"`
	Scope   string `json:"scope"` // personal, team, organization
	Content string `json:"content,omitempty"`
}

// MirrorError reports that a session store rejected a batch of entries. It is written by SDKs,
// not by the CLI.
type MirrorError struct {
	System
	Error string    `json:"error"`
	Key   MirrorKey `json:"key"`
}

// MirrorKey identifies a transcript in a session store, in the same three parts as
// claude.SessionKey.
type MirrorKey struct {
	ProjectKey string `json:"projectKey"`
	SessionID  string `json:"sessionId"`
	Subpath    string `json:"subpath,omitempty"`
}

// SessionWritesLost lists the files that the CLI could not write because the disk was full. The
// CLI sends it when it exits.
type SessionWritesLost struct {
	System
	ErrorCode            string   `json:"error_code"` // ENOSPC, EDQUOT
	Lost                 []string `json:"lost"`       // transcript, global_config
	TranscriptSessionIDs []string `json:"transcript_session_ids,omitempty"`
}
