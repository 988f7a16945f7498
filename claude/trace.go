package claude

import (
	"context"
	"time"

	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/spawn"
)

// Trace is a set of functions that are called for the events of a session. Any of them may be
// nil. Except for Session they are called sequentially and in order, in a separate goroutine of
// the session; they block only each other, and all have returned when the session is closed.
// Events that wait for a slow function are queued in memory. A panic in a function is ignored.
//
// Times are the times at which this process read or caused an event, not those of the function
// call. The arguments are read-only.
type Trace struct {
	// Session is called first, once per session, in the goroutine and with the context of the
	// call that starts it. The Trace that it returns receives all other events of this session
	// instead of this one; nil keeps this one. So one Trace can distinguish several sessions.
	Session func(ctx context.Context, s *SessionTrace) *Trace

	// Spawn: the CLI was started, or its start failed.
	Spawn func(SpawnTrace)
	// Handshake: the CLI has answered initialize, or the handshake failed.
	Handshake func(HandshakeTrace)
	// FirstMessage: the first message of the session was read.
	FirstMessage func(FirstMessageTrace)
	// Prompt: a prompt is being sent. PromptCancelled: it was dropped before its
	// turn began.
	Prompt          func(PromptTrace)
	PromptCancelled func(PromptTrace)
	// TurnBegin and TurnEnd: the CLI has begun and ended a turn, for prompts or by itself. Each
	// TurnBegin has a TurnEnd, at the latest when the session ends.
	TurnBegin func(TurnBeginTrace)
	TurnEnd   func(TurnEndTrace)
	// FirstToken: the first piece of the first answer of a turn was read. Without
	// [Options.IncludePartialMessages] a piece is a whole block.
	FirstToken func(FirstTokenTrace)
	// APIRequest: the CLI sends a request to the API; reported only with
	// IncludePartialMessages.
	APIRequest func(APIRequestTrace)
	// APIRetry: a request to the API has failed and will be retried.
	APIRetry func(APIRetryTrace)
	// Generation: an answer of the model is complete. If the stream does not show its end, it
	// is reported when the next one begins.
	Generation func(GenerationTrace)
	// ToolBegin and ToolEnd: the model calls a tool, and the tool has returned its result. Each
	// ToolBegin has a ToolEnd, at the latest when its turn or task ends.
	ToolBegin func(ToolBeginTrace)
	ToolEnd   func(ToolEndTrace)
	// TaskBegin and TaskEnd: a task, mostly a subagent, has begun and ended. Each TaskBegin has
	// a TaskEnd, at the latest when the session ends.
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
	// Stderr: the CLI has written a line to stderr. It is not redacted and may hold secrets.
	Stderr func(StderrTrace)
	// Stall: a wait has exceeded one of the [Deadlines].
	Stall func(StallTrace)
	// Buffered: reading has stopped because MaxBuffered bytes wait for a slow consumer. It is
	// called once per session.
	Buffered func(BufferedTrace)
	// ForeignWrite: another program, which ignores the session lock, writes the session. It is
	// detected while the CLI is idle.
	ForeignWrite func(ForeignWriteTrace)
	// Exit: the session has ended, or could not start. It is the last event.
	Exit func(ExitTrace)
}

// Period is the time from the start of an operation to its end, as this process observed them.
type Period struct{ Begin, End time.Time }

// Duration returns the length of the period. Both times have been read from the clock of this
// process.
func (p Period) Duration() time.Duration { return p.End.Sub(p.Begin) }

// SessionTrace describes a session that starts. Env, which [Trace].Session may set, is added to
// the environment of the CLI; variables in [Options.Env] take precedence.
type SessionTrace struct {
	At      time.Time
	Options *Options // read-only
	Env     map[string]string
}

// SpawnTrace is the start of a CLI. Its command holds the whole environment, including secrets:
// see [spawn.Command].
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
	ID   string       // the prompt's uuid, or ""
	Line message.JSON // the line that is sent
	// NoQuery means that it begins no turn; see [message.UserInput].
	NoQuery bool
	// Context is the context of the call that sends it, without its cancellation.
	Context context.Context
}

// TurnBeginTrace describes the start of a turn, which answers one or more prompts or was
// started by the CLI itself.
type TurnBeginTrace struct {
	At        time.Time
	ID        string // uuid of its first prompt, or ""
	SessionID string
	Model     string // "" if the CLI has not reported it
	// Prompts are the prompts of the turn; empty for a turn that the CLI began by itself.
	Prompts []PromptTrace
	// Waited is the time since the first prompt was sent.
	Waited time.Duration
}

// TurnEndTrace describes the end of a turn, with its prompts and its result, or the error if
// there is no result.
type TurnEndTrace struct {
	Period
	ID string
	// Prompts are the prompts of the turn, including those that arrived while it ran and that
	// the CLI answered with it.
	Prompts []PromptTrace
	// If the CLI did not send a result, Result is nil and Err is the reason.
	Result *message.Result
	// ModelUsage is the usage of this turn by model, including subagents, and CostUSD its cost:
	// unlike those of the result they can be added up.
	ModelUsage map[string]message.ModelUsage
	CostUSD    float64
	Err        error
}

// FirstTokenTrace describes the start of the first answer of a turn, and the time since the
// turn and its prompt.
type FirstTokenTrace struct {
	At          time.Time
	TurnID      string
	Duration    time.Duration // since the turn began
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

// GenerationTrace describes one answer of the model. Begin is the time of the request as far as
// the stream shows it: the end of the message before it in its conversation.
type GenerationTrace struct {
	Period
	FirstToken      time.Time // zero if the stream does not show it
	ID              string    // of the API's message
	RequestID       string
	Model           string
	ParentToolUseID string // set in a subagent: the tool use that started it
	AgentID         string
	StopReason      string
	// Usage is nil if the stream does not report it. Partial means that Usage has the numbers at
	// the start of the answer, with incomplete output tokens. That is the case without
	// IncludePartialMessages, and always in subagents.
	Usage   *message.Usage
	Partial bool
	// Err is set if the answer is the text of an API error.
	Err message.AssistantError
	// Messages are the pieces of the answer.
	Messages []*message.Assistant
}

// ToolBeginTrace describes a tool call. It may still wait for permission.
type ToolBeginTrace struct {
	At              time.Time
	ToolUseID       string
	Name            string
	ParentToolUseID string // set in a subagent: the tool use that started it
	Input           message.JSON
}

// ToolEndTrace describes the end of a tool call with its result, which is nil if the call was
// aborted.
type ToolEndTrace struct {
	Period
	ToolUseID       string
	Name            string
	ParentToolUseID string
	IsError         bool
	Result          *message.ToolResult     // nil if the call was aborted
	Meta            *message.ToolResultMeta // if any
}

// TaskBeginTrace describes the start of a task, mostly a subagent or a command that runs in the
// background.
type TaskBeginTrace struct {
	At   time.Time
	Task *message.TaskStarted
}

// TaskEndTrace describes the end of a task: its start, its duration, its status and its usage.
type TaskEndTrace struct {
	Period
	Task   *message.TaskStarted // how it began
	Status message.TaskStatus   // "" if the CLI did not report it
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
	ToolUseID string // "" if the CLI did not report it
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

// BufferedTrace reports that messages are consumed too slowly, with the number of bytes that
// are waiting in memory.
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

// ExitTrace describes the end of a CLI: its running time, and the error of the session, if any.
type ExitTrace struct {
	At       time.Time
	Duration time.Duration // since the CLI was started
	Err      error         // the error of the session, or nil
}
