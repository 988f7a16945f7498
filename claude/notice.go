package claude

// ToolProgressMessage is a sign of life from a tool that is running.
type ToolProgressMessage struct {
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

// SubagentRetry is an API call of a subagent that is tried again.
type SubagentRetry struct {
	AgentID       string  `json:"agent_id"`
	Attempt       int64   `json:"attempt"`
	MaxRetries    int64   `json:"max_retries"`
	RetryDelayMS  float64 `json:"retry_delay_ms"`
	ErrorStatus   int64   `json:"error_status,omitempty"`
	ErrorCategory string  `json:"error_category"`
}

// ToolUseSummaryMessage sums up several tool calls in one sentence.
type ToolUseSummaryMessage struct {
	Header
	Summary             string   `json:"summary"`
	PrecedingToolUseIDs []string `json:"preceding_tool_use_ids"`
}

// AuthStatusMessage tells how a login goes.
type AuthStatusMessage struct {
	Header
	IsAuthenticating bool     `json:"isAuthenticating"`
	Output           []string `json:"output"`
	Error            string   `json:"error,omitempty"`
}

// RateLimitEventMessage says where the account stands with its limits.
type RateLimitEventMessage struct {
	Header
	RateLimitInfo RateLimitInfo `json:"rate_limit_info"`
}

// RateLimitInfo is one limit. Its members are spelled as on the wire.
type RateLimitInfo struct {
	Status                          string  `json:"status"`                  // allowed, allowed_warning, rejected
	ResetsAt                        float64 `json:"resetsAt,omitempty"`      // seconds since 1970
	RateLimitType                   string  `json:"rateLimitType,omitempty"` // five_hour, seven_day, seven_day_opus, overage, …
	Utilization                     float64 `json:"utilization,omitempty"`
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

// PromptSuggestionMessage proposes what to say next. It comes after the result.
type PromptSuggestionMessage struct {
	Header
	Suggestion string `json:"suggestion"`
}

// ConversationResetMessage says that the conversation begins anew, after /clear
// for example: totals start from zero and the session's id is another one.
type ConversationResetMessage struct {
	Header
	NewConversationID string `json:"new_conversation_id"`
	Trigger           string `json:"trigger,omitempty"` // clear, plan_mode_exit, fresh_session, onboarding
	UserMessageUUID   string `json:"user_message_uuid,omitempty"`
	Timestamp         string `json:"timestamp,omitempty"`
}

// ActiveGoalMessage has the goal that the session works for, nil for none.
type ActiveGoalMessage struct {
	Header
	Value *ActiveGoal `json:"value"`
}

// ActiveGoal is a goal.
type ActiveGoal struct {
	Condition     string  `json:"condition"`
	Iterations    int64   `json:"iterations"`
	SetAt         float64 `json:"set_at"`
	TokensAtStart int64   `json:"tokens_at_start"`
	LastReason    string  `json:"last_reason,omitempty"`
}

// CommandState is where a prompt stands in the CLI's queue. The set is open.
type CommandState string

// The states that are known.
const (
	CommandQueued    CommandState = "queued"
	CommandStarted   CommandState = "started"
	CommandCompleted CommandState = "completed"
	CommandCancelled CommandState = "cancelled"
)

// CommandLifecycleMessage follows one prompt through the CLI's queue. Only
// prompts that were sent with a uuid have it.
type CommandLifecycleMessage struct {
	Header
	CommandUUID string       `json:"command_uuid"` // the prompt's uuid
	State       CommandState `json:"state"`
}

// AutocompactStateMessage tells of automatic compaction. Its members are not
// documented: see Raw.
type AutocompactStateMessage struct{ Header }

// KeepAliveMessage means nothing; it keeps the stream alive.
type KeepAliveMessage struct {
	Header
	StartupMark string `json:"startup_mark,omitempty"`
}

// TranscriptMirrorMessage has what the CLI has just written to a transcript. It
// is consumed by this package and not delivered.
type TranscriptMirrorMessage struct {
	Header
	FilePath string `json:"filePath"`
	Entries  []JSON `json:"entries"`
}

// ControlRequestMessage is a request of the control protocol. It is consumed by
// this package and not delivered.
type ControlRequestMessage struct {
	Header
	RequestID string `json:"request_id"`
	Request   JSON   `json:"request"`
}

// ControlResponseMessage is an answer of the control protocol. It is consumed
// by this package and not delivered.
type ControlResponseMessage struct {
	Header
	Response ControlResponse `json:"response"`
}

// ControlResponse is the answer to a control request.
type ControlResponse struct {
	Subtype   string `json:"subtype"` // success, error
	RequestID string `json:"request_id"`
	Response  JSON   `json:"response,omitempty"` // absent where there is nothing to say
	Error     string `json:"error,omitempty"`
	ErrorCode string `json:"error_code,omitempty"`

	PendingPermissionRequests  []JSON `json:"pending_permission_requests,omitempty"`
	PendingUserDialogRequests  []JSON `json:"pending_user_dialog_requests,omitempty"`
	PendingElicitationRequests []JSON `json:"pending_elicitation_requests,omitempty"`
}

// ControlCancelRequestMessage takes back a control request. It is consumed by
// this package and not delivered.
type ControlCancelRequestMessage struct {
	Header
	RequestID string `json:"request_id"`
}
