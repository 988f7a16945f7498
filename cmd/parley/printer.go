package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// printer shows a run to a person: the answer on standard output, all else
// beside it. It is fed with messages and has no other input than its clock.
type printer struct {
	con *term.Console
	now func() time.Time

	mark       string     // stands once before the answers where they are not on a terminal
	quiet      bool       // the answer alone
	stream     bool       // text as it comes, not block by block
	thinking   bool       // show it
	structured bool       // the answer is the structured output
	live       *liveProse // shows text block by block while it comes; nil writes it as it is

	block    streamed // the block that is being streamed
	blocks   int      // blocks of prose so far
	answered bool     // this turn has shown text
	apiError string   // of an answer that is an error's text, until the result
	calls    []*toolCall
	tasks    map[string]string // description by id, of tasks in the background
	unknown  map[string]bool   // what was reported as unknown
	cwd      string
	totals   totals
}

// streamed is a block of the main conversation of which parts have come.
type streamed struct {
	message string // the API's id of its message
	typ     string // text or thinking; "" when there is none
	text    strings.Builder
}

func newPrinter(con *term.Console, now func() time.Time) *printer {
	return &printer{con: con, now: now, tasks: map[string]string{}, unknown: map[string]bool{}}
}

func (p *printer) message(m message.Message) {
	p.con.Lock()
	defer p.con.Unlock()
	switch m := m.(type) {
	case *message.StreamEvent:
		if m.ParentToolUseID == "" {
			p.event(m)
		}
	case *message.Assistant:
		p.assistant(m)
	case *message.User:
		p.user(m)
	case *message.Result:
		p.result(m)
	case *message.Init:
		p.cwd = strings.Clone(m.CWD)
	case *message.LocalCommandOutput:
		p.say(m.Content)
	default:
		p.notice(m)
	}
}

func (p *printer) err() error { return p.con.Out.Err }

// event shows the part of a block that an event brings.
func (p *printer) event(m *message.StreamEvent) {
	switch e := m.Event.(type) {
	case *message.MessageStart:
		p.block = streamed{message: strings.Clone(e.Message.ID)}
	case *message.ContentBlockStart:
		p.block = streamed{message: p.block.message}
	case *message.ContentBlockDelta:
		switch d := e.Delta.(type) {
		case *message.TextDelta:
			p.part("text", d.Text)
		case *message.ThinkingDelta:
			p.part("thinking", d.Thinking)
		}
	}
	if m.AbandonedBlocks != nil && p.stream && p.block.typ == "text" {
		p.block = streamed{}
		p.live.flush()
		p.note("the answer was broken off and is asked for again")
	}
}

func (p *printer) part(typ, text string) {
	if !p.stream || text == "" {
		return
	}
	if p.block.typ != typ {
		p.block = streamed{message: p.block.message, typ: typ}
		p.blocks++
	}
	p.block.text.WriteString(text)
	p.prose(typ, text)
}

// whole shows a finished block: what its parts have not shown already.
func (p *printer) whole(message, typ, text string) {
	shown := ""
	if p.block.typ == typ && p.block.message == message {
		shown = p.block.text.String()
	}
	rest, goesOn := strings.CutPrefix(text, shown)
	if shown == "" || !goesOn {
		p.blocks++
	}
	p.block = streamed{message: p.block.message}
	p.prose(typ, rest)
	p.live.flush()
	if typ == "text" && !p.structured {
		p.con.Out.End()
	}
}

// prose writes text of the model.
func (p *printer) prose(typ, text string) {
	if text == "" {
		return
	}
	to, look := p.con.Out, term.Plain
	switch {
	case typ == "thinking" && !p.thinking:
		return
	case typ == "thinking":
		to, look = p.con.Aside(), term.Dim
	case p.structured:
		to, look = p.con.Aside(), term.Plain
	default:
		p.answered = true
	}
	if p.quiet && to != p.con.Out {
		return
	}
	if p.mark != "" && to == p.con.Out && !to.TTY {
		to.Begin(term.Prose, "")
		to.Print(p.mark + "\n")
		p.mark = ""
	}
	if p.live != nil {
		p.live.add(to, typ, p.blocks, text)
		return
	}
	to.Begin(term.Prose, "block "+strconv.Itoa(p.blocks))
	to.Print(to.Paint(look, to.Show(text)))
}

// say writes a whole text as an answer.
func (p *printer) say(text string) {
	p.blocks++
	p.prose("text", text)
	p.live.flush()
}

func (p *printer) assistant(m *message.Assistant) {
	main := m.ParentToolUseID == ""
	if m.Error != "" {
		if main {
			p.apiError = strings.Clone(m.Text())
		}
		return
	}
	for _, b := range m.Message.Content {
		switch b := b.(type) {
		case *message.Text:
			if main {
				p.whole(m.Message.ID, "text", b.Text)
			}
		case *message.Thinking:
			if main {
				p.whole(m.Message.ID, "thinking", b.Thinking)
			}
		case *message.ToolUse:
			p.call(b.ID, b.Name, b.Input, m.ParentToolUseID)
		case *message.ServerToolUse:
			p.call(b.ID, b.Name, b.Input, m.ParentToolUseID)
		case *message.MCPToolUse:
			p.call(b.ID, b.ServerName+": "+b.Name, b.Input, m.ParentToolUseID)
		case *message.ServerToolResult:
			p.outcome(b.ToolUseID, strings.Contains(b.Type, "error"), "")
		case *message.MCPToolResult:
			p.outcome(b.ToolUseID, b.IsError, b.Content.String())
		case *message.UnknownBlock:
			p.unknownThing("content block", b.Type)
		}
	}
}

func (p *printer) user(m *message.User) {
	for _, b := range m.Message.Content.Blocks() {
		if r, ok := b.(*message.ToolResult); ok {
			p.outcome(r.ToolUseID, r.IsError, r.Content.String())
		}
	}
}

// result shows how a turn ended. What it answered has been shown already, as a
// rule; a slash command that the CLI runs itself may answer here alone.
func (p *printer) result(m *message.Result) {
	p.live.flush()
	p.totals.add(m)
	answer := m.Result
	if p.structured {
		answer = string(m.StructuredOutput)
	}
	switch {
	case m.IsError:
		p.failed(m)
	case p.structured && answer != "":
		p.blocks++
		p.con.Out.Begin(term.Prose, "structured")
		p.con.Out.Print(p.con.Out.Show(answer) + "\n")
	case !p.answered && !p.structured:
		p.say(answer)
	}
	if !m.IsError && p.apiError != "" && p.apiError != answer {
		p.note(p.apiError)
	}
	p.apiError, p.answered, p.block = "", false, streamed{}
}

// failed shows the text of an error, once: the answer in which the CLI tells it
// was not shown.
func (p *printer) failed(m *message.Result) {
	text := m.Text()
	switch {
	case m.TerminalReason == message.TerminalAbortedStreaming || m.TerminalReason == message.TerminalAbortedTools:
		p.con.Err.Line(p.con.Err.Paint(term.Yellow, "interrupted")) // the user did it, and it is not an error
		return
	case text == "" && p.apiError != "":
		text = p.apiError
	case text == "":
		text = string(m.Subtype)
	}
	to := p.con.Err
	to.Line(to.Failure(text))
}

func (p *printer) end() {
	p.con.Lock()
	defer p.con.Unlock()
	p.live.flush()
	p.endCalls()
	p.con.Out.End()
	if usage := p.totals.String(); usage != "" && !p.quiet {
		p.con.Err.Line(p.con.Err.Paint(term.Dim, usage))
	}
}
