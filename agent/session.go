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
	// ID returns the agent's session id, for Resume. It is known when Open returns and can change
	// when the conversation is cleared.
	ID() string
	// Events yields the events from the start of the session on. It can be used once. The last
	// element is the error with which the agent ended; after Close there is no error. Leaving the
	// loop does not end the session, but the agent blocks once its limited buffer is full.
	Events(ctx context.Context) iter.Seq2[event.Event, error]
	// Send sends an input to the agent. It returns when the input is accepted, not when its turn
	// ends. An input that is sent during a turn waits in a queue, of the agent or of the provider.
	Send(ctx context.Context, in Input) error
	// Interrupt stops the running turn; its result follows as an event. Open requests are
	// withdrawn. It is not an error if no turn is running.
	Interrupt(ctx context.Context) (Interrupted, error)
	// Answer answers an open request. It fails with ErrNotOpen if the request is not
	// open and with ErrInvalid if the answer has the wrong kind.
	Answer(ctx context.Context, requestID string, a Answer) error
	// Close ends the agent and returns when its processes have exited, within a time that the
	// provider documents. It may be called several times.
	Close() error
}

// Input is a prompt for the agent. Exactly one of Text and Content is set.
type Input struct {
	UUID     string            // identifies the input in events and files; set by the caller
	Text     string            // a prompt of one text
	Content  []json.RawMessage // blocks of the Messages API: text, image, document
	Priority string            // now, next, later; empty is next
}

// Interrupted reports the effect of an interrupt on the queued inputs, by uuid.
type Interrupted struct {
	Dropped     []string // the uuids of dropped inputs
	StillQueued []string // the uuids of inputs that will still run
}

// Answer is the answer to a request: a *[PermissionAnswer], a *[PlanAnswer], a *[QuestionAnswer]
// or an *[ElicitationAnswer], depending on the kind of the request.
type Answer interface{ answer() }

// PermissionAnswer answers a request to use a tool or to extend the permissions. The zero value
// denies.
type PermissionAnswer struct {
	Allow              bool
	Choice             string          // the id of one of the request's choices, or ""
	Scope              string          // the duration, a Scope constant of package event; empty is once
	UpdatedInput       json.RawMessage `json:",omitempty"` // for an allow: the input to run with; nil is the requested one
	UpdatedPermissions json.RawMessage `json:",omitempty"` // for an allow: rules to add, as suggested by the request
	Message            string          // for a deny: the reason, for the model
	Interrupt          bool            // for a deny: also stop the turn
}

// PlanAnswer answers a plan. The zero value rejects it, and the model continues planning.
type PlanAnswer struct {
	Approve   bool
	Mode      string // for an approval: the permission mode to continue with; empty is the agent's choice
	Plan      string // for an approval: replaces the plan; empty keeps it. Agents that cannot do that return ErrInvalid
	Message   string // for a rejection: the reason, for the model
	Interrupt bool   // for a rejection: also stop the turn
}

// QuestionAnswer answers the questions of the model, by the text of each question, or declines to
// answer.
type QuestionAnswer struct {
	Declined bool            // the person declines to answer
	Message  string          // for a refusal: the reason, for the model
	Answers  json.RawMessage `json:",omitempty"` // an object: the answers by question; null is a skipped question
	// Notes are texts that the person added to an answer, by question. Only Claude has a field for
	// them; see [QuestionAnswer.Joined].
	Notes map[string]string `json:",omitempty"`
}

// Joined returns the answers combined with their notes, for an agent that has no field for notes:
// "Red, but pale".
func (a *QuestionAnswer) Joined() json.RawMessage {
	var answers map[string]json.RawMessage
	if len(a.Notes) == 0 || json.Unmarshal(a.Answers, &answers) != nil {
		return a.Answers
	}
	for question, note := range a.Notes {
		var one string
		if json.Unmarshal(answers[question], &one) == nil {
			if one != "" {
				one += ", "
			}
			answers[question] = json.RawMessage(event.Quote(one + note))
		}
	}
	text, err := json.Marshal(answers)
	if err != nil {
		return a.Answers // valid members are valid again
	}
	return text
}

// ElicitationAnswer answers a form or a link of an MCP server.
type ElicitationAnswer struct {
	Action  string          // accept, decline, cancel
	Content json.RawMessage `json:",omitempty"` // for accept: the form's values
}

func (*PermissionAnswer) answer()  {}
func (*PlanAnswer) answer()        {}
func (*QuestionAnswer) answer()    {}
func (*ElicitationAnswer) answer() {}

// ModelSetter is implemented by a session that can change its model without a restart.
type ModelSetter interface {
	// SetModel changes the model from the next request on and returns its full name. Empty is the
	// default model.
	SetModel(ctx context.Context, model string) (string, error)
}

// ModeSetter is implemented by a session that has permission modes and can change them.
type ModeSetter interface {
	// SetMode changes the permission mode. It fails with ErrInvalid for a mode that is not in
	// Modes.
	SetMode(ctx context.Context, mode string) error
	// Modes returns the modes that SetMode accepts in this session.
	Modes() []string
}

// ThinkingSetter is implemented by a session with a changeable thinking budget.
type ThinkingSetter interface {
	// SetThinking sets the limit of thinking tokens; nil is the default, 0 disables thinking.
	SetThinking(ctx context.Context, tokens *int64) error
}

// EffortSetter is implemented by a session with named effort levels.
type EffortSetter interface {
	// SetEffort changes the effort from the next request on; empty is the agent's choice.
	SetEffort(ctx context.Context, effort string) error
	// Efforts returns the efforts that SetEffort accepts; a model may support only some of them.
	Efforts() []string
}

// Forker is implemented by a session that can be copied while it runs, entirely or up to a message.
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
	Error        string // the reason why the rewind is not possible
}

// Rewinder is implemented by a session that can reset files or the conversation to an earlier
// prompt.
type Rewinder interface {
	// Rewind resets to the prompt with this uuid. With dryRun it only reports the changes.
	Rewind(ctx context.Context, uuid string, dryRun bool) (Rewound, error)
}

// Backgrounder is implemented by a session that can move the running tools to the background.
type Backgrounder interface {
	// Background reports whether a tool was moved.
	Background(ctx context.Context) (bool, error)
}

// TaskOutput is a piece of the output of a background task, with the offset of the next one.
type TaskOutput struct {
	Text string
	Next int64 // the offset of the next piece
	EOF  bool  // the task has ended and this is the last piece
}

// TaskController is implemented by a session with background tasks that can be stopped and have
// readable output.
type TaskController interface {
	// StopTask ends a background task.
	StopTask(ctx context.Context, taskID string) error
	// TaskOutput returns at most limit bytes of output from offset on; a limit of 0 is the
	// provider's default.
	TaskOutput(ctx context.Context, taskID string, offset, limit int64) (TaskOutput, error)
}

// ContextReporter is implemented by a session that can report the usage of its model's context
// window.
type ContextReporter interface {
	// ContextUsage returns the agent's report, as JSON.
	ContextUsage(ctx context.Context) (json.RawMessage, error)
}

// MCPTool is a tool of an MCP server of the session, with the JSON schema of its input.
type MCPTool struct {
	Server      string
	Name        string
	Description string
	InputSchema json.RawMessage
}

// MCPController is implemented by a session with MCP servers that can be listed, reconnected and
// turned off.
type MCPController interface {
	// MCPStatus returns the agent's description of each server, as JSON.
	MCPStatus(ctx context.Context) ([]json.RawMessage, error)
	// MCPReconnect reconnects a server.
	MCPReconnect(ctx context.Context, server string) error
	// MCPToggle turns a server on or off for the rest of the session.
	MCPToggle(ctx context.Context, server string, enabled bool) error
	// MCPTools returns the tools of one server, or of all if server is empty.
	MCPTools(ctx context.Context, server string) ([]MCPTool, error)
}

// Titler is implemented by a session that can generate a title from the first prompt.
type Titler interface {
	// Title asks the agent for a title for a first prompt. The text comes from the model and must
	// be validated.
	Title(ctx context.Context, prompt string) (string, error)
}

// Tuner is implemented by a session with provider-specific settings that can be changed while it
// runs, such as the effort of its model.
type Tuner interface {
	// Tune changes settings, by the agent's names, for the rest of the session. A value of null
	// resets one.
	Tune(ctx context.Context, settings map[string]json.RawMessage) error
}
