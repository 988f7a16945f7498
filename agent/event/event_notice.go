package event

// The severities of a [Notice], from a remark that can be ignored to an error that the user
// should see.
const (
	NoticeInfo    = "info"
	NoticeWarning = "warning"
	NoticeError   = "error"
)

// NoticeLost is the code of the notice that the server has lost a part of the session's log.
const NoticeLost = "log_damaged"

// Notice is something that a person should know beside the conversation. It is never
// an item of it.
type Notice struct {
	Header    `wire:"parent,session,uuid"`
	Severity  string `json:"severity"` // NoticeInfo, NoticeWarning, NoticeError
	Text      string `json:"text"`
	Code      string `json:"code,omitempty"`        // what it is about, in a word that programs can read
	ToolUseID string `json:"tool_use_id,omitempty"` // the call that it is about
	Data      JSON   `json:"-" wire:"rest"`         // the whole message
}

// Retry reports that a request to the model failed and is sent again after a delay, and why it
// failed.
type Retry struct {
	Header      `wire:"parent,session,uuid"`
	Attempt     int64  `json:"attempt"`
	MaxAttempts *int64 `json:"max_attempts,omitempty"` // nil where it is not known
	DelayMS     *int64 `json:"delay_ms,omitempty"`     // nil where it is not known
	Reason      string `json:"reason,omitempty"`       // why: rate_limit, overloaded, …, or the provider's own text
	Status      *int64 `json:"status,omitempty"`       // of the HTTP answer; nil where there was none
	Data        JSON   `json:"-" wire:"rest"`          // the whole message
}

// The states of a [Hook]. A run starts once, may show signs of life, and finishes with an
// outcome.
const (
	HookStarted  = "started"
	HookRunning  = "running" // a sign of life, with output
	HookFinished = "finished"
)

// Hook reports the start, the progress or the end of a hook that the provider runs beside the
// conversation.
type Hook struct {
	Header    `wire:"parent,session,uuid"`
	HookID    string `json:"hook_id"`
	Name      string `json:"name,omitempty"`
	Event     string `json:"event,omitempty"`    // what called it: PreToolUse, SessionStart, …
	State     string `json:"state"`              // HookStarted, HookRunning, HookFinished
	Outcome   string `json:"outcome,omitempty"`  // success, error, cancelled; when finished
	Decision  string `json:"decision,omitempty"` // allow, deny, ask, block, …; empty where it decided nothing
	Message   string `json:"message,omitempty"`  // what it says about the decision
	Output    string `json:"output,omitempty"`
	ExitCode  *int64 `json:"exit_code,omitempty"`
	ToolUseID string `json:"tool_use_id,omitempty"`
	Data      JSON   `json:"-" wire:"rest"` // the whole message
}
