package fakecli

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/claude/message"
)

// fakeModel is the model name in answers.
const fakeModel = "claude-opus-5-5"

// Builder builds the messages of one session as the CLI writes them, with consistent ids. The
// ids depend only on SessionID and the order of the calls, so that the same calls give the same
// messages. [message.Encode] returns the line.
//
// Its methods are safe for concurrent use; its fields must be set before.
type Builder struct {
	SessionID string
	Model     string
	CWD       string

	mu       sync.Mutex
	uuids    uint64
	answers  int // number of API messages
	steps    int // number of them in this turn
	tools    int
	results  int64
	lastText string
	prompts  []string // uuids of the turn's prompts
	total    message.Usage
}

// NewBuilder returns a builder of messages for a session with a fixed id, so that its output is
// always the same.
func NewBuilder() *Builder {
	return &Builder{SessionID: "7ab1e5e5-0000-4000-8000-000000000001", Model: fakeModel, CWD: "/home/dev/project"}
}

// UUID returns the next uuid of the session. The uuids depend only on the session's id and
// their number.
func (b *Builder) UUID() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.uuids++
	h := fnv.New64a()
	h.Write([]byte(b.SessionID))
	sum := h.Sum64()
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", uint32(sum>>32), uint16(sum>>16), sum>>4&0xfff, sum&0xfff, b.uuids)
}

// ToolUseID returns the id of the next tool use of the session: toolu_0001, toolu_0002, and so
// on.
func (b *Builder) ToolUseID() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tools++
	return fmt.Sprintf("toolu_%04d", b.tools)
}

func (b *Builder) head() message.Header {
	return message.Header{UUID: b.UUID(), SessionID: b.SessionID}
}

// begin begins a turn for these prompts.
func (b *Builder) begin(model string, prompts []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Model, b.prompts, b.steps, b.lastText = model, prompts, 0, ""
}

// promptUUIDs returns the prompts of the turn.
func (b *Builder) promptUUIDs() (first string, all []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.prompts) > 0 {
		first = b.prompts[0]
	}
	return first, b.prompts
}

// answer begins a message of the API.
func (b *Builder) answer() message.APIMessage {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answers++
	b.steps++
	b.total.InputTokens += 10
	b.total.OutputTokens += 5
	return message.APIMessage{
		ID: fmt.Sprintf("msg_%04d", b.answers), Type: "message", Role: "assistant", Model: b.Model,
		Content: []message.ContentBlock{}, Usage: &message.Usage{InputTokens: 10, OutputTokens: 1},
	}
}

// Assistant returns one answer of the model: a message for each block, all with the same
// Message.ID.
func (b *Builder) Assistant(blocks ...message.ContentBlock) []message.Message {
	api := b.answer()
	var messages []message.Message
	for _, block := range blocks {
		messages = append(messages, b.part(api, block))
	}
	return messages
}

func (b *Builder) part(api message.APIMessage, block message.ContentBlock) *message.Assistant {
	api.Content = []message.ContentBlock{block}
	if t, ok := block.(*message.Text); ok {
		b.mu.Lock()
		b.lastText = t.Text
		b.mu.Unlock()
	}
	m := &message.Assistant{Header: b.head(), Message: api, RequestID: "req_fake"}
	m.UserMessageUUID, m.UserMessageUUIDs = b.promptUUIDs()
	return m
}

// AssistantText returns an answer of the model that consists of a single text block.
func (b *Builder) AssistantText(text string) *message.Assistant {
	return b.part(b.answer(), &message.Text{Text: text})
}

// AssistantThinking returns the part of an answer that holds the model's thinking, with a
// made-up signature.
func (b *Builder) AssistantThinking(text string) *message.Assistant {
	return b.part(b.answer(), &message.Thinking{Thinking: text, Signature: "c2lnbmF0dXJl"})
}

// AssistantToolUse returns an answer that calls a tool with this input. [Builder.ToolUseID]
// makes the id.
func (b *Builder) AssistantToolUse(id, name string, input any) *message.Assistant {
	return b.part(b.answer(), &message.ToolUse{ID: id, Name: name, Input: message.JSON(mustEncode(input))})
}

// AssistantError returns an answer that is the text of an API error, as the CLI writes it in
// place of one.
func (b *Builder) AssistantError(kind message.AssistantError, text string) *message.Assistant {
	m := b.AssistantText(text)
	m.Message.Model, m.Error, m.IsAPIErrorMessage = "<synthetic>", kind, true
	return m
}

// UserToolResult returns the message with the result of a tool call that succeeded, as a text.
func (b *Builder) UserToolResult(toolUseID, text string) *message.User {
	return b.toolResult(&message.ToolResult{ToolUseID: toolUseID, Content: message.TextContent(text)})
}

// UserToolError returns the message with the result of a tool call that failed, with the text
// of the error.
func (b *Builder) UserToolError(toolUseID, text string) *message.User {
	return b.toolResult(&message.ToolResult{ToolUseID: toolUseID, Content: message.TextContent(text), IsError: true})
}

func (b *Builder) toolResult(block *message.ToolResult) *message.User {
	m := b.user(block)
	m.ToolUseResult = message.JSON(mustEncode(block.Content.String()))
	return m
}

// UserText returns a text in the user's role that the CLI itself has put into the conversation.
func (b *Builder) UserText(text string) *message.User {
	return b.user(&message.Text{Text: text})
}

func (b *Builder) user(block message.ContentBlock) *message.User {
	return &message.User{Header: b.head(), Message: message.UserContent{
		Role: "user", Content: message.BlockContent(block),
	}}
}

// StreamText returns an answer of one text with partial messages: the events of its chunks and
// the whole message at the CLI's position.
func (b *Builder) StreamText(chunks ...string) []message.Message {
	var deltas []message.Delta
	for _, chunk := range chunks {
		deltas = append(deltas, &message.TextDelta{Text: chunk})
	}
	return b.stream("end_turn", &message.Text{}, deltas, &message.Text{Text: strings.Join(chunks, "")})
}

// StreamToolUse returns an answer that calls a tool, with partial messages: the input's text
// comes in pieces of n characters.
func (b *Builder) StreamToolUse(id, name string, input any, n int) []message.Message {
	text := string(mustEncode(input))
	deltas := []message.Delta{&message.InputJSONDelta{}}
	for piece := range slices.Chunk([]rune(text), max(n, 1)) {
		deltas = append(deltas, &message.InputJSONDelta{PartialJSON: string(piece)})
	}
	return b.stream("tool_use", &message.ToolUse{ID: id, Name: name, Input: "{}"}, deltas,
		&message.ToolUse{ID: id, Name: name, Input: message.JSON(text)})
}

func (b *Builder) stream(stop string, empty message.ContentBlock, deltas []message.Delta, whole message.ContentBlock) []message.Message {
	api := b.answer()
	messages := []message.Message{
		b.event(api.ID, &message.MessageStart{Message: api}),
		b.event(api.ID, &message.ContentBlockStart{ContentBlock: empty}),
	}
	for _, d := range deltas {
		messages = append(messages, b.event(api.ID, &message.ContentBlockDelta{Delta: d}))
	}
	return append(messages,
		b.part(api, whole),
		b.event(api.ID, &message.ContentBlockStop{}),
		b.event(api.ID, &message.MessageDelta{
			Delta: message.MessageDeltaFields{StopReason: stop}, Usage: &message.Usage{InputTokens: 10, OutputTokens: 5},
		}),
		b.event(api.ID, &message.MessageStop{}))
}

func (b *Builder) event(id string, e message.Event) *message.StreamEvent {
	return &message.StreamEvent{Header: b.head(), Event: e, APIMessageID: id}
}
