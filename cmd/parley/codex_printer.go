package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/transcript/usage"
)

// eventPrinter shows events to a person the way printer shows messages.
type eventPrinter struct {
	*printer
	names    map[string]string // of tools, by call
	shown    map[string]bool   // calls
	model    string
	tokens   usage.Tokens
	turns    int64
	duration time.Duration
}

func newEventPrinter(p *printer) *eventPrinter {
	return &eventPrinter{printer: p, names: map[string]string{}, shown: map[string]bool{}}
}

func (p *eventPrinter) event(ev event.Event) {
	p.con.Lock()
	defer p.con.Unlock()
	h := ev.Head()
	switch ev := ev.(type) {
	case *event.SystemInit:
		p.cwd = ev.CWD
		p.model = ev.Model
	case *event.AssistantMessage:
		p.whole(ev)
	case *event.ToolStart:
		p.names[ev.ToolUseID] = ev.Name
	case *event.ToolInputComplete:
		p.called(ev.ToolUseID, p.names[ev.ToolUseID], ev.Input, h.ParentToolUseID)
	case *event.ToolComplete:
		p.outcome(ev.ToolUseID, ev.IsError, resultText(ev.Content))
	case *event.PermissionResolved:
		if ev.Behavior != event.ResolvedAllow {
			p.deny(ev)
		}
	case *event.Notice:
		if ev.Severity != event.NoticeInfo {
			p.note(term.OneLine(ev.Text))
		}
	case *event.Retry:
		p.note("the request failed and is sent again: " + term.OneLine(ev.Reason))
	case *event.ResultMessage:
		if h.ParentToolUseID == "" {
			p.finished(ev)
		}
	case *event.Error:
		p.con.Err.Line(p.con.Err.Failure(ev.Message))
	default:
		if h.ParentToolUseID == "" {
			p.streamed(ev)
		}
	}
}

// streamed shows the part of a block of the main conversation that an event brings.
func (p *eventPrinter) streamed(ev event.Event) {
	id := ev.Head().MessageID
	switch ev := ev.(type) {
	case *event.MessageStart, *event.TextStart, *event.ThinkingStart:
		p.block = streamed{message: id}
	case *event.TextDelta:
		p.part("text", ev.Text)
	case *event.ThinkingDelta:
		p.part("thinking", ev.Thinking)
	case *event.MessageComplete:
		if ev.AbandonedFrom != nil && p.stream && p.block.typ == "text" {
			p.block = streamed{}
			p.live.flush()
			p.note("the answer was broken off and is asked for again")
		}
	}
}

// whole shows a finished message: what its parts have not shown already.
func (p *eventPrinter) whole(m *event.AssistantMessage) {
	for _, b := range m.Blocks {
		switch {
		case b.Block.Type == "tool_use":
			p.called(b.Block.ToolUseID, b.Block.Name, b.Block.Input, m.ParentToolUseID)
		case m.ParentToolUseID != "":
		case b.Block.Type == "text", b.Block.Type == "thinking":
			p.printer.whole(m.MessageID, b.Block.Type, b.Block.Text)
		}
	}
}

func (p *eventPrinter) called(id, name string, input event.JSON, parent string) {
	if p.shown[id] {
		return
	}
	p.shown[id] = true
	p.call(id, name, message.JSON(input), parent)
}

// deny notes that a call was not allowed, for the line about its end.
func (p *eventPrinter) deny(ev *event.PermissionResolved) {
	for _, c := range p.calls {
		if c.id == ev.ToolUseID {
			if c.denied = term.OneLine(ev.Message); c.denied == "" {
				c.denied = ev.Behavior
			}
		}
	}
}

// finished shows how a turn ended.
func (p *eventPrinter) finished(m *event.ResultMessage) {
	p.live.flush()
	p.turns += m.NumTurns
	p.duration += time.Duration(m.DurationMS) * time.Millisecond
	p.tokens.Add(usage.Tokens{
		Input: int64(m.Usage.Number("input_tokens")), Output: int64(m.Usage.Number("output_tokens")),
		CacheRead: int64(m.Usage.Number("cache_read_input_tokens")), CacheWrite5m: int64(m.Usage.Number("cache_creation_input_tokens")),
	})
	switch {
	case m.Subtype == "interrupted":
		p.con.Err.Line(p.con.Err.Paint(term.Yellow, "interrupted"))
	case m.IsError:
		text := strings.Join(m.Errors, "; ")
		if text == "" {
			text = m.Subtype
		}
		p.con.Err.Line(p.con.Err.Failure(text))
	case !p.answered && m.Result != "":
		p.say(m.Result)
	}
	p.answered, p.block = false, streamed{}
}

func (p *eventPrinter) end() {
	p.con.Lock()
	defer p.con.Unlock()
	p.live.flush()
	p.endCalls()
	p.con.Out.End()
	if p.turns > 0 && !p.quiet {
		p.con.Err.Line(p.con.Err.Paint(term.Dim, p.summary()))
	}
}

// summary is what was used. There is a cost only where the model has a price.
func (p *eventPrinter) summary() string {
	t := p.tokens
	parts := []string{
		term.Plural(p.turns, "turn"), term.Seconds(p.duration),
		fmt.Sprintf("%s in, %s out, %s cache read", term.Count(t.Input), term.Count(t.Output), term.Count(t.CacheRead)),
	}
	l := usage.New()
	l.Add(agentCodex, func(yield func(usage.Answer) bool) { yield(usage.Answer{Model: p.model, Tokens: t}) })
	if total := l.Report(usage.ByModel, usage.View{}).Total; len(total.Missing) == 0 && total.Cost > 0 {
		parts = append(parts, fmt.Sprintf("$%.4f", total.Cost))
	}
	if p.model != "" {
		parts = append(parts, term.OneLine(p.model))
	}
	return strings.Join(parts, " · ")
}

// resultText is the text of a tool's result: a string, or blocks.
func resultText(j event.JSON) string {
	if s := j.Text(); s != "" {
		return s
	}
	for _, b := range j.Elements() {
		if text, ok := b.Member("text"); ok && text.Text() != "" {
			return text.Text()
		}
	}
	return ""
}
