package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/claude"
)

// turn is one prompt on its way to its result.
type turn struct {
	a      *agent
	ctx    context.Context // ends when the turn is interrupted
	prompt *claude.UserMessage
	text   string
	model  string
	begun  time.Time
	steps  int64
	usage  claude.Usage
	last   string // the text that was said last

	aborted claude.TerminalReason // where an interrupt struck
}

var (
	errInterrupted = errors.New("interrupted")
	errFailed      = errors.New("the turn is to fail")
)

// turn plays the turn of a prompt.
func (a *agent) turn(p *claude.UserMessage) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	a.mu.Lock()
	a.stop = stop
	model, mode := a.model, a.mode
	a.mu.Unlock()
	t := &turn{a: a, ctx: ctx, prompt: p, text: strings.TrimSpace(p.Message.Content.String()), model: model, begun: time.Now()}
	a.lifecycle(p.UUID, claude.CommandStarted)
	init := a.cli.Init()
	init.Model, init.PermissionMode, init.APIKeySource, init.UserMessageUUIDs = model, mode, "none", t.uuids()
	init.Tools, init.Agents, init.SlashCommands = []string{"Bash", "Edit", "Read", "Write"}, []string{}, commandNames()
	a.cli.Emit(init)
	if _, replay := a.cli.Flag("replay-user-messages"); replay {
		back := claude.Clone(p)
		back.IsReplay, back.SessionID = true, a.cli.SessionID
		a.cli.Emit(back)
	}
	result := t.play()

	a.mu.Lock()
	defer a.mu.Unlock()
	a.stop = nil
	a.cli.Emit(result)
	a.lifecycle(p.UUID, claude.CommandCompleted)
	if len(a.queue) == 0 {
		a.busy = false
		a.tell(claude.StateIdle)
	}
}

func (t *turn) uuids() []string {
	if t.prompt.UUID == "" {
		return nil
	}
	return []string{t.prompt.UUID}
}

// play plays the turn and returns its result.
func (t *turn) play() *claude.ResultMessage {
	if p := t.prompt.ShouldQuery; p != nil && !*p {
		return t.result(claude.ResultSuccess)
	}
	if c, ok := command(t.text); ok {
		return t.local(c)
	}
	err := tourFor(t.text)(t)
	switch {
	case errors.Is(err, errInterrupted):
		return t.interrupted()
	case errors.Is(err, errFailed):
		m := t.result(claude.ResultSuccess)
		m.IsError, m.Result, m.APIErrorStatus, m.TerminalReason = true, t.last, 529, claude.TerminalAPIError
		return m
	}
	m := t.result(claude.ResultSuccess)
	m.Result, m.StopReason, m.TerminalReason = t.last, "end_turn", claude.TerminalCompleted
	return m
}

// local runs a slash command.
func (t *turn) local(c slashCommand) *claude.ResultMessage {
	text := c.run(t)
	m := t.message(&claude.TextBlock{Text: text}, "local_"+t.a.cli.UUID())
	m.Message.Model, m.Message.StopReason = "<synthetic>", "end_turn"
	t.a.cli.Emit(m)
	r := t.result(claude.ResultSuccess)
	r.Result, r.LocalCommand, r.NumTurns = text, c.name, 0
	return r
}

func (t *turn) interrupted() *claude.ResultMessage {
	text, stop := "[Request interrupted by user]", "null"
	if t.aborted == claude.TerminalAbortedTools {
		text, stop = "[Request interrupted by user for tool use]", "tool_use"
		t.a.cli.Emit(t.a.cli.UserText(text))
	}
	m := t.result(claude.ResultDuringExecution)
	m.IsError, m.TerminalReason = true, t.aborted
	m.Errors = []string{"[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=" + stop}
	return m
}

func (t *turn) result(subtype claude.ResultSubtype) *claude.ResultMessage {
	a := t.a
	a.mu.Lock()
	defer a.mu.Unlock()
	index := a.turns
	a.turns++
	total := a.total
	total.ContextWindow, total.MaxOutputTokens, total.CanonicalModel, total.CostBasis = window, 8_000, Model, "list"
	m := &claude.ResultMessage{
		Subtype: subtype, NumTurns: max(t.steps, 1), DurationMS: time.Since(t.begun).Milliseconds(), ResultIndex: &index,
		Usage: &t.usage, ModelUsage: map[string]claude.ModelUsage{Model: total}, UserMessageUUIDs: t.uuids(),
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

// call is a tool that an answer uses: what it is called with and what it does.
type call struct {
	name  string
	input map[string]any
	run   func(ctx context.Context, id string) (string, error)
	asks  bool // for permission, once in a session
}

// use lets the agent say something and use a tool. Whether the tool failed is
// for the tour to know; the error is an interrupt.
func (t *turn) use(say string, c call) error {
	id := t.a.cli.ToolUseID()
	input, err := json.Marshal(c.input)
	if err != nil {
		return err
	}
	var blocks []claude.ContentBlock
	if say != "" {
		blocks = append(blocks, &claude.TextBlock{Text: say})
	}
	blocks = append(blocks, &claude.ToolUseBlock{ID: id, Name: c.name, Input: claude.JSON(input)})
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
		t.aborted = claude.TerminalAbortedTools
		t.a.cli.Emit(t.a.cli.UserToolError(id, "The user doesn't want to proceed with this tool use."))
		return errInterrupted
	case err != nil:
		t.a.cli.Emit(t.a.cli.UserToolError(id, err.Error()))
	default:
		t.a.cli.Emit(t.a.cli.UserToolResult(id, text))
	}
	return nil
}

// say lets the agent say something.
func (t *turn) say(text string) error { return t.answer("end_turn", &claude.TextBlock{Text: text}) }

// think lets the agent think, and then say something.
func (t *turn) think(thought, text string) error {
	return t.answer("end_turn", &claude.ThinkingBlock{Thinking: thought, Signature: "c2ltdWxhdGVk"}, &claude.TextBlock{Text: text})
}

// message is one block of an answer.
func (t *turn) message(block claude.ContentBlock, id string) *claude.AssistantMessage {
	return &claude.AssistantMessage{
		Message: claude.APIMessage{
			ID: id, Type: "message", Role: "assistant", Model: t.model,
			Content: []claude.ContentBlock{block}, Usage: &claude.Usage{},
		},
		RequestID: "req_simulated", UserMessageUUID: t.prompt.UUID, UserMessageUUIDs: t.uuids(),
	}
}

// count takes what an answer has used into account; a word is a token.
func (t *turn) count(blocks []claude.ContentBlock) {
	in, out := int64(len(strings.Fields(t.text))), int64(0)
	for _, b := range blocks {
		out += int64(len(pieces(b)))
	}
	t.steps++
	t.usage.InputTokens += in
	t.usage.OutputTokens += out
	t.a.mu.Lock()
	defer t.a.mu.Unlock()
	t.a.total.InputTokens += in
	t.a.total.OutputTokens += out
	t.a.answers++
}

func (t *turn) answerID() string { return fmt.Sprintf("msg_sim_%04d", t.a.answers) }
