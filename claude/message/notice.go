package message

// ToolProgress reports that a tool is still running, and the seconds since the call began.
type ToolProgress struct {
	Header
	ToolUseID          string         `json:"tool_use_id"`
	ToolName           string         `json:"tool_name"`
	ParentToolUseID    string         `json:"parent_tool_use_id,omitempty"`
	ElapsedTimeSeconds float64        `json:"elapsed_time_seconds"`
	TaskID             string         `json:"task_id,omitempty"`
	Heartbeat          bool           `json:"heartbeat,omitempty"`
	SubagentType       string         `json:"subagent_type,omitempty"`
	SubagentRetry      *SubagentRetry `json:"subagent_retry,omitempty"`
}

// SubagentRetry describes a failed API call of a subagent that the CLI will retry after a delay.
type SubagentRetry struct {
	AgentID       string  `json:"agent_id"`
	Attempt       int64   `json:"attempt"`
	MaxRetries    int64   `json:"max_retries"`
	RetryDelayMS  float64 `json:"retry_delay_ms"`
	ErrorStatus   int64   `json:"error_status,omitempty"`
	ErrorCategory string  `json:"error_category"`
}

// ToolUseSummary summarizes several tool calls in one sentence for display. PrecedingToolUseIDs
// are the ids of those calls.
type ToolUseSummary struct {
	Header
	Summary             string   `json:"summary"`
	PrecedingToolUseIDs []string `json:"preceding_tool_use_ids"`
}

// AuthStatus reports the progress of a login that the CLI performs: whether it is in progress,
// its output, and its error.
type AuthStatus struct {
	Header
	IsAuthenticating bool     `json:"isAuthenticating"`
	Output           []string `json:"output"`
	Error            string   `json:"error,omitempty"`
}

// RateLimitEvent reports the state of the account's rate limits. The CLI sends it when the
// state changes.
type RateLimitEvent struct {
	Header
	RateLimitInfo RateLimitInfo `json:"rate_limit_info"`
}

// RateLimitInfo is the state of one rate limit and of the paid usage beyond it. Times are in
// seconds since 1970.
type RateLimitInfo struct {
	Status                          string  `json:"status"`                  // allowed, allowed_warning, rejected
	ResetsAt                        float64 `json:"resetsAt,omitempty"`      // seconds since 1970
	RateLimitType                   string  `json:"rateLimitType,omitempty"` // five_hour, seven_day, seven_day_opus, overage, …
	Utilization                     float64 `json:"utilization,omitempty"`   // a fraction of the limit
	OverageStatus                   string  `json:"overageStatus,omitempty"`
	OverageResetsAt                 float64 `json:"overageResetsAt,omitempty"`
	OverageDisabledReason           string  `json:"overageDisabledReason,omitempty"`
	IsUsingOverage                  bool    `json:"isUsingOverage,omitempty"`
	OverageInUse                    bool    `json:"overageInUse,omitempty"`
	OverageEnabled                  bool    `json:"overageEnabled,omitempty"`
	SurpassedThreshold              float64 `json:"surpassedThreshold,omitempty"`
	LimitScope                      string  `json:"limitScope,omitempty"`
	ErrorCode                       string  `json:"errorCode,omitempty"`
	CanUserPurchaseCredits          bool    `json:"canUserPurchaseCredits,omitempty"`
	HasChargeableSavedPaymentMethod bool    `json:"hasChargeableSavedPaymentMethod,omitempty"`
}

// PromptSuggestion proposes the user's next prompt. It follows the result, and only with
// claude.Options.PromptSuggestions.
type PromptSuggestion struct {
	Header
	Suggestion string `json:"suggestion"`
}

// ConversationReset reports that the conversation starts over, for example after /clear. Totals
// start from zero, and the messages that follow have another session id.
type ConversationReset struct {
	Header
	NewConversationID string `json:"new_conversation_id"`
	Trigger           string `json:"trigger,omitempty"` // clear, plan_mode_exit, fresh_session, onboarding
	UserMessageUUID   string `json:"user_message_uuid,omitempty"`
	Timestamp         string `json:"timestamp,omitempty"`
}

// ActiveGoal reports the session's new goal. Value is nil when the goal was removed.
type ActiveGoal struct {
	Header
	Value *Goal `json:"value"`
}

// Goal is a condition that the session works to meet, and how many iterations it has tried so
// far.
type Goal struct {
	Condition     string  `json:"condition"`
	Iterations    int64   `json:"iterations"`
	SetAt         float64 `json:"set_at"`
	TokensAtStart int64   `json:"tokens_at_start"`
	LastReason    string  `json:"last_reason,omitempty"`
}

// CommandState is the state of a prompt in the CLI's queue. The set is open: a newer CLI may
// send values that have no constant here.
type CommandState string

// The states that are known. A newer CLI may send others, so a switch over them needs a default.
const (
	CommandQueued    CommandState = "queued"
	CommandStarted   CommandState = "started"
	CommandCompleted CommandState = "completed"
	CommandCancelled CommandState = "cancelled"
)

// CommandLifecycle follows one prompt through the CLI's queue. The CLI sends it only for prompts
// with a uuid.
type CommandLifecycle struct {
	Header
	CommandUUID string       `json:"command_uuid"` // the prompt's uuid
	State       CommandState `json:"state"`
}

// AutocompactState reports the state of automatic compaction. Its members are not documented, so
// it has no fields; Raw returns the line.
type AutocompactState struct{ Header }

// KeepAlive shows that the CLI is alive. It carries no information except, during the start, a
// mark of progress. Package claude consumes it and does not deliver it.
type KeepAlive struct {
	Header
	StartupMark string `json:"startup_mark,omitempty"`
}

// TranscriptMirror has the entries that the CLI has just written to a transcript, for a session
// store. Package claude consumes it and does not deliver it.
type TranscriptMirror struct {
	Header
	FilePath string `json:"filePath"`
	Entries  []JSON `json:"entries"`
}

// ControlRequest is a request of the control protocol, from the CLI or to it. Package claude
// consumes it and does not deliver it.
type ControlRequest struct {
	Header
	RequestID string `json:"request_id"`
	Request   JSON   `json:"request"`
}

// ControlResponse is the answer to a [ControlRequest] with the same request id. Package claude
// consumes it and does not deliver it.
type ControlResponse struct {
	Header
	Response ControlResponseBody `json:"response"`
}

// ControlResponseBody is the answer to a control request: a value or an error, and the id of
// the request.
type ControlResponseBody struct {
	Subtype   string `json:"subtype"` // success, error
	RequestID string `json:"request_id"`
	Response  JSON   `json:"response,omitempty"` // absent for requests that return no value
	Error     string `json:"error,omitempty"`
	ErrorCode string `json:"error_code,omitempty"`

	PendingPermissionRequests  []JSON `json:"pending_permission_requests,omitempty"`
	PendingUserDialogRequests  []JSON `json:"pending_user_dialog_requests,omitempty"`
	PendingElicitationRequests []JSON `json:"pending_elicitation_requests,omitempty"`
}

// ControlCancelRequest cancels a pending [ControlRequest] of the same sender. Package claude
// consumes it and does not deliver it.
type ControlCancelRequest struct {
	Header
	RequestID string `json:"request_id"`
}
