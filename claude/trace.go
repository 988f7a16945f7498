package claude

import (
	"context"
	"time"

	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/spawn"
)

// Trace is a set of functions that are called for the events of a session. Any of them may be
// nil, and costs nothing then. Except for Session they are called one after another, in order,
// from one goroutine of the session's own; they hold up nothing but each other, and all have
// returned when the session is closed. What waits for a slow one is kept in memory. A panic in
// one is ignored.
//
// Times are those at which this process has read or done what is reported, not those of the
// call. What is passed on is read-only.
type Trace struct {
	// Session is called first, once a session, by the goroutine that begins it
	// and with the context of the call that does. The Trace that it returns receives all other
	// events of this session instead of this one; nil stays with this one. So one Trace can
	// serve many sessions and tell them apart.
	Session func(ctx context.Context, s *SessionTrace) *Trace

	// Spawn: the CLI was started, or could not be.
	Spawn func(SpawnTrace)
	// Handshake: the CLI has answered initialize, or will not.
	Handshake func(HandshakeTrace)
	// FirstMessage: the first message of the session was read.
	FirstMessage func(FirstMessageTrace)
	// Prompt: a prompt is being sent. PromptCancelled: it was dropped before its
	// turn began.
	Prompt          func(PromptTrace)
	PromptCancelled func(PromptTrace)
	// TurnBegin and TurnEnd: the CLI has begun a turn, for prompts or by itself,
	// and is through with it. Each turn that begins ends, if only with the
	// session.
	TurnBegin func(TurnBeginTrace)
	TurnEnd   func(TurnEndTrace)
	// FirstToken: the first piece of the first answer of a turn was read. Without
	// [Options.IncludePartialMessages] a piece is a whole block.
	FirstToken func(FirstTokenTrace)
	// APIRequest: the CLI asks the API; reported with IncludePartialMessages only.
	APIRequest func(APIRequestTrace)
	// APIRetry: the API has failed, and will be asked again.
	APIRetry func(APIRetryTrace)
	// Generation: an answer of the model is complete. Where the stream does not show its end it
	// is reported when the next one begins.
	Generation func(GenerationTrace)
	// ToolBegin and ToolEnd: the model calls a tool, and the tool has given its
	// result. Each call that begins ends, if only with its turn or task.
	ToolBegin func(ToolBeginTrace)
	ToolEnd   func(ToolEndTrace)
	// TaskBegin and TaskEnd: a task, mostly a subagent, has begun and ended. Each
	// task that begins ends, if only with the session.
	TaskBegin func(TaskBeginTrace)
	TaskEnd   func(TaskEndTrace)
	// Permission: a callback has answered a request for permission, an
	// elicitation or a dialog.
	Permission func(PermissionTrace)
	// Hook: a hook was called.
	Hook func(HookTrace)
	// MCPCall: a tool server of this process has answered a call.
	MCPCall func(MCPCallTrace)
	// Control: a control request to the CLI has ended.
	Control func(ControlTrace)
	// Stderr: the CLI has written a line to stderr. It is passed on as it is and
	// may hold secrets.
	Stderr func(StderrTrace)
	// Stall: something was waited for too long; see [Deadlines].
	Stall func(StallTrace)
	// Buffered: reading has stopped because MaxBuffered bytes wait for a reader
	// that is slow. It is called once a session.
	Buffered func(BufferedTrace)
	// ForeignWrite: another program, which knows no [LockPolicy], writes the
	// session. It is noticed while the CLI is idle.
	ForeignWrite func(ForeignWriteTrace)
	// Exit: the session has ended, or could not begin. It is the last.
	Exit func(ExitTrace)
}

// Period is the time from the start of an operation to its end, as this process observed them.
type Period struct{ Begin, End time.Time }

// Duration returns the length of the period. Both times have been read from the clock of this
// process.
func (p Period) Duration() time.Duration { return p.End.Sub(p.Begin) }

// SessionTrace is a session that begins. Env, which [Trace].Session may set, is
// laid over the environment of the CLI; a variable that is in [Options.Env] too
// keeps the value there.
type SessionTrace struct {
	At      time.Time
	Options *Options // read-only
	Env     map[string]string
}

// SpawnTrace is the start of a CLI. Its command holds the whole environment:
// see [spawn.Command] and mind the secrets.
type SpawnTrace struct {
	At       time.Time // the start
	Command  spawn.Command
	PID      int
	Duration time.Duration
	Err      error
}

// HandshakeTrace describes the end of the handshake: how long it took, the version of the CLI,
// and the error if it failed.
type HandshakeTrace struct {
	At       time.Time
	Duration time.Duration // since the CLI was started
	Version  string        // of the CLI
	Err      error
}

// FirstMessageTrace describes the arrival of the first message of a session, with its kind and
// the time since the start.
type FirstMessageTrace struct {
	At       time.Time
	Duration time.Duration // since the CLI was started
	Kind     string        // see [message.Kind]
}

// PromptTrace describes a prompt that is being sent to the CLI, or that was dropped before its
// turn began.
type PromptTrace struct {
	At   time.Time
	ID   string       // the prompt's uuid, "" if it has none
	Line message.JSON // as it is sent
	// NoQuery: no turn comes of it; see [message.UserInput].
	NoQuery bool
	// Context is that of the call which sends it, without its end.
	Context context.Context
}

// TurnBeginTrace describes the start of a turn, which answers one or more prompts or was begun
// by the CLI itself.
type TurnBeginTrace struct {
	At        time.Time
	ID        string // of its first prompt, "" if that has none
	SessionID string
	Model     string // "" if the CLI has not reported it
	// Prompts are what the turn is for; none in a turn that the CLI has begun by
	// itself.
	Prompts []PromptTrace
	// Waited is since the first prompt was sent.
	Waited time.Duration
}

// TurnEndTrace describes the end of a turn, with its prompts and its result, or the error where
// there is no result.
type TurnEndTrace struct {
	Period
	ID string
	// Prompts are what the turn was for, those included that came while it ran
	// and that the CLI has answered with it.
	Prompts []PromptTrace
	// Result is nil where the CLI gave none; Err then says why.
	Result *message.Result
	// message.ModelUsage is what this turn has used, by model, subagents included, and
	// CostUSD what it has cost: unlike those of the result they may be added up.
	ModelUsage map[string]message.ModelUsage
	CostUSD    float64
	Err        error
}

// FirstTokenTrace describes the start of the first answer of a turn, and the time since the
// turn and its prompt.
type FirstTokenTrace struct {
	At          time.Time
	TurnID      string
	Duration    time.Duration // since the turn has begun
	SincePrompt time.Duration // 0 for a turn without a prompt
}

// APIRequestTrace marks the moment at which the CLI asks the API. It is reported with
// [Options.IncludePartialMessages] only.
type APIRequestTrace struct{ At time.Time }

// APIRetryTrace describes a request to the API that failed and that the CLI will make again
// after a delay.
type APIRetryTrace struct {
	At    time.Time
	Retry *message.APIRetry
}

// GenerationTrace is one answer of the model. Begin is when it was asked for, as
// far as the stream tells: the end of what came before it in its conversation.
type GenerationTrace struct {
	Period
	FirstToken      time.Time // the zero time if the stream does not tell
	ID              string    // of the API's message
	RequestID       string
	Model           string
	ParentToolUseID string // set: in the subagent of this tool use
	AgentID         string
	StopReason      string
	// Usage is nil where the stream has none. Partial: it is what was known when
	// the answer began, and its output tokens are not all. So it is without
	// IncludePartialMessages, and always in subagents.
	Usage   *message.Usage
	Partial bool
	// Err is set when the answer is the text of an API error.
	Err message.AssistantError
	// Messages are the pieces of the answer.
	Messages []*message.Assistant
}

// ToolBeginTrace is the call of a tool. It may still have to wait for permission.
type ToolBeginTrace struct {
	At              time.Time
	ToolUseID       string
	Name            string
	ParentToolUseID string // set: in the subagent of this tool use
	Input           message.JSON
}

// ToolEndTrace describes the end of a tool call with its result, which is nil if the call was
// given up.
type ToolEndTrace struct {
	Period
	ToolUseID       string
	Name            string
	ParentToolUseID string
	IsError         bool
	Result          *message.ToolResult     // nil if there is none: the call was given up
	Meta            *message.ToolResultMeta // nil if there is none
}

// TaskBeginTrace describes the start of a task, mostly a subagent or a command that runs in the
// background.
type TaskBeginTrace struct {
	At   time.Time
	Task *message.TaskStarted
}

// TaskEndTrace describes the end of a task: how it started, how long it took, its status and
// what it used.
type TaskEndTrace struct {
	Period
	Task   *message.TaskStarted // how it began
	Status message.TaskStatus   // "" if the CLI did not tell
	Usage  *message.TaskUsage
	Error  string
}

// PermissionTrace describes a permission request, an elicitation or a dialog that a callback of
// this process has answered.
type PermissionTrace struct {
	Period
	Kind      string // can_use_tool, elicitation, request_user_dialog
	ToolName  string
	ToolUseID string
	AgentID   string
	Answer    string // allow, deny; accept, decline, cancel; …
	Err       error
}

// HookTrace describes the call of a hook of this process: its event, the tool if there is one,
// and its error.
type HookTrace struct {
	Period
	Event     hook.Event
	ToolName  string
	ToolUseID string
	Err       error
}

// MCPCallTrace describes the call of an MCP tool that this process serves. IsError is the
// tool's failure, Err that of the call.
type MCPCallTrace struct {
	Period
	Server    string
	Tool      string
	ToolUseID string // "" if the CLI does not tell
	IsError   bool   // the tool has failed
	Err       error  // the call has
}

// ControlTrace describes a control request that this process sent to the CLI, from its sending
// to its answer.
type ControlTrace struct {
	Period
	Subtype string
	Err     error
}

// StderrTrace is one line that the CLI wrote to stderr, without the newline, and the time at
// which it was read.
type StderrTrace struct {
	At   time.Time
	Line string
}

// StallTrace describes a wait that exceeded its deadline. Err is the error that the waiting
// calls return as well.
type StallTrace struct {
	At  time.Time
	Err *StalledError
}

// BufferedTrace reports that messages are taken too slowly, with the number of bytes that are
// waiting in memory.
type BufferedTrace struct {
	At    time.Time
	Bytes int64
}

// ForeignWriteTrace reports that another process has written to the session's file while this
// process was using the session.
type ForeignWriteTrace struct {
	At        time.Time
	SessionID string
	File      string
	Entries   int // prompts and answers
	Bytes     int64
}

// ExitTrace describes the end of a CLI: how long it ran, and the error that the session ended
// with, if any.
type ExitTrace struct {
	At       time.Time
	Duration time.Duration // since the CLI was started
	Err      error         // what the session ended with, nil if it ended well
}
