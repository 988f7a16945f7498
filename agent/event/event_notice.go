package event

// The severities of a [Notice], from a comment that can be ignored to an error that the user should
// see.
const (
	NoticeInfo    = "info"
	NoticeWarning = "warning"
	NoticeError   = "error"
)

// NoticeLost is the code of the notice that the server has lost a part of the session's log.
const NoticeLost = "log_damaged"

// Notice is information for a person outside the conversation. It is never an item of it.
type Notice struct {
	Header    `wire:"parent,session,uuid"`
	Severity  string `json:"severity"` // NoticeInfo, NoticeWarning, NoticeError
	Text      string `json:"text"`
	Code      string `json:"code,omitempty"`        // the subject, in a word for programs
	ToolUseID string `json:"tool_use_id,omitempty"` // the related tool call
	Data      JSON   `json:"-" wire:"rest"`         // the complete message
}

// Retry reports that a request to the model failed and is retried after a delay, with the reason.
type Retry struct {
	Header      `wire:"parent,session,uuid"`
	Attempt     int64  `json:"attempt"`
	MaxAttempts *int64 `json:"max_attempts,omitempty"` // nil if unknown
	DelayMS     *int64 `json:"delay_ms,omitempty"`     // nil if unknown
	Reason      string `json:"reason,omitempty"`       // rate_limit, overloaded, …, or the provider's text
	Status      *int64 `json:"status,omitempty"`       // of the HTTP response; nil without one
	Data        JSON   `json:"-" wire:"rest"`          // the complete message
}

// The states of a [Hook]. A run starts once, may report progress, and finishes with an outcome.
const (
	HookStarted  = "started"
	HookRunning  = "running" // progress with output
	HookFinished = "finished"
)

// Hook reports the start, the progress or the end of a hook that the provider runs outside the
// conversation.
type Hook struct {
	Header    `wire:"parent,session,uuid"`
	HookID    string `json:"hook_id"`
	Name      string `json:"name,omitempty"`
	Event     string `json:"event,omitempty"`    // the event that triggered it: PreToolUse, SessionStart, …
	State     string `json:"state"`              // HookStarted, HookRunning, HookFinished
	Outcome   string `json:"outcome,omitempty"`  // success, error, cancelled; when finished
	Decision  string `json:"decision,omitempty"` // allow, deny, ask, block, …; empty without a decision
	Message   string `json:"message,omitempty"`  // the explanation of the decision
	Output    string `json:"output,omitempty"`
	ExitCode  *int64 `json:"exit_code,omitempty"`
	ToolUseID string `json:"tool_use_id,omitempty"`
	Data      JSON   `json:"-" wire:"rest"` // the complete message
}
