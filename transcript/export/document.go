package export

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
	"github.com/seed7221b0f9/parley/internal/redact"
	"github.com/seed7221b0f9/parley/transcript"
)

// document is the content of a session in the form that the writers use.
type document struct {
	ctx    context.Context
	opts   *Options
	redact *redact.Redactor // nil without redaction

	Title    string
	ID       string
	Info     json.RawMessage // the session's info as JSON, "" if lists omit the session
	Facts    []fact
	Turns    []*turn
	messages []*transcript.Message
	agents   []*agent
	byCall   map[string][]*agent // by tool use id, agents that are not shown yet
}

// fact is a line of the header.
type fact struct{ Name, Value string }

// turn is the text of one side, from one or several lines.
type turn struct {
	Role  string // user, assistant, system, summary
	Time  string
	Parts []part
}

// part is a piece of a turn. Kind determines the fields that are set.
type part struct {
	Kind  string // text, thinking, tool, image, other
	Text  string // text, thinking; the media type of an image; the type of another block
	Data  string // of an image, base64; of another block, its JSON
	Tool  *tool
	Agent []*turn // the conversation of the subagent that a tool started
}

// tool is a call of a tool with its result.
type tool struct {
	Name   string
	Input  message.JSON
	Done   bool // the tool has a result
	Failed bool
	Result []part
}

// agent is a subagent.
type agent struct {
	*transcript.Subagent
	messages []*transcript.Message
}

func newDocument(ctx context.Context, s *transcript.Session, opts *Options) (*document, error) {
	d := &document{ctx: ctx, opts: opts, ID: s.ID, byCall: map[string][]*agent{}}
	if opts.Redact {
		d.redact = redact.New(opts.Secrets...)
	}
	var err error
	if d.messages, err = s.Conversation(ctx, &transcript.ConversationOptions{System: opts.System}); err != nil {
		return nil, err
	}
	if err := d.describe(ctx, s); err != nil {
		return nil, err
	}
	if !opts.NoSubagents {
		if err := d.readAgents(ctx, s); err != nil {
			return nil, err
		}
	}
	d.Turns = d.turns(d.messages, 0)
	return d, ctx.Err()
}

// describe sets the info and the facts of the session.
func (d *document) describe(ctx context.Context, s *transcript.Session) error {
	d.Title = "Session " + s.ID
	info, err := s.Info(ctx)
	if errors.Is(err, transcript.ErrNoSession) {
		return nil
	}
	if err != nil {
		return err
	}
	d.Title = d.clean(info.Summary)
	for _, f := range []fact{
		{"Session", s.ID}, {"Directory", d.clean(info.CWD)}, {"Branch", d.clean(info.GitBranch)}, {"Tag", d.clean(info.Tag)},
		{"Began", timeText(info.CreatedAt.UTC().Format("2006-01-02 15:04:05 UTC"), info.CreatedAt.IsZero())},
		{"Changed", info.LastModified.UTC().Format("2006-01-02 15:04:05 UTC")},
	} {
		if f.Value != "" {
			d.Facts = append(d.Facts, f)
		}
	}
	text, err := json.Marshal(info)
	d.Info = d.cleanJSON(text)
	return err
}

func timeText(s string, none bool) string {
	if none {
		return ""
	}
	return s
}

func (d *document) readAgents(ctx context.Context, s *transcript.Session) error {
	list, err := s.Subagents()
	if err != nil {
		return err
	}
	for _, a := range list {
		messages, err := a.Conversation(ctx)
		if err != nil {
			return err
		}
		of := &agent{a, messages}
		d.agents = append(d.agents, of)
		if a.ToolUseID != "" {
			d.byCall[a.ToolUseID] = append(d.byCall[a.ToolUseID], of)
		}
	}
	return nil
}

// clean removes secrets from a text if redaction is on.
func (d *document) clean(s string) string {
	if d.redact == nil {
		return s
	}
	return d.redact.Text(s)
}

func (d *document) cleanJSON(b []byte) []byte {
	if d.redact == nil {
		return b
	}
	return d.redact.JSON(b)
}

// maxDepth is the nesting limit of subagent conversations. Conversations of deeper agents follow
// the one that started them.
const maxDepth = 16

// turns groups messages for display: the lines of an answer together, tool results with their
// calls. A subagent is shown once, in the first call that names it, even if several calls do.
func (d *document) turns(messages []*transcript.Message, depth int) []*turn {
	b := &turnBuilder{doc: d, depth: depth}
	for list := [][]*transcript.Message{messages}; len(list) > 0; {
		b.tools = map[string]*tool{}
		for _, j := range transcript.Join(list[0]) {
			if d.ctx.Err() != nil {
				return nil
			}
			b.add(j)
		}
		list = append(list[1:], b.deeper...)
		b.deeper = nil
	}
	return b.turns
}

type turnBuilder struct {
	doc    *document
	depth  int
	tools  map[string]*tool        // by tool use id
	deeper [][]*transcript.Message // conversations of agents that exceed maxDepth
	turns  []*turn
}

func (b *turnBuilder) add(j *transcript.Joined) {
	t := &turn{Role: j.Type, Time: j.Timestamp}
	if j.IsCompactSummary {
		t.Role = "summary"
	}
	for _, m := range j.Lines {
		content := b.doc.content(m)
		if content.IsText() {
			t.Parts = append(t.Parts, part{Kind: "text", Text: content.String()})
			continue
		}
		for _, block := range content.Blocks() {
			b.block(t, block)
		}
	}
	if len(t.Parts) > 0 {
		b.turns = append(b.turns, t)
	}
}

// content returns the content of a message without secrets.
func (d *document) content(m *transcript.Message) message.Content {
	if d.redact == nil {
		return m.Content()
	}
	text := string(m.Message)
	if e, ok := m.Entry.(*transcript.SystemEntry); ok && text == "" {
		text = `{"content":` + string(e.Member("content")) + `}`
	}
	var body message.UserContent
	_ = jsonwire.Unmarshal(string(d.redact.JSON([]byte(text))), &body) // the line was valid
	return body.Content
}

// block adds a block to a turn; a tool result is added to its call.
func (b *turnBuilder) block(t *turn, block message.ContentBlock) {
	switch x := block.(type) {
	case *message.ToolUse:
		b.call(t, x.ID, x.Name, x.Input)
	case *message.ServerToolUse:
		b.call(t, x.ID, x.Name, x.Input)
	case *message.MCPToolUse:
		b.call(t, x.ID, x.ServerName+": "+x.Name, x.Input)
	case *message.ToolResult:
		b.result(t, x.ToolUseID, x.IsError, x.Content)
	case *message.MCPToolResult:
		b.result(t, x.ToolUseID, x.IsError, x.Content)
	case *message.Thinking:
		if !b.doc.opts.NoThinking && strings.TrimSpace(x.Thinking) != "" {
			t.Parts = append(t.Parts, part{Kind: "thinking", Text: x.Thinking})
		}
	case *message.RedactedThinking:
	default:
		t.Parts = append(t.Parts, plainPart(block))
	}
}

// plainPart returns the part for a block that is not related to a tool call.
func plainPart(block message.ContentBlock) part {
	switch x := block.(type) {
	case *message.Text:
		return part{Kind: "text", Text: x.Text}
	case *message.Image:
		return part{Kind: "image", Text: x.Source.MediaType, Data: x.Source.Data}
	}
	raw := block.Raw()
	var kind struct{ Type string }
	_ = json.Unmarshal(raw, &kind) // valid: parsed from a line
	return part{Kind: "other", Text: kind.Type, Data: string(raw)}
}

func (b *turnBuilder) call(t *turn, id, name string, input message.JSON) {
	if b.doc.opts.NoTools {
		return
	}
	p := part{Kind: "tool", Tool: &tool{Name: name, Input: input}}
	b.tools[id] = p.Tool
	started := b.doc.byCall[id]
	delete(b.doc.byCall, id)
	for _, a := range started {
		if b.depth == maxDepth {
			b.deeper = append(b.deeper, a.messages)
			continue
		}
		p.Agent = append(p.Agent, b.doc.turns(a.messages, b.depth+1)...)
	}
	t.Parts = append(t.Parts, p)
}

func (b *turnBuilder) result(t *turn, id string, failed bool, content message.Content) {
	if b.doc.opts.NoTools {
		return
	}
	call := b.tools[id]
	if call == nil { // its call is not in the conversation
		call = &tool{Name: "(a tool whose call is not here)"}
		t.Parts = append(t.Parts, part{Kind: "tool", Tool: call})
	}
	call.Done, call.Failed = true, failed
	if content.IsText() {
		call.Result = append(call.Result, part{Kind: "text", Text: content.String()})
		return
	}
	for _, block := range content.Blocks() {
		call.Result = append(call.Result, plainPart(block))
	}
}
