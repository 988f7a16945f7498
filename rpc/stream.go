package rpc

import (
	"encoding/json"

	"github.com/seed7221b0f9/parley/ui"
)

// StreamEvent carries one event of the API's stream. UUID is evt-<8 hex>-<n>, unique
// in a session.
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

// AbandonedBlocks stands on a message_stop: the block of this index and those behind
// it are void, a retry takes their place.
type AbandonedBlocks struct {
	APIMessageID   string `json:"api_message_id"`
	FromBlockIndex int64  `json:"from_block_index"`
}

// Event is one event of the API's stream. The set of types is closed; any other event
// is an *[UnknownEvent].
type Event interface {
	json.Marshaler
	// Type is the event's type on the wire.
	Type() string

	event()
}

// MessageStartEvent begins an answer.
type MessageStartEvent struct {
	Message StreamMessage `json:"message"`
	Extra   Extra         `json:"-"`
}

// StreamMessage is a message that begins: no content yet. What else the API says of
// it is in Extra.
type StreamMessage struct {
	ID      string         `json:"id"`
	Model   string         `json:"model,omitempty"`
	Content []ContentBlock `json:"content"`
	Extra   Extra          `json:"-"`
}

// ContentBlockStartEvent begins a block.
type ContentBlockStartEvent struct {
	Index        int64        `json:"index"`
	ContentBlock ContentBlock `json:"content_block"`
	Extra        Extra        `json:"-"`
}

// ContentBlockDeltaEvent adds to a block.
type ContentBlockDeltaEvent struct {
	Index int64 `json:"index"`
	Delta Delta `json:"delta"`
	Extra Extra `json:"-"`
}

// ContentBlockStopEvent ends a block. Incomplete says that the API did not: its
// stream was cut.
type ContentBlockStopEvent struct {
	Index      int64 `json:"index"`
	Incomplete bool  `json:"incomplete,omitempty"`
	Extra      Extra `json:"-"`
}

// MessageDeltaEvent has what is known only at the end of an answer. A *[MessageStopEvent]
// always follows.
type MessageDeltaEvent struct {
	Delta ui.JSON `json:"delta"` // stop_reason, …
	Usage ui.JSON `json:"usage,omitempty"`
	Extra Extra   `json:"-"`
}

// MessageStopEvent ends an answer. Incomplete says that the API did not: its stream
// was cut.
type MessageStopEvent struct {
	Incomplete bool  `json:"incomplete,omitempty"`
	Extra      Extra `json:"-"`
}

// UnknownEvent is an event of any other type.
type UnknownEvent struct {
	OriginalType string  `json:"originalType"`
	Data         ui.JSON `json:"data"`
	Extra        Extra   `json:"-"`
}

// Delta is what a *[ContentBlockDeltaEvent] adds. The set of types is closed; any
// other delta is an *[UnknownDelta].
type Delta interface {
	json.Marshaler
	// Type is the delta's type on the wire.
	Type() string

	delta()
}

// TextDelta adds to a text block. It is never the output of a tool.
type TextDelta struct {
	Text  string `json:"text"`
	Extra Extra  `json:"-"`
}

// ThinkingDelta adds to a thinking block.
type ThinkingDelta struct {
	Thinking string `json:"thinking"`
	Extra    Extra  `json:"-"`
}

// InputJSONDelta adds to the text of a tool's input. It is never output.
type InputJSONDelta struct {
	PartialJSON string `json:"partial_json"`
	Extra       Extra  `json:"-"`
}

// SignatureDelta adds to the signature of a thinking block.
type SignatureDelta struct {
	Signature string `json:"signature"`
	Extra     Extra  `json:"-"`
}

// CitationsDelta adds a citation to a text block.
type CitationsDelta struct {
	Citation ui.JSON `json:"citation"`
	Extra    Extra   `json:"-"`
}

// UnknownDelta is a delta of any other type.
type UnknownDelta struct {
	OriginalType string  `json:"originalType"`
	Data         ui.JSON `json:"data"`
	Extra        Extra   `json:"-"`
}
