package api

import "github.com/seed7221b0f9/parley/agent/event"

// ConnectParams starts an agent in a new session, or resumes one. Absent members have the server's
// defaults.
type ConnectParams struct {
	Idempotency
	Provider                        string            `json:"provider,omitempty"`
	CWD                             string            `json:"cwd,omitempty"`
	Model                           string            `json:"model,omitempty"`
	Title                           string            `json:"title,omitempty"`
	WorkspaceID                     string            `json:"workspace_id,omitempty"` // from workspace.create; instead of cwd
	Effort                          string            `json:"effort,omitempty"`
	Sandbox                         string            `json:"sandbox,omitempty"` // the box that the agent runs in: bwrap, none; empty is the server's choice
	Machine                         string            `json:"machine,omitempty"` // a machine that has joined; empty is the server's
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
	WaitForRateLimit                bool              `json:"wait_for_rate_limit,omitempty"` // continue automatically when a rate limit is reset
	MCPServers                      event.JSON        `json:"mcp_servers,omitempty"`
	Agents                          event.JSON        `json:"agents,omitempty"`
	Metadata                        map[string]string `json:"metadata,omitempty"`
}

// ConnectResult describes a connected session: its id, its agent, its model, and its capabilities.
type ConnectResult struct {
	SessionID    string       `json:"session_id"`
	Provider     string       `json:"provider"`
	Status       string       `json:"status"`
	Model        string       `json:"model,omitempty"`
	CWD          string       `json:"cwd,omitempty"`
	Capabilities Capabilities `json:"capabilities"`
}

// Capabilities lists the features of a session, so that clients offer only those that its agent supports.
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
	SupportedEfforts         []string `json:"supported_efforts,omitempty"` // for session.setEffort; a model may have fewer
}

// QueryParams sends a text to a session as a prompt. It waits in the queue during a turn.
type QueryParams struct {
	Idempotency
	SessionID string       `json:"session_id"`
	Text      string       `json:"text"`
	Contexts  []event.JSON `json:"contexts,omitempty"`
	Language  string       `json:"language,omitempty"` // language of the labels of the contexts: zh, en
	Priority  string       `json:"priority,omitempty"`
}

// QueryWithContentParams sends content blocks, such as images, to a session as a prompt, in the
// form of the API.
type QueryWithContentParams struct {
	Idempotency
	SessionID string       `json:"session_id"`
	Content   []event.JSON `json:"content"` // blocks of the API
	Contexts  []event.JSON `json:"contexts,omitempty"`
	Language  string       `json:"language,omitempty"` // language of the labels of the contexts: zh, en
	Priority  string       `json:"priority,omitempty"`
}

// AttachParams starts to follow a session. With a cursor, the messages after it are sent; a cursor
// with Seq 0 is the start of the log. Without a cursor the result has a snapshot.
type AttachParams struct {
	SessionID string  `json:"session_id"`
	After     *Cursor `json:"after,omitempty"`
}

// AttachResult is the position from which messages follow. Snapshot is the conversation up to
// there; it is set without a cursor, and with Resync if the cursor could not be used.
type AttachResult struct {
	Cursor   Cursor     `json:"cursor"`
	State    string     `json:"state"`
	Resync   bool       `json:"resync,omitempty"`
	Snapshot event.JSON `json:"snapshot,omitempty"` // a event.Conversation
}

// ListParams requests the sessions of the server, by project, state or provider. Empty members
// select all.
type ListParams struct {
	Project  string `json:"project,omitempty"`
	State    string `json:"state,omitempty"`
	Provider string `json:"provider,omitempty"`
	Archived bool   `json:"archived,omitempty"` // archived sessions instead of the others
}

// ListResult lists the requested sessions of the server, each with its title, its state and its
// model.
type ListResult struct {
	Sessions []SessionSummary `json:"sessions"`
}

// SessionSummary describes a session of the server in a list: title, state, model and more.
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
	Live           string `json:"live,omitempty"` // where else it is open: terminal
	Workspace      string `json:"workspace,omitempty"`
	Repo           string `json:"repo,omitempty"` // of a worktree: the repository that it was made from
	Branch         string `json:"branch,omitempty"`
	Turns          int64  `json:"turns,omitempty"`
	Viewers        int64  `json:"viewers"`
	Queued         int64  `json:"queued"`
	Prompts        int64  `json:"prompts"` // number of open requests
	UpdatedAt      string `json:"updated_at,omitempty"`
	LimitedUntil   string `json:"limited_until,omitempty"` // end of a rate limit
	// CostUSD is absent where the agent does not report it.
	CostUSD *float64 `json:"cost_usd,omitempty"`
	// AgentSessionID is the agent's id of the session, for the history methods.
	AgentSessionID string            `json:"agent_session_id,omitempty"`
	Effort         string            `json:"effort,omitempty"`
	Metadata       map[string]string `json:"metadata,omitempty"` // from session.connect or session.fork
	Box            *Box              `json:"box,omitempty"`      // absent if the agent runs in none
	Machine        string            `json:"machine,omitempty"`  // that the agent runs on; absent for the server's
	// Capabilities are known once an agent has run since the start of the server.
	Capabilities *Capabilities `json:"capabilities,omitempty"`
}

// Box describes the box that the agent of a session runs in.
type Box struct {
	Kind        string `json:"kind"`        // bwrap
	Network     string `json:"network"`     // off, allow for some hosts, on
	Credentials bool   `json:"credentials"` // the agent can read a login, or a variable or an MCP server that may have a secret
}

// Sealed reports whether a box holds no credentials and reaches no host, or only those of a list. A missing box is not sealed.
func (b *Box) Sealed() bool {
	return b != nil && (b.Network == "off" || b.Network == "allow") && !b.Credentials
}

// StatusResult reports the status of a session after a method without another result.
type StatusResult struct {
	Status string `json:"status"`
}

// InterruptResult lists the inputs that an interrupt dropped and those that will still run.
type InterruptResult struct {
	Status      string   `json:"status"`
	Dropped     []string `json:"dropped"`
	StillQueued []string `json:"still_queued"`
}

// SetModelParams changes the model of a running session. An empty model is the agent's default.
type SetModelParams struct {
	SessionID string `json:"session_id"`
	Model     string `json:"model,omitempty"`
}

// SetModelResult is the new model of the session, with the agent's name for it.
type SetModelResult struct {
	Model string `json:"model,omitempty"`
}

// SetPermissionModeParams changes the permission mode of a running session. The available modes
// depend on the agent.
type SetPermissionModeParams struct {
	SessionID string `json:"session_id"`
	Mode      string `json:"mode"`
}

// SetPermissionModeResult is the new permission mode of the session, with the agent's name for it.
type SetPermissionModeResult struct {
	Mode string `json:"mode"`
}

// SetMaxThinkingTokensParams changes the limit of thinking tokens. Absent means the default, and 0
// turns thinking off.
type SetMaxThinkingTokensParams struct {
	SessionID         string `json:"session_id"`
	MaxThinkingTokens *int64 `json:"max_thinking_tokens,omitempty"`
}

// SetEffortParams changes the effort of the model of a running session. Empty is the agent's
// choice.
type SetEffortParams struct {
	SessionID string `json:"session_id"`
	Effort    string `json:"effort,omitempty"`
}

// ForkParams creates a session with the messages of another one, all of them or those up to At.
type ForkParams struct {
	SessionID string            `json:"session_id"`
	At        string            `json:"at,omitempty"`       // the uuid of its last message
	Metadata  map[string]string `json:"metadata,omitempty"` // of the new session, replacing the other's
}

// RewindParams restores the files of a session to their state at a prompt. A dry run only reports.
type RewindParams struct {
	SessionID     string `json:"session_id"`
	UserMessageID string `json:"user_message_id"`
	DryRun        bool   `json:"dry_run,omitempty"`
}

// RewindResult reports which files were restored, or on a dry run would be, and the number of
// changed lines.
type RewindResult struct {
	CanRewind    bool     `json:"can_rewind"`
	FilesChanged []string `json:"files_changed,omitempty"`
	Insertions   int64    `json:"insertions,omitempty"`
	Deletions    int64    `json:"deletions,omitempty"`
	Error        string   `json:"error,omitempty"`
}

// GetHistoryResult is the conversation of a session so far, and the cursor from which to follow it.
type GetHistoryResult struct {
	Cursor       Cursor     `json:"cursor"`
	Conversation event.JSON `json:"conversation"` // a event.Conversation
}

// SessionRenameParams sets the title of a session. An empty one restores the default title.
type SessionRenameParams struct {
	SessionID string `json:"session_id"`
	Title     string `json:"title"`
}

// SessionDeleteParams deletes a session permanently, with its log, deltas, snapshots and uploads.
// With AgentFiles the agent's files of the session are deleted as well.
type SessionDeleteParams struct {
	SessionID  string `json:"session_id"`
	AgentFiles bool   `json:"agent_files,omitempty"`
}

// HandBackResult is the command with which a session continues in a terminal, and the directory to
// run it in.
type HandBackResult struct {
	Command string `json:"command"` // such as claude --resume ID
	CWD     string `json:"cwd,omitempty"`
}
