package message

import (
	"encoding/json"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// StreamEvent carries one event of the API's stream. The CLI sends them only with
// claude.Options.IncludePartialMessages, and not for subagents. [Accumulator] joins the events
// into messages.
type StreamEvent struct {
	Header
	Event            Event            `json:"event"`
	ParentToolUseID  string           `json:"parent_tool_use_id,omitempty"`
	APIMessageID     string           `json:"api_message_id,omitempty"`
	TTFTMS           int64            `json:"ttft_ms,omitempty"` // on message_start
	ThinkingDisplay  string           `json:"thinking_display,omitempty"`
	UserMessageUUID  string           `json:"user_message_uuid,omitempty"`
	UserMessageUUIDs []string         `json:"user_message_uuids,omitempty"`
	ResumeReason     string           `json:"resume_reason,omitempty"`
	AbandonedBlocks  *AbandonedBlocks `json:"abandoned_blocks,omitempty"`
	OwedRows         JSON             `json:"owed_rows,omitempty"`
}

// AbandonedBlocks names the blocks of a broken answer that will not be finished: all blocks from
// an index on.
type AbandonedBlocks struct {
	APIMessageID   string `json:"api_message_id"`
	FromBlockIndex int64  `json:"from_block_index"`
}

// TextDelta returns the text that the event adds to an answer, or "" for other events.
func (m *StreamEvent) TextDelta() string {
	if e, ok := m.Event.(*ContentBlockDelta); ok {
		if d, ok := e.Delta.(*TextDelta); ok {
			return d.Text
		}
	}
	return ""
}

// Event is one event of the API's stream. The set of types is closed; an
// event that this package does not know is an *[UnknownEvent].
type Event interface {
	// Raw returns a copy of the event's text, nil for an event that was built.
	Raw() json.RawMessage

	event() *eventText
}

// eventText is the JSON text that an event was decoded from.
type eventText struct{ text string }

// Raw returns a copy of the text, or nil if the event was not decoded.
func (e *eventText) Raw() json.RawMessage { return JSON(e.text).Bytes() }

func (e *eventText) event() *eventText { return e }

// MessageStart is the event that begins an answer. Its message has an id and a model, but no
// content yet.
type MessageStart struct {
	eventText
	Message APIMessage `json:"message"`
}

// ContentBlockStart is the event that begins a block of an answer. Deltas for the same index
// add to it.
type ContentBlockStart struct {
	eventText
	Index        int64        `json:"index"`
	ContentBlock ContentBlock `json:"content_block"`
}

// ContentBlockDelta is the event that adds a piece to the block of its index, which a
// [ContentBlockStart] has begun.
type ContentBlockDelta struct {
	eventText
	Index int64 `json:"index"`
	Delta Delta `json:"delta"`
}

// ContentBlockStop is the event that ends a block. The *[Assistant] message with the finished
// block comes before it.
type ContentBlockStop struct {
	eventText
	Index int64 `json:"index"`
}

// MessageDelta is the event at the end of an answer, with the stop reason and the usage.
type MessageDelta struct {
	eventText
	Delta                MessageDeltaFields `json:"delta"`
	Usage                *Usage             `json:"usage,omitempty"`
	ContextManagement    JSON               `json:"context_management,omitempty"`
	InputTransformations JSON               `json:"input_transformations,omitempty"`
}

// MessageDeltaFields holds the reason why an answer ended, and the stop sequence if one ended
// it.
type MessageDeltaFields struct {
	StopReason   string `json:"stop_reason,omitempty"`
	StopSequence string `json:"stop_sequence,omitempty"`
	StopDetails  JSON   `json:"stop_details,omitempty"`
	Container    JSON   `json:"container,omitempty"`
}

// MessageStop is the event that ends an answer. It has no content; the [MessageDelta] before it
// has the details.
type MessageStop struct{ eventText }

// Ping is an event without content that the API sends to keep an idle stream alive.
type Ping struct{ eventText }

// StreamError is an error of the API in the middle of a stream. The answer that it interrupts
// is not finished.
type StreamError struct {
	eventText
	Error APIError `json:"error"`
}

// APIError is an error in the form of the Messages API: a type such as overloaded_error, and a
// message for people.
type APIError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// UnknownEvent is an event of a type that this package does not know. All of
// it is in Raw.
type UnknownEvent struct {
	eventText
	Type string `json:"type"`
}

// Delta is the piece that a *[ContentBlockDelta] adds to a block. The set of types is closed; a
// delta that this package does not know is an *[UnknownDelta].
type Delta interface {
	// Raw returns a copy of the delta's text, nil for a delta that was built.
	Raw() json.RawMessage

	delta() *deltaText
}

// deltaText is the JSON text that a delta was decoded from.
type deltaText struct{ text string }

// Raw returns a copy of the text, or nil if the delta was not decoded.
func (d *deltaText) Raw() json.RawMessage { return JSON(d.text).Bytes() }

func (d *deltaText) delta() *deltaText { return d }

// TextDelta is a piece of text that is added to a [Text] block while an answer is being
// streamed.
type TextDelta struct {
	deltaText
	Text string `json:"text"`
}

// ThinkingDelta is a piece of text that is added to a [Thinking] block. It may have only
// EstimatedTokens.
type ThinkingDelta struct {
	deltaText
	Thinking        string `json:"thinking"`
	EstimatedTokens int64  `json:"estimated_tokens,omitempty"`
}

// SignatureDelta is the signature of a [Thinking] block, or a piece of it, which follows the
// thoughts.
type SignatureDelta struct {
	deltaText
	Signature string `json:"signature"`
}

// InputJSONDelta is a piece of text that is added to the input of a tool. The text is valid JSON
// only when the block has ended.
type InputJSONDelta struct {
	deltaText
	PartialJSON string `json:"partial_json"`
}

// CitationsDelta is one citation that is added to a [Text] block while an answer is being
// streamed.
type CitationsDelta struct {
	deltaText
	Citation Citation `json:"citation"`
}

// CompactionDelta is a piece of text that is added to a [Compaction] block while an answer is
// being streamed.
type CompactionDelta struct {
	deltaText
	Content          string `json:"content,omitempty"`
	EncryptedContent string `json:"encrypted_content,omitempty"`
}

// UnknownDelta is a delta of a type that this package does not know. All of it
// is in Raw.
type UnknownDelta struct {
	deltaText
	Type string `json:"type"`
}

var eventTypes = jsonwire.Table[Event]{
	"message_start":       func() Event { return new(MessageStart) },
	"content_block_start": func() Event { return new(ContentBlockStart) },
	"content_block_delta": func() Event { return new(ContentBlockDelta) },
	"content_block_stop":  func() Event { return new(ContentBlockStop) },
	"message_delta":       func() Event { return new(MessageDelta) },
	"message_stop":        func() Event { return new(MessageStop) },
	"ping":                func() Event { return new(Ping) },
	"error":               func() Event { return new(StreamError) },
}

var deltaTypes = jsonwire.Table[Delta]{
	"text_delta":       func() Delta { return new(TextDelta) },
	"thinking_delta":   func() Delta { return new(ThinkingDelta) },
	"signature_delta":  func() Delta { return new(SignatureDelta) },
	"input_json_delta": func() Delta { return new(InputJSONDelta) },
	"citations_delta":  func() Delta { return new(CitationsDelta) },
	"compaction_delta": func() Delta { return new(CompactionDelta) },
}
