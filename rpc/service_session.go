package rpc

import "github.com/seed7221b0f9/parley/ui"

// ConnectParams start an agent, or resume one.
type ConnectParams struct {
	Idempotency
	Provider                        string            `json:"provider,omitempty"`
	CWD                             string            `json:"cwd,omitempty"`
	Model                           string            `json:"model,omitempty"`
	Title                           string            `json:"title,omitempty"`
	WorkspaceID                     string            `json:"workspace_id,omitempty"` // of workspace.create; in place of cwd
	Effort                          string            `json:"effort,omitempty"`
	Sandbox                         string            `json:"sandbox,omitempty"`
	FallbackModel                   string            `json:"fallback_model,omitempty"`
	SystemPrompt                    string            `json:"system_prompt,omitempty"`
	AppendSystemPrompt              string            `json:"append_system_prompt,omitempty"`
	InitialPrompt                   string            `json:"initial_prompt,omitempty"`
	SessionID                       string            `json:"session_id,omitempty"`
	ResumeSessionID                 string            `json:"resume_session_id,omitempty"`
	ContinueConversation            bool              `json:"continue_conversation,omitempty"`
	ForkSession                     bool              `json:"fork_session,omitempty"`
	PermissionMode                  string            `json:"permission_mode,omitempty"`
	DangerouslySkipPermissions      bool              `json:"dangerously_skip_permissions,omitempty"`
	AllowDangerouslySkipPermissions bool              `json:"allow_dangerously_skip_permissions,omitempty"`
	AllowedTools                    []string          `json:"allowed_tools,omitempty"`
	DisallowedTools                 []string          `json:"disallowed_tools,omitempty"`
	AdditionalDirectories           []string          `json:"additional_directories,omitempty"`
	SettingSources                  []string          `json:"setting_sources,omitempty"`
	IncludePartialMessages          *bool             `json:"include_partial_messages,omitempty"`
	ReplayUserMessages              bool              `json:"replay_user_messages,omitempty"`
	MaxThinkingTokens               *int64            `json:"max_thinking_tokens,omitempty"`
	MaxTurns                        int64             `json:"max_turns,omitempty"`
	MaxBudgetUSD                    *float64          `json:"max_budget_usd,omitempty"`
	WaitForRateLimit                bool              `json:"wait_for_rate_limit,omitempty"` // go on by itself when a rate limit is reset
	MCPServers                      ui.JSON           `json:"mcp_servers,omitempty"`
	Agents                          ui.JSON           `json:"agents,omitempty"`
	Metadata                        map[string]string `json:"metadata,omitempty"`
}

// ConnectResult is a session that is there.
type ConnectResult struct {
	SessionID    string       `json:"session_id"`
	Provider     string       `json:"provider"`
	Status       string       `json:"status"`
	Model        string       `json:"model,omitempty"`
	CWD          string       `json:"cwd,omitempty"`
	Capabilities Capabilities `json:"capabilities"`
}

// Capabilities are what a session can do.
type Capabilities struct {
	CanInterrupt             bool     `json:"can_interrupt"`
	CanSwitchModel           bool     `json:"can_switch_model"`
	CanSwitchPermissionMode  bool     `json:"can_switch_permission_mode"`
	SupportedPermissionModes []string `json:"supported_permission_modes"`
	CanSkipPermissions       bool     `json:"can_skip_permissions"`
	CanSendRichContent       bool     `json:"can_send_rich_content"`
	CanThink                 bool     `json:"can_think"`
	CanResumeSession         bool     `json:"can_resume_session"`
	CanRunInBackground       bool     `json:"can_run_in_background"`
	CanFork                  bool     `json:"can_fork"`
	CanRewind                bool     `json:"can_rewind"`
	SupportedEfforts         []string `json:"supported_efforts,omitempty"` // of session.setEffort; a model may have fewer
}

// QueryParams send a text.
type QueryParams struct {
	Idempotency
	SessionID string    `json:"session_id"`
	Text      string    `json:"text"`
	Contexts  []ui.JSON `json:"contexts,omitempty"`
	Priority  string    `json:"priority,omitempty"`
}

// QueryWithContentParams send blocks.
type QueryWithContentParams struct {
	Idempotency
	SessionID string    `json:"session_id"`
	Content   []ui.JSON `json:"content"` // blocks of the API
	Contexts  []ui.JSON `json:"contexts,omitempty"`
	Priority  string    `json:"priority,omitempty"`
}

// AttachParams begin to follow a session. With a cursor the messages after it follow; the
// cursor with Seq 0 is the beginning. Without one the answer has a snapshot.
type AttachParams struct {
	SessionID string  `json:"session_id"`
	After     *Cursor `json:"after,omitempty"`
}

// AttachResult is where the messages that follow begin. Snapshot is the conversation
// up to there, where there was no cursor or, with Resync, where it could not be used.
type AttachResult struct {
	Cursor   Cursor  `json:"cursor"`
	State    string  `json:"state"`
	Resync   bool    `json:"resync,omitempty"`
	Snapshot ui.JSON `json:"snapshot,omitempty"` // a ui.Conversation
}

// ListParams ask for sessions.
type ListParams struct {
	Project  string `json:"project,omitempty"`
	State    string `json:"state,omitempty"`
	Provider string `json:"provider,omitempty"`
	Archived bool   `json:"archived,omitempty"` // those that are put away, instead of the others
}

// ListResult are sessions.
type ListResult struct {
	Sessions []SessionSummary `json:"sessions"`
}

// SessionSummary is a session of the server.
type SessionSummary struct {
	SessionID      string `json:"session_id"`
	Title          string `json:"title,omitempty"`
	State          string `json:"state"`
	Model          string `json:"model,omitempty"`
	CWD            string `json:"cwd,omitempty"`
	PermissionMode string `json:"permission_mode,omitempty"`
	Seq            uint64 `json:"seq"`
	Provider       string `json:"provider,omitempty"`
	Archived       bool   `json:"archived,omitempty"`
	Live           string `json:"live,omitempty"` // where else it runs: terminal
	Workspace      string `json:"workspace,omitempty"`
	Viewers        int64  `json:"viewers"`
	Queued         int64  `json:"queued"`
	Prompts        int64  `json:"prompts"` // that wait for an answer
	UpdatedAt      string `json:"updated_at,omitempty"`
	LimitedUntil   string `json:"limited_until,omitempty"` // a rate limit is reached until then
	// AgentSessionID is the agent's own id of the session: the one of history methods.
	AgentSessionID string            `json:"agent_session_id,omitempty"`
	Effort         string            `json:"effort,omitempty"`
	Metadata       map[string]string `json:"metadata,omitempty"` // of session.connect or session.fork
	// Capabilities are known once an agent has run since the start of the server.
	Capabilities *Capabilities `json:"capabilities,omitempty"`
}

// StatusResult says what became of a session.
type StatusResult struct {
	Status string `json:"status"`
}

// InterruptResult says what an interrupt dropped.
type InterruptResult struct {
	Status      string   `json:"status"`
	Dropped     []string `json:"dropped"`
	StillQueued []string `json:"still_queued"`
}

// SetModelParams change the model of a running session; empty is the default.
type SetModelParams struct {
	SessionID string `json:"session_id"`
	Model     string `json:"model,omitempty"`
}

// SetModelResult is the model from now on.
type SetModelResult struct {
	Model string `json:"model,omitempty"`
}

// SetPermissionModeParams change the permission mode.
type SetPermissionModeParams struct {
	SessionID string `json:"session_id"`
	Mode      string `json:"mode"`
}

// SetPermissionModeResult is the mode from now on.
type SetPermissionModeResult struct {
	Mode string `json:"mode"`
}

// SetMaxThinkingTokensParams change how much the model may think; absent is the
// default, 0 is not at all.
type SetMaxThinkingTokensParams struct {
	SessionID         string `json:"session_id"`
	MaxThinkingTokens *int64 `json:"max_thinking_tokens,omitempty"`
}

// SetEffortParams change how hard the model tries; empty is the agent's own choice.
type SetEffortParams struct {
	SessionID string `json:"session_id"`
	Effort    string `json:"effort,omitempty"`
}

// ForkParams make a session that begins as another one did.
type ForkParams struct {
	SessionID string            `json:"session_id"`
	At        string            `json:"at,omitempty"`       // the uuid of its last message
	Metadata  map[string]string `json:"metadata,omitempty"` // of the new session, in place of the other's
}

// RewindParams take files back to where they were at a prompt.
type RewindParams struct {
	SessionID     string `json:"session_id"`
	UserMessageID string `json:"user_message_id"`
	DryRun        bool   `json:"dry_run,omitempty"`
}

// RewindResult says what was taken back.
type RewindResult struct {
	CanRewind    bool     `json:"can_rewind"`
	FilesChanged []string `json:"files_changed,omitempty"`
	Insertions   int64    `json:"insertions,omitempty"`
	Deletions    int64    `json:"deletions,omitempty"`
	Error        string   `json:"error,omitempty"`
}

// GetHistoryResult is the conversation so far.
type GetHistoryResult struct {
	Cursor       Cursor  `json:"cursor"`
	Conversation ui.JSON `json:"conversation"` // a ui.Conversation
}

// SessionRenameParams give a session a title; an empty one makes it the default again.
type SessionRenameParams struct {
	SessionID string `json:"session_id"`
	Title     string `json:"title"`
}

// SessionDeleteParams remove a session: log, deltas, snapshots and uploads, and the
// agent's own files where it is asked for.
type SessionDeleteParams struct {
	SessionID  string `json:"session_id"`
	AgentFiles bool   `json:"agent_files,omitempty"`
}

// HandBackResult is how a session goes on in a terminal.
type HandBackResult struct {
	Command string `json:"command"` // such as claude --resume ID
	CWD     string `json:"cwd,omitempty"`
}
