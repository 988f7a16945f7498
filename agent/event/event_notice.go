package event

// The severities of a [Notice], from a remark that can be ignored to an error that the user
// should see.
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

// Retry reports that a request to the model failed and is sent again after a delay, and why it
// failed.
type Retry struct {
	Header
	Attempt     int64
	MaxAttempts *int64 // nil where it is not known
	DelayMS     *int64 // nil where it is not known
	Reason      string // why: rate_limit, overloaded, …, or the provider's own text
	Status      *int64 // of the HTTP answer; nil where there was none
	Data        JSON   // the whole message
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
