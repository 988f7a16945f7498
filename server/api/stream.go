package api

import (
	"encoding/json"

	"github.com/seed7221b0f9/parley/agent/event"
)

// StreamEvent carries one event of the API's stream. UUID is evt-<8 hex digits>-<n> and unique in
// the session.
type StreamEvent struct {
	UUID            string           `json:"uuid"`
	SessionID       string           `json:"session_id"`
	Event           Event            `json:"event"`
	ParentToolUseID string           `json:"parent_tool_use_id,omitempty"`
	APIMessageID    string           `json:"api_message_id,omitempty"` // the message that the event belongs to
	AbandonedBlocks *AbandonedBlocks `json:"abandoned_blocks,omitempty"`
	Provider        string           `json:"provider"`
	Extra           Extra            `json:"-"`
}

// AbandonedBlocks is set on a message_stop. The block with this index and all after it are void,
// because a retry replaces them.
type AbandonedBlocks struct {
	APIMessageID   string `json:"api_message_id"`
	FromBlockIndex int64  `json:"from_block_index"`
}

// Event is one event of the API's stream. The set of types is closed: any other event is an
// *[UnknownEvent].
type Event interface {
	json.Marshaler
	// Type returns the event's type on the wire.
	Type() string

	event()
}

// MessageStartEvent begins an answer that is streamed. Its message has an id and a model, but
// no content yet.
type MessageStartEvent struct {
	Message StreamMessage `json:"message"`
	Extra   Extra         `json:"-"`
}

// StreamMessage is a message at its start, without content. Other members of the API's message are
// in Extra.
type StreamMessage struct {
	ID      string         `json:"id"`
	Model   string         `json:"model,omitempty"`
	Content []ContentBlock `json:"content"`
	Extra   Extra          `json:"-"`
}

// ContentBlockStartEvent begins a block of an answer. Deltas with the same index add to it
// until its stop.
type ContentBlockStartEvent struct {
	Index        int64        `json:"index"`
	ContentBlock ContentBlock `json:"content_block"`
	Extra        Extra        `json:"-"`
}

// ContentBlockDeltaEvent adds a piece to the block of its index, which a
// [ContentBlockStartEvent] has begun.
type ContentBlockDeltaEvent struct {
	Index int64 `json:"index"`
	Delta Delta `json:"delta"`
	Extra Extra `json:"-"`
}

// ContentBlockStopEvent ends a block. Incomplete is set if the API's stream broke off before the
// block was complete.
type ContentBlockStopEvent struct {
	Index      int64 `json:"index"`
	Incomplete bool  `json:"incomplete,omitempty"`
	Extra      Extra `json:"-"`
}

// MessageDeltaEvent has what is known only at the end of an answer. A *[MessageStopEvent]
// always follows.
type MessageDeltaEvent struct {
	Delta event.JSON `json:"delta"` // stop_reason, …
	Usage event.JSON `json:"usage,omitempty"`
	Extra Extra      `json:"-"`
}

// MessageStopEvent ends an answer. Incomplete is set if the API's stream broke off before the
// answer was complete.
type MessageStopEvent struct {
	Incomplete bool  `json:"incomplete,omitempty"`
	Extra      Extra `json:"-"`
}

// UnknownEvent is a stream event of a type that this package does not know. Data is the event
// as it was.
type UnknownEvent struct {
	OriginalType string     `json:"originalType"`
	Data         event.JSON `json:"data"`
	Extra        Extra      `json:"-"`
}

// Delta is what a *[ContentBlockDeltaEvent] adds to a block. The set of types is closed: any other
// delta is an *[UnknownDelta].
type Delta interface {
	json.Marshaler
	// Type returns the delta's type on the wire.
	Type() string

	delta()
}

// TextDelta adds a piece to a text block. It is never the output of a tool, which comes in
// tool_progress.
type TextDelta struct {
	Text  string `json:"text"`
	Extra Extra  `json:"-"`
}

// ThinkingDelta adds a piece to a thinking block, while the answer that it is part of is being
// streamed.
type ThinkingDelta struct {
	Thinking string `json:"thinking"`
	Extra    Extra  `json:"-"`
}

// InputJSONDelta adds a piece to the text of a tool's input. The text is valid JSON only when the
// block has ended. It is never output of the tool.
type InputJSONDelta struct {
	PartialJSON string `json:"partial_json"`
	Extra       Extra  `json:"-"`
}

// SignatureDelta adds to the signature of a thinking block, by which the API recognizes the
// model's own thoughts.
type SignatureDelta struct {
	Signature string `json:"signature"`
	Extra     Extra  `json:"-"`
}

// CitationsDelta adds one citation to a text block, in the form that the API has for it.
type CitationsDelta struct {
	Citation event.JSON `json:"citation"`
	Extra    Extra      `json:"-"`
}

// UnknownDelta is a delta of a type that this package does not know. Data is the delta as it
// was.
type UnknownDelta struct {
	OriginalType string     `json:"originalType"`
	Data         event.JSON `json:"data"`
	Extra        Extra      `json:"-"`
}
