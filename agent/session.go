package agent

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/seed7221b0f9/parley/agent/event"
)

// Session is one running agent. All methods may be called from any goroutine; after the
// agent has ended they return ErrClosed.
type Session interface {
	// ID returns the agent's own id of the session, which Resume takes. It is known when Open
	// returns and can change when the conversation is cleared.
	ID() string
	// Events yields what happens from the start of the session on. It can be used once. The last
	// element is the error with which the agent ended; there is none after Close. Leaving the
	// loop does not end the session, but once its bounded buffer is full the agent waits.
	Events(ctx context.Context) iter.Seq2[event.Event, error]
	// Send gives the agent an input. It returns when the input is accepted, not when its turn
	// ends. An input that is sent while a turn is running waits in a queue, of the agent or of
	// the provider.
	Send(ctx context.Context, in Input) error
	// Interrupt stops the running turn, whose result follows as an event. Requests that
	// are open are withdrawn. It is not an error if no turn runs.
	Interrupt(ctx context.Context) (Interrupted, error)
	// Answer answers an open request. It fails with ErrNotOpen if the request is not
	// open and with ErrInvalid if the answer has the wrong kind.
	Answer(ctx context.Context, requestID string, a Answer) error
	// Close ends the agent and returns when its processes are gone, within a bound that
	// the provider documents. It may be called several times.
	Close() error
}

// Input is something for the agent to work on. Exactly one of Text and Content is set.
type Input struct {
	UUID     string            // identifies the input in events and files; set by the caller
	Text     string            // a prompt of one text
	Content  []json.RawMessage // blocks of the Messages API: text, image, document
	Priority string            // now, next, later; empty is next
}

// Interrupted reports what an interrupt did to the inputs that the agent had queued, by their
// uuids.
type Interrupted struct {
	Dropped     []string // the uuids of inputs that will not run
	StillQueued []string // the uuids of inputs that will
}

// Answer is the answer to a request: a *[PermissionAnswer], a *[PlanAnswer], a *[QuestionAnswer]
// or an *[ElicitationAnswer], depending on the kind of the request.
type Answer interface{ answer() }

// PermissionAnswer answers a request to use a tool or to widen the permissions. The zero
// value denies.
type PermissionAnswer struct {
	Allow              bool
	Choice             string          // the id of one of the request's choices; empty where it has none
	Scope              string          // how long it holds, as package ui names it; empty is once
	UpdatedInput       json.RawMessage // of an allow: the input to run with; nil is the one asked for
	UpdatedPermissions json.RawMessage // of an allow: rules to add, as the request suggested them
	Message            string          // of a deny: why, for the model
	Interrupt          bool            // of a deny: also stop the turn
}

// PlanAnswer answers a plan. The zero value does not approve it and sends the model back to
// planning.
type PlanAnswer struct {
	Approve   bool
	Mode      string // of an approval: the permission mode to go on with; empty is the agent's choice
	Message   string // of a refusal: why, for the model
	Interrupt bool   // of a refusal: also stop the turn
}

// QuestionAnswer answers the questions of the model, by the text of each question, or declines
// to answer.
type QuestionAnswer struct {
	Declined bool            // the person does not want to answer
	Message  string          // of a refusal: why, for the model
	Answers  json.RawMessage // an object: the answers by question; null is a question that was skipped
}

// ElicitationAnswer answers a form or a link with which an MCP server asks the user something.
type ElicitationAnswer struct {
	Action  string          // accept, decline, cancel
	Content json.RawMessage // of accept: the form's values
}

func (*PermissionAnswer) answer()  {}
func (*PlanAnswer) answer()        {}
func (*QuestionAnswer) answer()    {}
func (*ElicitationAnswer) answer() {}

// ModelSetter is implemented by a session that can change its model without being started
// again.
type ModelSetter interface {
	// SetModel changes the model from the next request on and returns its full name.
	// Empty is the default model.
	SetModel(ctx context.Context, model string) (string, error)
}

// ModeSetter is implemented by a session that has permission modes and can change between them.
type ModeSetter interface {
	// SetMode changes the permission mode. It fails with ErrInvalid for a mode that is not in
	// Modes.
	SetMode(ctx context.Context, mode string) error
	// Modes returns the modes that SetMode accepts in this session.
	Modes() []string
}

// ThinkingSetter is implemented by a session whose model can be given more or fewer tokens to
// think with.
type ThinkingSetter interface {
	// SetThinking sets the most tokens to think with; nil is the default, 0 is none.
	SetThinking(ctx context.Context, tokens *int64) error
}

// EffortSetter is implemented by a session whose model can try more or less hard, by named
// levels.
type EffortSetter interface {
	// SetEffort changes the effort from the next request on; empty is the agent's choice.
	SetEffort(ctx context.Context, effort string) error
	// Efforts returns the efforts that SetEffort accepts; a model may have only some of them.
	Efforts() []string
}

// Forker is implemented by a session that can be copied while it runs, as a whole or up to a
// message.
type Forker interface {
	// Fork copies the session up to the message at, or all of it if at is empty, and
	// returns the copy's id for Resume.
	Fork(ctx context.Context, at string) (string, error)
}

// Rewound reports which files a rewind changes or has changed, and by how many lines.
type Rewound struct {
	CanRewind    bool
	FilesChanged []string
	Insertions   int64
	Deletions    int64
	Error        string // why it cannot be done
}

// Rewinder is implemented by a session that can take files or the conversation back to
// the point of an earlier prompt.
type Rewinder interface {
	// Rewind goes back to the prompt with this uuid. With dryRun it changes nothing.
	Rewind(ctx context.Context, uuid string, dryRun bool) (Rewound, error)
}

// Backgrounder is implemented by a session that can move the tools that are running to the
// background.
type Backgrounder interface {
	// Background reports whether anything was moved.
	Background(ctx context.Context) (bool, error)
}

// TaskOutput is a piece of the output of a background task, with the offset at which the next
// one begins.
type TaskOutput struct {
	Text string
	Next int64 // the offset of the next piece
	EOF  bool  // the task has ended and this is all
}

// TaskController is implemented by a session with background tasks that can be stopped and
// whose output can be read.
type TaskController interface {
	// StopTask ends a background task.
	StopTask(ctx context.Context, taskID string) error
	// TaskOutput returns at most limit bytes of output from offset on; a limit of 0 means the
	// provider's own.
	TaskOutput(ctx context.Context, taskID string, offset, limit int64) (TaskOutput, error)
}

// ContextReporter is implemented by a session that can report how full the context window of
// its model is.
type ContextReporter interface {
	// ContextUsage returns the agent's own report, as JSON.
	ContextUsage(ctx context.Context) (json.RawMessage, error)
}

// MCPTool is a tool of an MCP server of the session, with the JSON schema of its input.
type MCPTool struct {
	Server      string
	Name        string
	Description string
	InputSchema json.RawMessage
}

// MCPController is implemented by a session with MCP servers that can be listed, connected
// again and turned off.
type MCPController interface {
	// MCPStatus returns the agent's description of each server, as JSON.
	MCPStatus(ctx context.Context) ([]json.RawMessage, error)
	// MCPReconnect connects to a server again.
	MCPReconnect(ctx context.Context, server string) error
	// MCPToggle turns a server on or off for the rest of the session.
	MCPToggle(ctx context.Context, server string, enabled bool) error
	// MCPTools returns the tools of one server, or of all if server is empty.
	MCPTools(ctx context.Context, server string) ([]MCPTool, error)
}

// Titler is implemented by a session that can make up a title for itself from the first prompt.
type Titler interface {
	// Title asks the agent for a title after a first prompt. The text is the model's and
	// must be validated.
	Title(ctx context.Context, prompt string) (string, error)
}

// Tuner is implemented by a session with settings of its own that can change while it
// lives, such as the effort of its model.
type Tuner interface {
	// Tune changes settings, by the names that the agent has for them, for the rest of
	// the session. A value of null takes one back.
	Tune(ctx context.Context, settings map[string]json.RawMessage) error
}
