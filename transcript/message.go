package transcript

import (
	"encoding/json"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Message is one message of a conversation: the official SDK's data, and the entry that it comes
// from. It is read-only.
type Message struct {
	Type      string // user, assistant, system
	UUID      string
	SessionID string
	Timestamp string // as written; Time parses it
	// Message is the API's message as written, role and content; "" for type system, which has its
	// text in Entry. Content decodes it.
	Message         message.JSON
	ParentToolUseID string // in a subagent: the tool use that started it
	ParentAgentID   string // in a subagent of a subagent: the agent that started it

	IsCompactSummary        bool // the summary of the messages before a compaction
	IsMeta                  bool // not shown as is
	IsQueuedCommand         bool // a prompt that was sent during a turn
	IsCompletedLocalCommand bool // a slash command that the CLI ran without the model, or its output
	ToolResultMeta          []message.ToolResultMeta
	Origin                  message.JSON // the author, if it was not the user

	// Entry is the line: a *[UserEntry], *[AssistantEntry], *[SystemEntry], or an
	// *[AttachmentEntry] for a queued command.
	Entry Entry
}

// Time returns the time when the message was written, or the zero time if the line has no valid one.
func (m *Message) Time() time.Time { return parseTime(m.Timestamp) }

// Content returns the content of the message. For a system message this is its text, which the
// official SDK omits.
func (m *Message) Content() message.Content {
	if e, ok := m.Entry.(*SystemEntry); ok && m.Message == "" {
		return e.Content
	}
	var body message.UserContent
	_ = jsonwire.Unmarshal(string(m.Message), &body) // the line was valid
	return body.Content
}

// Text returns the text of the message's text blocks, joined without a separator. Other blocks are
// skipped.
func (m *Message) Text() string { return m.Content().String() }

// MessageID returns the API's id of an assistant message, which its lines share, or "" for
// other messages.
func (m *Message) MessageID() string {
	if e, ok := m.Entry.(*AssistantEntry); ok {
		return e.Message.ID
	}
	return ""
}

// wireMessage is a message in the official SDK's form.
type wireMessage struct {
	Type                    string                   `json:"type"`
	UUID                    string                   `json:"uuid"`
	SessionID               string                   `json:"session_id"`
	Message                 message.JSON             `json:"message,omitempty"`
	ParentToolUseID         *string                  `json:"parent_tool_use_id"`
	ParentAgentID           *string                  `json:"parent_agent_id"`
	ToolResultMeta          []message.ToolResultMeta `json:"tool_result_meta,omitempty"`
	IsCompactSummary        bool                     `json:"isCompactSummary,omitempty"`
	IsMeta                  bool                     `json:"is_meta,omitempty"`
	IsQueuedCommand         bool                     `json:"isQueuedCommand,omitempty"`
	IsCompletedLocalCommand bool                     `json:"isCompletedLocalCommand,omitempty"`
	Timestamp               string                   `json:"timestamp,omitempty"`
	Origin                  message.JSON             `json:"origin,omitempty"`

	Subtype string       `json:"subtype,omitempty"`
	Content message.JSON `json:"content,omitempty"`
}

// MarshalJSON writes the message in the official SDK's form. A system message has its subtype and
// content in addition.
func (m *Message) MarshalJSON() ([]byte, error) {
	w := wireMessage{
		Type: m.Type, UUID: m.UUID, SessionID: m.SessionID, Message: m.Message,
		ParentToolUseID: orNull(m.ParentToolUseID), ParentAgentID: orNull(m.ParentAgentID),
		ToolResultMeta: m.ToolResultMeta, IsCompactSummary: m.IsCompactSummary, IsMeta: m.IsMeta,
		IsQueuedCommand: m.IsQueuedCommand, IsCompletedLocalCommand: m.IsCompletedLocalCommand,
		Timestamp: m.Timestamp, Origin: m.Origin,
	}
	if e, ok := m.Entry.(*SystemEntry); ok && m.Type == "system" {
		w.Subtype, w.Content = e.Subtype, e.Member("content")
	}
	return json.Marshal(w)
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Joined is one message as the API saw it: all lines of one answer, or a single line of another
// type.
type Joined struct {
	*Message            // the first line
	Lines    []*Message // all lines, in order
}

// Blocks returns the content blocks of all lines of the message, in order. A plain string
// counts as a text block.
func (j *Joined) Blocks() []message.ContentBlock {
	var blocks []message.ContentBlock
	for _, m := range j.Lines {
		content := m.Content()
		if content.IsText() {
			blocks = append(blocks, &message.Text{Text: content.String()})
			continue
		}
		blocks = append(blocks, content.Blocks()...)
	}
	return blocks
}

// Join merges the lines of each answer: assistant lines with one message id become one message at
// the position of the first. The results of tools that ran before the answer was complete follow
// it.
func Join(messages []*Message) []*Joined {
	var joined []*Joined
	byID := map[string]*Joined{}
	for _, m := range messages {
		id := m.MessageID()
		if j := byID[id]; id != "" && j != nil {
			j.Lines = append(j.Lines, m)
			continue
		}
		j := &Joined{Message: m, Lines: []*Message{m}}
		joined = append(joined, j)
		if id != "" {
			byID[id] = j
		}
	}
	return joined
}
