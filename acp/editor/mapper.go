package editor

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// Features lists what a client can show beyond the baseline of the protocol, as it has
// announced it.
type Features struct {
	Notices    bool // session.notices
	Compaction bool // session.compaction
	Boolean    bool // session.configOptions.boolean
	Terminals  bool // _meta.terminal_output: the client draws terminals for the output of commands
	Subagents  bool // subagents: the client shows each subagent as a session
}

// Mapper converts the events of one session to session updates. It is pure: it reads no clock and
// no file. It is not safe for concurrent use. Its memory grows with the tool calls of the session.
type Mapper struct {
	Session  string // the id of the session, for messages between it and its subagents
	Dir      string // the working directory; paths below it are shown as relative paths
	Features Features
	Replay   bool // events are history: prompts of the user are shown

	foreign   bool // the event is a prompt of another client
	out       []Update
	children  map[string]*child             // subagents, by the call that began them
	asides    []Update                      // texts of subagents to show after the end of the streamed message
	streaming bool                          // a message of the main thread is being streamed
	streamed  map[blockKey]*strings.Builder // shown text of the blocks that were streamed in this turn
	failed    map[string]bool               // MCP servers that were reported as failed
	tools     map[string]*toolCall
	order     []string          // open tool calls in the order of their start
	tasks     map[string]*task  // running tasks by id
	finished  map[string]string // results of ended tasks whose tool call has no result
	held      string            // text of an API error, held until the end of the turn reports its kind
	heldID    string

	errorKind string // the agent's name for the last error of the turn
	stop      acp.StopReason
	stopErr   *jsonrpc.Error

	abandoned bool   // an answer was abandoned, and the next one replaces it
	compact   string // the id of the running compaction
	notices   int
	retried   bool   // the client was told that a request of this turn is retried
	limit     string // the last reported limit of the account
	usage     usage
	turn      bool   // a turn is running
	local     string // the last output of a command that the agent itself runs, which some agents send twice
}

// blockKey identifies a block of an answer.
type blockKey struct {
	parent, message string
	index           int64
}

// usage holds the last reported size of the context and the cost.
type usage struct {
	used, size int64
	cost       *float64
}

// Event returns the updates for an event. The slice is valid until the next call.
func (m *Mapper) Event(ev event.Event) []Update {
	if m.tools == nil {
		m.tools, m.tasks, m.finished = map[string]*toolCall{}, map[string]*task{}, map[string]string{}
		m.streamed, m.failed = map[blockKey]*strings.Builder{}, map[string]bool{}
		m.children = map[string]*child{}
	}
	m.out = m.out[:0]
	if m.Replay && ev.Head().ParentToolUseID != "" && !m.Features.Subagents {
		return nil // in history the messages of subagents follow all others
	}
	m.flow(ev)
	if !m.message(ev) && !m.toolEvent(ev) && !m.taskEvent(ev) {
		m.sessionEvent(ev)
	}
	return m.out
}

func (m *Mapper) emit(kind string, value acp.SessionUpdateValue) { m.emitTo("", kind, value) }

// emitTo adds an update for the mapper's session, or for a subagent's session.
func (m *Mapper) emitTo(session, kind string, value acp.SessionUpdateValue) {
	m.out = append(m.out, Update{Subagent: session, SessionUpdate: acp.SessionUpdate{SessionUpdate: kind, Value: value}})
}

// chunk shows a piece of a message.
func (m *Mapper) chunk(session, kind, messageID string, content acp.ContentBlock) {
	m.emitTo(session, kind, &acp.ContentChunk{Content: content, MessageID: acp.NonZero(acp.MessageID(messageID))})
}

func (m *Mapper) say(messageID, text string) {
	if text != "" {
		m.chunk("", acp.SessionUpdateIsAgentMessageChunk, messageID, acp.TextBlock(text))
	}
}

// piece shows a streamed piece of a block. Blocks of a subagent without a session are shown only
// when they are complete.
func (m *Mapper) piece(h *event.Header, index int64, kind, text string) {
	if m.whole(h) {
		return
	}
	if text != "" {
		m.chunk(m.session(h.ParentToolUseID), kind, h.MessageID, acp.TextBlock(text))
	}
	key := blockKey{h.ParentToolUseID, h.MessageID, index}
	if m.streamed[key] == nil {
		m.streamed[key] = &strings.Builder{}
	}
	m.streamed[key].WriteString(text)
}

// whole reports whether the blocks of a message are shown only when they are complete.
func (m *Mapper) whole(h *event.Header) bool {
	return h.ParentToolUseID != "" && m.session(h.ParentToolUseID) == ""
}

// start emits the current text of a block. If a view falls behind, the block arrives again, from its start or
// complete; the part already emitted is then skipped.
func (m *Mapper) start(h *event.Header, index int64, kind, text string) {
	if shown := m.streamed[blockKey{h.ParentToolUseID, h.MessageID, index}]; shown != nil {
		rest, more := strings.CutPrefix(text, shown.String())
		if !more {
			return
		}
		text = rest
	}
	m.piece(h, index, kind, text)
}

// message maps a message of the model, of a subagent or of the user.
func (m *Mapper) message(ev event.Event) bool {
	h := ev.Head()
	switch ev := ev.(type) {
	case *event.TextStart:
		m.start(h, ev.Index, acp.SessionUpdateIsAgentMessageChunk, ev.Text)
	case *event.TextDelta:
		m.piece(h, ev.Index, acp.SessionUpdateIsAgentMessageChunk, ev.Text)
	case *event.ThinkingStart:
		m.start(h, ev.Index, acp.SessionUpdateIsAgentThoughtChunk, ev.Thinking)
	case *event.ThinkingDelta:
		m.piece(h, ev.Index, acp.SessionUpdateIsAgentThoughtChunk, ev.Thinking)
	case *event.MessageStart:
		if m.abandoned && h.ParentToolUseID == "" {
			m.abandoned = false
			m.notice("warning", "The answer above was cut off and is written again.", "")
		}
	case *event.MessageComplete:
		m.messageEnd(ev)
	case *event.AssistantMessage:
		m.assistant(ev)
	case *event.UserMessage:
		m.user(ev)
	default:
		return false
	}
	return true
}

// assistant maps the parts of a complete message that were not streamed.
func (m *Mapper) assistant(ev *event.AssistantMessage) {
	for i := range ev.Blocks {
		b := &ev.Blocks[i]
		kind := spoken[b.Block.Type]
		key := blockKey{ev.ParentToolUseID, ev.MessageID, b.Index}
		switch {
		case event.IsTool(b.Block.Type):
			m.wholeTool(ev, &b.Block)
		case kind == "":
		case m.streamed[key] != nil && m.whole(ev.Head()): // it was already shown
		case m.streamed[key] != nil:
			m.start(ev.Head(), b.Index, kind, b.Block.Text)
		case ev.ParentToolUseID != "":
			m.showSubagentBlock(ev, kind, &b.Block)
		case b.Block.Type == "text" && ev.Error != "":
			m.held, m.heldID, m.errorKind = b.Block.Text, ev.UUID, ev.Error
		case b.Block.Type == "text":
			m.wholeText(ev, b.Block.Text)
		case b.Block.Text != "":
			m.chunk("", kind, ev.MessageID, acp.TextBlock(b.Block.Text))
		}
		if m.streamed[key] == nil && kind != "" {
			m.streamed[key] = &strings.Builder{}
			m.streamed[key].WriteString(b.Block.Text)
		}
	}
}

// spoken maps the types of text blocks to the kinds of their updates.
var spoken = map[string]string{"text": acp.SessionUpdateIsAgentMessageChunk, "thinking": acp.SessionUpdateIsAgentThoughtChunk}

// showSubagentBlock shows a complete block of a subagent.
func (m *Mapper) showSubagentBlock(ev *event.AssistantMessage, kind string, b *event.Content) {
	id := cmp.Or(ev.MessageID, ev.UUID)
	switch session := m.session(ev.ParentToolUseID); {
	case b.Text == "":
	case session != "":
		m.chunk(session, kind, id, acp.TextBlock(b.Text))
	default:
		m.aside(ev.Head(), kind, id, b.Text)
	}
}

// synthetic is the model name in messages that the CLI writes itself.
const synthetic = "<synthetic>"

// wholeText shows a text that was not streamed. The CLI writes the output of its commands as a separate message;
// /context writes its output twice.
func (m *Mapper) wholeText(ev *event.AssistantMessage, text string) {
	id := ev.MessageID
	if ev.Model == synthetic {
		if text == m.local || text == noResponse {
			return
		}
		m.local = text
		id = ev.UUID
	}
	m.say(id, text)
}

// noResponse is the answer that the CLI writes for a turn in which the model was not called.
const noResponse = "No response requested."

// messageEnd forgets the streamed text of a message and reports its tools as running.
func (m *Mapper) messageEnd(ev *event.MessageComplete) {
	m.abandoned = m.abandoned || ev.AbandonedFrom != nil && ev.ParentToolUseID == ""
	for _, id := range m.order {
		if t := m.tools[id]; t.messageID == ev.MessageID && t.parent == ev.ParentToolUseID && !ev.Incomplete {
			m.running(t)
		}
	}
}

// user maps a message of the user in history.
func (m *Mapper) user(ev *event.UserMessage) {
	m.local = ""
	if ev.ParentToolUseID != "" {
		return
	}
	if text, ok := commandOutput(ev); ok {
		if strings.HasPrefix(text, "Set model to ") && !m.turn && !m.Replay {
			return // the client shows the model that it has chosen
		}
		if text != m.local && !(m.Features.Compaction && strings.HasPrefix(text, "Compacted")) {
			m.say(ev.UUID, text)
		}
		m.local = text
		return
	}
	if !m.Replay && !m.foreign || !ev.IsPrompt || ev.IsSynthetic || ev.IsMeta {
		return
	}
	for i := range ev.Blocks {
		if c, ok := promptBlock(&ev.Blocks[i]); ok {
			m.chunk("", acp.SessionUpdateIsUserMessageChunk, ev.UUID, c)
		}
	}
}

// commandOutput returns the output of a command that the agent itself runs, which some agents send
// as a message of the user.
func commandOutput(ev *event.UserMessage) (string, bool) {
	if len(ev.Blocks) != 1 || ev.Blocks[0].Type != "text" {
		return "", false
	}
	for _, tag := range []string{"local-command-stdout", "local-command-stderr"} {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(ev.Blocks[0].Text), "<"+tag+">"); ok {
			return strings.TrimSuffix(rest, "</"+tag+">"), true
		}
	}
	return "", false
}

// promptBlock returns a block of a stored prompt in the form in which the client sent it.
func promptBlock(b *event.Content) (acp.ContentBlock, bool) {
	switch b.Type {
	case "text":
		text := strings.TrimSpace(b.Text)
		if strings.HasPrefix(text, "<system-reminder>") || text == "" {
			return acp.ContentBlock{}, false
		}
		if name, ok := commandLine(text); ok {
			return acp.TextBlock(name), true
		}
		return acp.TextBlock(b.Text), true
	case "image":
		source, _ := b.Raw.Member("source")
		data, _ := source.Member("data")
		media, _ := source.Member("media_type")
		if data.Text() == "" {
			return acp.ContentBlock{}, false
		}
		return acp.ContentBlock{Type: acp.ContentBlockIsImage, Value: &acp.ImageContent{Data: data.Text(), MimeType: media.Text()}}, true
	}
	return acp.ContentBlock{}, false
}

// commandLine returns the line with which a stored slash command was typed.
func commandLine(text string) (string, bool) {
	name, ok := between(text, "<command-name>", "</command-name>")
	if !ok || !strings.HasPrefix(text, "<command-") {
		return "", false
	}
	args, _ := between(text, "<command-args>", "</command-args>")
	return strings.TrimSpace(name + " " + args), true
}

func between(s, from, to string) (string, bool) {
	_, rest, ok := strings.Cut(s, from)
	if !ok {
		return "", false
	}
	inner, _, ok := strings.Cut(rest, to)
	return inner, ok
}

// rawText encodes a text as JSON.
func rawText(s string) json.RawMessage { return json.RawMessage(event.Quote(s)) }
