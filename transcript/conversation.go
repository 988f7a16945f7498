package transcript

import (
	"context"
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
)

// ConversationOptions selects the messages of a conversation. A nil pointer and the zero value omit
// the CLI's notes.
type ConversationOptions struct {
	// System includes the CLI's notes: the boundary of a compaction, the output of a slash command,
	// an error of the API.
	System bool
}

// Conversation returns the messages that the CLI would continue with if the session were resumed:
// from the last compaction on, without rewound messages, without messages of subagents. nil is the
// zero options. It skips bad lines, which [Session.Entries] reports. It reads the whole file;
// [Session.Page] does not.
func (s *Session) Conversation(ctx context.Context, opts *ConversationOptions) ([]*Message, error) {
	w := newWork(ctx)
	entries, err := goodEntries(w, s.Path)
	if err != nil {
		return nil, err
	}
	messages := conversation(w, entries, opts != nil && opts.System)
	if w.ended() {
		return nil, w.err
	}
	return messages, nil
}

func conversation(w *work, lines []Entry, system bool) []*Message {
	entries := make([]Entry, len(lines))
	for i, e := range lines {
		if w.over() {
			return nil
		}
		entries[i] = spoken(e)
	}
	g := newGraph(w, entries)
	leaf := g.leaf()
	if leaf == nil {
		return nil
	}
	chain := g.withParallel(g.chain(leaf))
	trailing := g.trailing(chain, leaf)
	t := thread{work: w, nodes: append(chain, trailing...), trailing: map[*node]bool{}, delivered: deliveries(w, entries)}
	for _, n := range trailing {
		t.trailing[n] = true
	}
	var messages []*Message
	for _, m := range t.messages() {
		if m.visible(system) {
			messages = append(messages, m.Message)
		}
	}
	return messages
}

// threadMessage is a message with the fields that decide whether it is shown.
type threadMessage struct {
	*Message
	link *Link
	meta bool
}

// visible reports whether a message belongs to the conversation.
func (m *threadMessage) visible(system bool) bool {
	switch m.Type {
	case "user", "assistant":
	case "system":
		if !system {
			return false
		}
	default:
		return false
	}
	if m.meta && !isOutside(m.Origin) {
		return false
	}
	return !m.link.IsSidechain && m.link.TeamName == ""
}

// isOutside reports whether a message comes from outside of the session: such a message is shown
// although the CLI marks it as its own.
func isOutside(origin message.JSON) bool {
	switch lastString(string(origin), "kind") {
	case "channel", "observer", "observer-activity", "slack-ping", "voice-call", "peer":
		return true
	}
	return false
}

// newMessage returns the message of an entry, unchanged.
func newMessage(e Entry, l *Link) *threadMessage {
	m := &Message{Type: e.Kind(), UUID: l.UUID, SessionID: l.SessionID, Timestamp: l.Timestamp, Entry: e}
	switch e := e.(type) {
	case *UserEntry:
		m.Message = e.Member("message")
		m.IsCompactSummary = e.IsCompactSummary
		m.IsMeta = e.IsMeta || e.IsCompactSummary || e.IsVisibleInTranscriptOnly
		m.Origin = notNull(e.Origin)
		m.ToolResultMeta = denial(e)
	case *AssistantEntry:
		m.Message = e.Member("message")
		m.IsMeta = l.IsMeta
	case *SystemEntry:
		m.IsMeta = l.IsMeta
		m.Origin = notNull(e.Origin)
	}
	return &threadMessage{Message: m, link: l, meta: l.IsMeta}
}

func notNull(j message.JSON) message.JSON {
	if j == "null" {
		return ""
	}
	return j
}

// denial returns the metadata of an entry that denies its only tool call, which did not run.
func denial(e *UserEntry) []message.ToolResultMeta {
	switch e.ToolDenialKind {
	case "user-rejected", "permission-rule", "automode-blocked", "automode-unavailable",
		"automode-parsing-error", "interrupted", "cancelled":
	default:
		return nil
	}
	n := node{entry: e}
	ids := n.toolResults()
	if len(ids) != 1 {
		return nil
	}
	return []message.ToolResultMeta{{ID: ids[0], NonExecutionKind: e.ToolDenialKind}}
}

// interruptions are the prefixes of the texts that the CLI writes after an interruption.
var interruptions = []string{
	"[Request interrupted by user]", "[Request interrupted by user for tool use]", "[Request interrupted: ",
	"[Agent call interrupted: ", "[Tool call did not complete: ", "[Tool call interrupted: ",
}

func isInterruption(text string) bool {
	for _, prefix := range interruptions {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}
