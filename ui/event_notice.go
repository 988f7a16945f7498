package ui

// The severities of a [Notice].
const (
	NoticeInfo    = "info"
	NoticeWarning = "warning"
	NoticeError   = "error"
)

// Notice is something that a person should know beside the conversation. It is never
// an item of it.
type Notice struct {
	Header
	Severity  string // NoticeInfo, NoticeWarning, NoticeError
	Text      string
	Code      string // what it is about, in a word that programs can read
	ToolUseID string // the call that it is about
	Data      JSON   // the whole message
}

// Retry says that a request to the model failed and is sent again.
type Retry struct {
	Header
	Attempt     int64
	MaxAttempts *int64 // nil where it is not known
	DelayMS     *int64 // nil where it is not known
	Reason      string // why: rate_limit, overloaded, …, or the provider's own text
	Status      *int64 // of the HTTP answer; nil where there was none
	Data        JSON   // the whole message
}

// The states of a [Hook].
const (
	HookStarted  = "started"
	HookRunning  = "running" // a sign of life, with output
	HookFinished = "finished"
)

// Hook says how a hook runs.
type Hook struct {
	Header
	HookID    string
	Name      string
	Event     string // what called it: PreToolUse, SessionStart, …
	State     string // HookStarted, HookRunning, HookFinished
	Outcome   string // success, error, cancelled; when finished
	Decision  string // allow, deny, ask, block, …; empty where it decided nothing
	Message   string // what it says about the decision
	Output    string
	ExitCode  *int64
	ToolUseID string
	Data      JSON // the whole message
}
