package transcript

import (
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// thread turns the nodes of a conversation into messages.
type thread struct {
	work      *work
	nodes     []*node
	trailing  map[*node]bool // after the last message
	delivered *delivered     // nil in a subagent
	keepMeta  bool           // for a subagent, which shows everything
}

// messages returns the messages of all nodes, in order; other nodes have the type of their line.
func (t *thread) messages() []*threadMessage {
	commands := t.localCommands()
	answered := t.answered(commands)
	known := t.delivered.inThread(t.nodes)
	uuids := map[string]bool{}
	for _, n := range t.nodes {
		uuids[n.link.UUID] = true
	}
	var out []*threadMessage
	for i, n := range t.nodes {
		if t.work.over() {
			return nil
		}
		m := newMessage(n.entry, n.link)
		said, ok := known[i]
		if !ok {
			said = answered[i] || t.trailing[n]
		}
		if commands[i] {
			m.IsCompletedLocalCommand = true
		} else if said {
			m = t.queued(m, uuids)
		}
		out = append(out, m)
	}
	return out
}

// localCommand classifies the lines of a slash command that the CLI runs without the model: a
// caveat, the record of the command, its output.
func localCommand(n *node) string {
	u, ok := n.entry.(*UserEntry)
	if !ok || u.PromptSource != "" {
		return ""
	}
	text := lastText(u.Message.Content)
	switch {
	case strings.HasPrefix(text, "<command-name>"):
		return "record"
	case strings.HasPrefix(text, "<local-command-stdout>"), strings.HasPrefix(text, "<local-command-stderr>"):
		return "output"
	case strings.HasPrefix(text, "<local-command-caveat>"):
		return "caveat"
	}
	return ""
}

func lastText(c message.Content) string {
	if c.IsText() {
		return c.String()
	}
	blocks := c.Blocks()
	for _, b := range slices.Backward(blocks) {
		if t, ok := b.(*message.Text); ok {
			return t.Text
		}
	}
	return ""
}

// localCommands returns the indexes of the entries of slash commands and of their output, which
// follow the CLI's caveat about them.
func (t *thread) localCommands() map[int]bool {
	found := map[int]bool{}
	warned, recorded := false, false // a caveat was seen; a record followed it
	for i, n := range t.nodes {
		if t.work.over() {
			break
		}
		switch {
		case n.kind == "assistant":
			warned, recorded = false, false
		case n.kind != "user":
		case n.link.IsMeta:
			warned = warned || localCommand(n) == "caveat"
		default:
			switch localCommand(n) {
			case "record":
				warned, recorded = false, warned
				if recorded {
					found[i] = true
				}
			case "output":
				warned = false
				if recorded {
					found[i] = true
				}
			default:
				warned, recorded = false, false
			}
		}
	}
	return found
}

// answered reports for each index whether the next message after it is an answer. A queued prompt
// before an answer was delivered; one before another prompt was not.
func (t *thread) answered(commands map[int]bool) []bool {
	out := make([]bool, len(t.nodes))
	reply := false
	for i, n := range slices.Backward(t.nodes) {
		if t.work.over() {
			return out
		}
		out[i] = reply
		switch e := n.entry.(type) {
		case *AssistantEntry:
			reply = true
		case *UserEntry:
			if n.parent != "" && len(n.toolResults()) > 0 || saysInterrupted(e.Message.Content) {
				reply = true
			} else if !e.IsMeta && !e.IsCompactSummary && !commands[i] {
				reply = false
			}
		}
	}
	return out
}

// saysInterrupted reports whether a message consists only of the note about an interruption.
func saysInterrupted(c message.Content) bool {
	if c.IsText() {
		return isInterruption(c.String())
	}
	blocks := c.Blocks()
	for _, b := range blocks {
		text := ""
		switch b := b.(type) {
		case *message.Text:
			text = b.Text
		case *message.ToolResult:
			if b.IsError && b.Content.IsText() {
				text = b.Content.String()
			}
		}
		if !isInterruption(text) {
			return false
		}
	}
	return len(blocks) > 0
}

// queuedCommand is the attachment of a prompt that was sent during a turn.
type queuedCommand struct {
	Type            string       `json:"type"`
	Prompt          message.JSON `json:"prompt"`
	SourceUUID      string       `json:"source_uuid"`
	DeliveryID      string       `json:"delivery_id"`
	IsMeta          bool         `json:"isMeta"`
	CommandMode     string       `json:"commandMode"`
	Origin          message.JSON `json:"origin"`
	ForwardedIntent message.JSON `json:"forwardedIntent"`
}

// queuedOf returns the queued prompt of an entry, or nil.
func queuedOf(e Entry) *queuedCommand {
	a, ok := e.(*AttachmentEntry)
	if !ok || a.AttachmentType() != "queued_command" {
		return nil
	}
	q := new(queuedCommand)
	_ = jsonwire.Unmarshal(string(a.Attachment), q) // the line was valid
	return q
}

// queued returns the message of a queued prompt; it returns any other message unchanged.
func (t *thread) queued(m *threadMessage, uuids map[string]bool) *threadMessage {
	q := queuedOf(m.Entry)
	if q == nil || q.IsMeta && !t.keepMeta && !isOutside(q.Origin) ||
		lastString(string(q.ForwardedIntent), "lineage") != "" ||
		q.Prompt == "" || q.Prompt[0] != '"' && q.Prompt[0] != '[' {
		return m
	}
	uuid := m.UUID
	if q.SourceUUID != "" && q.SourceUUID != uuid {
		if uuid = q.SourceUUID; uuids[uuid] {
			return m // the prompt has its own message
		}
	}
	uuids[uuid] = true
	origin := notNull(q.Origin)
	if origin == "" && q.CommandMode == "task-notification" {
		origin = `{"kind":"task-notification"}`
	}
	return &threadMessage{
		Message: &Message{
			Type: "user", UUID: uuid, SessionID: m.SessionID, Timestamp: m.Timestamp,
			Message: `{"role":"user","content":` + q.Prompt + `}`,
			IsMeta:  q.IsMeta, IsQueuedCommand: true, Origin: origin, Entry: m.Entry,
		},
		link: m.link, meta: q.IsMeta,
	}
}
