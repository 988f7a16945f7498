package claudetest

import (
	"crypto/rand"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/claude"
)

// fakeModel is the model that fakes answer as.
const fakeModel = "claude-opus-5-5"

// Builder builds the messages of one session as the CLI writes them, with ids
// that fit together. The ids follow from SessionID and the order of the calls,
// so that the same calls give the same messages. [claude.Encode] gives the line.
//
// Its methods may be called from any goroutine, its fields set before.
type Builder struct {
	SessionID string
	Model     string
	CWD       string

	mu       sync.Mutex
	uuids    uint64
	answers  int // messages of the API
	steps    int // of them, in this turn
	tools    int
	results  int64
	lastText string
	prompts  []string // uuids of the prompts that the turn is for
	total    claude.Usage
}

// NewBuilder is a builder of a session with a fixed id.
func NewBuilder() *Builder {
	return &Builder{SessionID: "7ab1e5e5-0000-4000-8000-000000000001", Model: fakeModel, CWD: "/home/dev/project"}
}

// newUUID is a random UUID.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// UUID is the next uuid of the session.
func (b *Builder) UUID() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.uuids++
	h := fnv.New64a()
	h.Write([]byte(b.SessionID))
	sum := h.Sum64()
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", uint32(sum>>32), uint16(sum>>16), sum>>4&0xfff, sum&0xfff, b.uuids)
}

// ToolUseID is the id of the next tool use: toolu_0001, toolu_0002, …
func (b *Builder) ToolUseID() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tools++
	return fmt.Sprintf("toolu_%04d", b.tools)
}

func (b *Builder) head() claude.Header {
	return claude.Header{UUID: b.UUID(), SessionID: b.SessionID}
}

// begin begins a turn for these prompts.
func (b *Builder) begin(model string, prompts []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Model, b.prompts, b.steps, b.lastText = model, prompts, 0, ""
}

// promptUUIDs are the prompts that the turn is for.
func (b *Builder) promptUUIDs() (first string, all []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.prompts) > 0 {
		first = b.prompts[0]
	}
	return first, b.prompts
}

// answer begins a message of the API.
func (b *Builder) answer() claude.APIMessage {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answers++
	b.steps++
	b.total.InputTokens += 10
	b.total.OutputTokens += 5
	return claude.APIMessage{
		ID: fmt.Sprintf("msg_%04d", b.answers), Type: "message", Role: "assistant", Model: b.Model,
		Content: []claude.ContentBlock{}, Usage: &claude.Usage{InputTokens: 10, OutputTokens: 1},
	}
}

// Assistant is one answer of the model: a message for each block, all with the
// same Message.ID.
func (b *Builder) Assistant(blocks ...claude.ContentBlock) []claude.Message {
	api := b.answer()
	var messages []claude.Message
	for _, block := range blocks {
		messages = append(messages, b.part(api, block))
	}
	return messages
}

func (b *Builder) part(api claude.APIMessage, block claude.ContentBlock) *claude.AssistantMessage {
	api.Content = []claude.ContentBlock{block}
	if t, ok := block.(*claude.TextBlock); ok {
		b.mu.Lock()
		b.lastText = t.Text
		b.mu.Unlock()
	}
	m := &claude.AssistantMessage{Header: b.head(), Message: api, RequestID: "req_fake"}
	m.UserMessageUUID, m.UserMessageUUIDs = b.promptUUIDs()
	return m
}

// AssistantText is an answer of one text.
func (b *Builder) AssistantText(text string) *claude.AssistantMessage {
	return b.part(b.answer(), &claude.TextBlock{Text: text})
}

// AssistantThinking is an answer that so far is thinking alone.
func (b *Builder) AssistantThinking(text string) *claude.AssistantMessage {
	return b.part(b.answer(), &claude.ThinkingBlock{Thinking: text, Signature: "c2lnbmF0dXJl"})
}

// AssistantToolUse is an answer that calls a tool; see [Builder.ToolUseID].
func (b *Builder) AssistantToolUse(id, name string, input any) *claude.AssistantMessage {
	return b.part(b.answer(), &claude.ToolUseBlock{ID: id, Name: name, Input: claude.JSON(mustEncode(input))})
}

// AssistantError is the text of an API error in place of an answer.
func (b *Builder) AssistantError(kind claude.AssistantError, text string) *claude.AssistantMessage {
	m := b.AssistantText(text)
	m.Message.Model, m.Error, m.IsAPIErrorMessage = "<synthetic>", kind, true
	return m
}

// UserToolResult is what a tool gave.
func (b *Builder) UserToolResult(toolUseID, text string) *claude.UserMessage {
	return b.toolResult(&claude.ToolResultBlock{ToolUseID: toolUseID, Content: claude.TextContent(text)})
}

// UserToolError is a tool that failed.
func (b *Builder) UserToolError(toolUseID, text string) *claude.UserMessage {
	return b.toolResult(&claude.ToolResultBlock{ToolUseID: toolUseID, Content: claude.TextContent(text), IsError: true})
}

func (b *Builder) toolResult(block *claude.ToolResultBlock) *claude.UserMessage {
	m := b.user(block)
	m.ToolUseResult = claude.JSON(mustEncode(block.Content.String()))
	return m
}

// UserText is a text in the user's role that the CLI has put in.
func (b *Builder) UserText(text string) *claude.UserMessage {
	return b.user(&claude.TextBlock{Text: text})
}

func (b *Builder) user(block claude.ContentBlock) *claude.UserMessage {
	return &claude.UserMessage{Header: b.head(), Message: claude.UserContent{
		Role: "user", Content: claude.BlockContent(block),
	}}
}

// StreamText is an answer of one text with partial messages: the events of its
// chunks and, where the CLI puts it, the whole message.
func (b *Builder) StreamText(chunks ...string) []claude.Message {
	var deltas []claude.Delta
	for _, chunk := range chunks {
		deltas = append(deltas, &claude.TextDelta{Text: chunk})
	}
	return b.stream("end_turn", &claude.TextBlock{}, deltas, &claude.TextBlock{Text: strings.Join(chunks, "")})
}

// StreamToolUse is an answer that calls a tool, with partial messages: the
// input's text comes in pieces of n characters.
func (b *Builder) StreamToolUse(id, name string, input any, n int) []claude.Message {
	text := string(mustEncode(input))
	deltas := []claude.Delta{&claude.InputJSONDelta{}}
	for piece := range slices.Chunk([]rune(text), max(n, 1)) {
		deltas = append(deltas, &claude.InputJSONDelta{PartialJSON: string(piece)})
	}
	return b.stream("tool_use", &claude.ToolUseBlock{ID: id, Name: name, Input: "{}"}, deltas,
		&claude.ToolUseBlock{ID: id, Name: name, Input: claude.JSON(text)})
}

func (b *Builder) stream(stop string, empty claude.ContentBlock, deltas []claude.Delta, whole claude.ContentBlock) []claude.Message {
	api := b.answer()
	messages := []claude.Message{
		b.event(api.ID, &claude.MessageStartEvent{Message: api}),
		b.event(api.ID, &claude.ContentBlockStartEvent{ContentBlock: empty}),
	}
	for _, d := range deltas {
		messages = append(messages, b.event(api.ID, &claude.ContentBlockDeltaEvent{Delta: d}))
	}
	return append(messages,
		b.part(api, whole),
		b.event(api.ID, &claude.ContentBlockStopEvent{}),
		b.event(api.ID, &claude.MessageDeltaEvent{
			Delta: claude.MessageDelta{StopReason: stop}, Usage: &claude.Usage{InputTokens: 10, OutputTokens: 5},
		}),
		b.event(api.ID, &claude.MessageStopEvent{}))
}

func (b *Builder) event(id string, e claude.StreamEvent) *claude.StreamEventMessage {
	return &claude.StreamEventMessage{Header: b.head(), Event: e, APIMessageID: id}
}
