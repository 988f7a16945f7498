package chat

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// printer shows a conversation to a person: the answer on standard output, everything else on
// standard error. Its only inputs are events and its clock.
type printer struct {
	con *term.Console
	now func() time.Time

	mark       string     // written once before answers that do not go to a terminal
	quiet      bool       // the answer alone
	stream     bool       // write text as it arrives, not block by block
	thinking   bool       // show it
	structured bool       // the answer is the structured output
	live       *liveProse // shows text block by block while it arrives; nil writes it unchanged

	block    streamed          // the block that is being streamed
	blocks   int               // number of text blocks so far
	answered bool              // this turn has shown text
	apiError string            // text of an answer that reports an error, until the result
	names    map[string]string // names of tools by call, until the call is shown
	shown    map[string]bool   // calls of this turn
	calls    []*toolCall
	tasks    map[string]string // descriptions of background tasks by id
	unknown  map[string]bool   // unknown things that were already reported
	cwd      string
	totals   totals
}

// streamed is the incomplete block of the main conversation.
type streamed struct {
	message string // the API's id of its message
	typ     string // text or thinking; "" if there is no block
	text    strings.Builder
}

func newPrinter(con *term.Console, now func() time.Time) *printer {
	return &printer{con: con, now: now, tasks: map[string]string{}, unknown: map[string]bool{}, names: map[string]string{}, shown: map[string]bool{}}
}

// event shows an event.
func (p *printer) event(ev event.Event) {
	p.con.Lock()
	defer p.con.Unlock()
	h := ev.Head()
	switch ev := ev.(type) {
	case *event.SystemInit:
		p.cwd, p.totals.model = strings.Clone(ev.CWD), strings.Clone(ev.Model)
	case *event.AssistantMessage:
		p.assistant(ev)
	case *event.ToolStart:
		p.names[strings.Clone(ev.ToolUseID)] = toolName(ev.Name, ev.Block)
	case *event.ToolInputComplete:
		p.called(ev.ToolUseID, p.names[ev.ToolUseID], ev.Input, h)
	case *event.ToolProgress:
		p.started(ev.ToolUseID)
	case *event.PermissionRequest:
		p.started(ev.ToolUseID)
	case *event.ToolComplete:
		p.outcome(ev.ToolUseID, ev.IsError, resultText(ev.Content))
	case *event.PermissionResolved:
		if ev.Behavior != event.ResolvedAllow {
			p.refuse(ev)
		}
	case *event.ResultMessage:
		if h.ParentToolUseID == "" {
			p.result(ev)
		}
	default:
		if h.ParentToolUseID == "" {
			p.delta(ev)
		}
		p.notice(ev)
	}
}

// line ignores a raw line of the agent.
func (p *printer) line([]byte) {}

func (p *printer) err() error { return p.con.Out.Err }

// delta shows the text that an event adds to a block.
func (p *printer) delta(ev event.Event) {
	switch ev := ev.(type) {
	case *event.MessageStart, *event.TextStart, *event.ThinkingStart, *event.BlockStart:
		p.block = streamed{message: strings.Clone(ev.Head().MessageID)}
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

// whole shows the part of a complete block that was not streamed.
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

// say writes a complete text as an answer.
func (p *printer) say(text string) {
	p.blocks++
	p.prose("text", text)
	p.live.flush()
}

func (p *printer) assistant(m *event.AssistantMessage) {
	main := m.ParentToolUseID == ""
	if m.Error != "" {
		if main {
			p.apiError = blocksText(m.Blocks)
		}
		return
	}
	for i := range m.Blocks {
		c := &m.Blocks[i].Block
		switch {
		case event.IsTool(c.Type):
			p.called(c.ToolUseID, toolName(c.Name, c.Raw), c.Input, &m.Header)
		case c.Type == "text" || c.Type == "thinking":
			if main {
				p.whole(m.MessageID, c.Type, c.Text)
			}
		case c.Type == "mcp_tool_result":
			failed, _ := c.Raw.Member("is_error")
			content, _ := c.Raw.Member("content")
			p.outcome(c.ToolUseID, failed == "true", resultText(content))
		case c.Type != "tool_result" && strings.HasSuffix(c.Type, "_tool_result"):
			p.outcome(c.ToolUseID, strings.Contains(c.Type, "error"), "")
		case isUnknown(c.Raw):
			p.unknownThing("content block", c.Type)
		}
	}
}

// isUnknown reports whether a block has a type that is unknown to package message.
func isUnknown(block event.JSON) bool {
	var content message.Content
	if json.Unmarshal([]byte("["+block+"]"), &content) != nil || len(content.Blocks()) == 0 {
		return false
	}
	_, unknown := content.Blocks()[0].(*message.UnknownBlock)
	return unknown
}

// blocksText returns the text of an answer.
func blocksText(blocks []event.IndexedBlock) string {
	var b strings.Builder
	for _, one := range blocks {
		if one.Block.Type == "text" {
			b.WriteString(one.Block.Text)
		}
	}
	return b.String()
}

// toolName returns the name of a tool after that of its MCP server, if the API runs it there.
func toolName(name string, block event.JSON) string {
	if server, ok := block.Member("server_name"); ok && server.Text() != "" {
		return server.Text() + ": " + name
	}
	return strings.Clone(name)
}

// called shows a call, once. Later details are part of its outcome.
func (p *printer) called(id, name string, input event.JSON, h *event.Header) {
	delete(p.names, id)
	if id == "" || !p.shown[id] {
		p.shown[strings.Clone(id)] = true
		p.call(id, name, input, h.ParentToolUseID, strings.HasPrefix(h.Provider, "acp:"))
		return
	}
	for _, c := range p.calls {
		if c.id == id && !c.printed {
			c.name, c.detail = cmp.Or(term.OneLine(name), c.name), cmp.Or(p.detail(input), c.detail)
		}
	}
}

// started begins the line of a call that runs or waits for a person.
func (p *printer) started(id string) {
	for _, c := range p.calls {
		if c.id == id {
			p.begin(c)
		}
	}
}

// resultText returns the text of a tool's result: a string, or blocks.
func resultText(content event.JSON) string {
	if s := content.Text(); s != "" {
		return s
	}
	for _, b := range content.Elements() {
		if text, ok := b.Member("text"); ok && text.Text() != "" {
			return text.Text()
		}
	}
	return ""
}

// result shows the outcome of a turn. Usually the answer was already shown; a slash command that
// the agent runs itself may answer only here.
func (p *printer) result(m *event.ResultMessage) {
	p.live.flush()
	p.totals.add(m)
	clear(p.shown)
	answer := m.Result
	if p.structured {
		answer = string(m.StructuredOutput)
	}
	switch {
	case interrupted(m):
		p.con.Err.Line(p.con.Err.Paint(term.Yellow, "interrupted")) // by the user: not an error
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

// interrupted reports whether the user ended the turn.
func interrupted(m *event.ResultMessage) bool {
	return m.Subtype == "interrupted" || m.TerminalReason == string(message.TerminalAbortedStreaming) || m.TerminalReason == string(message.TerminalAbortedTools)
}

// failed shows the text of an error, once: the agent's answer with the same text was not shown.
func (p *printer) failed(m *event.ResultMessage) {
	text := m.Result
	if m.Subtype != string(message.ResultSuccess) && len(m.Errors) > 0 {
		text = strings.Join(m.Errors, "; ")
	}
	if text == "" {
		text = p.apiError
	}
	if text == "" {
		text = m.Subtype
	}
	p.con.Err.Line(p.con.Err.Failure(text))
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
