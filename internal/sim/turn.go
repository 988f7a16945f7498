package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
)

// turn is one prompt on its way to its result.
type turn struct {
	a      *agent
	ctx    context.Context // ends when the turn is interrupted
	prompt *message.User
	text   string
	model  string
	begun  time.Time
	steps  int64
	usage  message.Usage
	own    bool          // its tools use the agent's own directory
	now    message.Usage // of the answer that is being written
	last   string        // the last text of the agent

	aborted message.TerminalReason // the reason of an interrupt
}

var (
	errInterrupted = errors.New("interrupted")
	errFailed      = errors.New("the turn is to fail")
)

// turn runs the turn of a prompt.
func (a *agent) turn(p *message.User) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	a.mu.Lock()
	a.stop = stop
	model, mode := a.model, a.mode
	a.mu.Unlock()
	t := &turn{a: a, ctx: ctx, prompt: p, text: strings.TrimSpace(p.Message.Content.String()), model: model, begun: time.Now()}
	a.lifecycle(p.UUID, message.CommandStarted)
	init := a.cli.Init()
	init.Model, init.PermissionMode, init.APIKeySource, init.UserMessageUUIDs = model, mode, "none", t.uuids()
	init.Tools, init.Agents, init.SlashCommands = []string{"Bash", "Edit", "Read", "Write"}, []string{}, commandNames()
	a.cli.Emit(init)
	if _, replay := a.cli.Flag("replay-user-messages"); replay {
		back := message.Clone(p)
		back.IsReplay, back.SessionID = true, a.cli.SessionID
		a.cli.Emit(back)
	}
	result := t.play()

	a.mu.Lock()
	defer a.mu.Unlock()
	a.stop = nil
	a.cli.Emit(result)
	a.lifecycle(p.UUID, message.CommandCompleted)
	if len(a.queue) == 0 {
		a.busy = false
		a.tell(message.StateIdle)
	}
}

func (t *turn) uuids() []string {
	if t.prompt.UUID == "" {
		return nil
	}
	return []string{t.prompt.UUID}
}

// play runs the turn and returns its result.
func (t *turn) play() *message.Result {
	if p := t.prompt.ShouldQuery; p != nil && !*p {
		return t.result(message.ResultSuccess)
	}
	if c, ok := command(t.text); ok {
		return t.local(c)
	}
	err := tourFor(t.text)(t)
	switch {
	case errors.Is(err, errInterrupted):
		return t.interrupted()
	case errors.Is(err, errFailed):
		m := t.result(message.ResultSuccess)
		m.IsError, m.Result, m.APIErrorStatus, m.TerminalReason = true, t.last, 529, message.TerminalAPIError
		return m
	}
	m := t.result(message.ResultSuccess)
	m.Result, m.StopReason, m.TerminalReason = t.last, "end_turn", message.TerminalCompleted
	return m
}

// local runs a slash command.
func (t *turn) local(c slashCommand) *message.Result {
	text := c.run(t)
	m := t.message(&message.Text{Text: text}, "local_"+t.a.cli.UUID())
	m.Message.Model, m.Message.StopReason = "<synthetic>", "end_turn"
	t.a.cli.Emit(m)
	r := t.result(message.ResultSuccess)
	r.Result, r.LocalCommand, r.NumTurns = text, c.name, 0
	return r
}

func (t *turn) interrupted() *message.Result {
	text, stop := "[Request interrupted by user]", "null"
	if t.aborted == message.TerminalAbortedTools {
		text, stop = "[Request interrupted by user for tool use]", "tool_use"
		t.a.cli.Emit(t.a.cli.UserText(text))
	}
	m := t.result(message.ResultDuringExecution)
	m.IsError, m.TerminalReason = true, t.aborted
	m.Errors = []string{"[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=" + stop}
	return m
}

func (t *turn) result(subtype message.ResultSubtype) *message.Result {
	a := t.a
	a.mu.Lock()
	defer a.mu.Unlock()
	index := a.turns
	a.turns++
	total := a.total
	total.ContextWindow, total.MaxOutputTokens, total.CanonicalModel, total.CostBasis = window, 8_000, Model, "list"
	m := &message.Result{
		Subtype: subtype, NumTurns: max(t.steps, 1), DurationMS: time.Since(t.begun).Milliseconds(), ResultIndex: &index,
		Usage: &t.usage, ModelUsage: map[string]message.ModelUsage{Model: total}, UserMessageUUIDs: t.uuids(),
	}
	m.UserMessageUUID = t.prompt.UUID
	return m
}

// pause waits until the next piece is due.
func (t *turn) pause(pieces int) error {
	if t.a.pace > 0 {
		timer := time.NewTimer(time.Duration(pieces) * t.a.pace)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-t.ctx.Done():
		}
	}
	if t.ctx.Err() != nil {
		return errInterrupted
	}
	return nil
}

// call is a tool call in an answer: its input and its implementation.
type call struct {
	name  string
	input map[string]any
	run   func(ctx context.Context, id string) (string, error)
	asks  bool // asks for permission, once per session
	again bool // asks even if permission was granted before
}

// use emits a text and a tool call. A failed tool is not an error; the error is an
// interrupt.
func (t *turn) use(say string, c call) error {
	id := t.a.cli.ToolUseID()
	input, err := json.Marshal(c.input)
	if err != nil {
		return err
	}
	var blocks []message.ContentBlock
	if say != "" {
		blocks = append(blocks, &message.Text{Text: say})
	}
	blocks = append(blocks, &message.ToolUse{ID: id, Name: c.name, Input: message.JSON(input)})
	if err := t.answer("tool_use", blocks...); err != nil {
		return err
	}
	pauseErr := t.pause(12)
	text := ""
	if err = t.permitted(id, c); err == nil {
		text, err = c.run(t.ctx, id)
	}
	switch {
	case pauseErr != nil || t.ctx.Err() != nil:
		t.aborted = message.TerminalAbortedTools
		t.a.cli.Emit(t.a.cli.UserToolError(id, "The user doesn't want to proceed with this tool use."))
		return errInterrupted
	case err != nil:
		t.a.cli.Emit(t.a.cli.UserToolError(id, err.Error()))
	default:
		t.a.cli.Emit(t.a.cli.UserToolResult(id, text))
	}
	return nil
}

// say emits an answer with a text.
func (t *turn) say(text string) error { return t.answer("end_turn", &message.Text{Text: text}) }

// think emits an answer with thinking and a text.
func (t *turn) think(thought, text string) error {
	return t.answer("end_turn", &message.Thinking{Thinking: thought, Signature: "c2ltdWxhdGVk"}, &message.Text{Text: text})
}

// message returns one block of an answer.
func (t *turn) message(block message.ContentBlock, id string) *message.Assistant {
	return &message.Assistant{
		Message: message.APIMessage{
			ID: id, Type: "message", Role: "assistant", Model: t.model,
			Content: []message.ContentBlock{block}, Usage: &t.now,
		},
		RequestID: "req_simulated", UserMessageUUID: t.prompt.UUID, UserMessageUUIDs: t.uuids(),
	}
}

// count adds the usage of an answer, with one token per word.
func (t *turn) count(blocks []message.ContentBlock) {
	in, out := int64(len(strings.Fields(t.text))), int64(0)
	for _, b := range blocks {
		out += int64(len(pieces(b)))
	}
	t.steps++
	t.now = message.Usage{InputTokens: in, OutputTokens: out}
	t.usage.InputTokens += in
	t.usage.OutputTokens += out
	t.a.mu.Lock()
	defer t.a.mu.Unlock()
	t.a.total.InputTokens += in
	t.a.total.OutputTokens += out
	t.a.answers++
}

func (t *turn) answerID() string { return fmt.Sprintf("msg_sim_%04d", t.a.answers) }
