package claude

import "encoding/json"

// StreamEventMessage carries one event of the API's stream, with
// [Options.IncludePartialMessages]. [Accumulator] puts events together again.
// Subagents have none.
type StreamEventMessage struct {
	Header
	Event            StreamEvent      `json:"event"`
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

// AbandonedBlocks says which blocks of a broken answer will not be finished.
type AbandonedBlocks struct {
	APIMessageID   string `json:"api_message_id"`
	FromBlockIndex int64  `json:"from_block_index"`
}

// TextDelta is the text that the event adds, "" if it adds none.
func (m *StreamEventMessage) TextDelta() string {
	if e, ok := m.Event.(*ContentBlockDeltaEvent); ok {
		if d, ok := e.Delta.(*TextDelta); ok {
			return d.Text
		}
	}
	return ""
}

// StreamEvent is one event of the API's stream. The set of types is closed; an
// event that this package does not know is an *[UnknownEvent].
type StreamEvent interface {
	// Raw returns a copy of the event's text, nil for an event that was built.
	Raw() json.RawMessage

	event() *eventText
}

// eventText is the part of the line that an event came from.
type eventText struct{ text string }

// Raw returns a copy of the text, nil if there is none.
func (e *eventText) Raw() json.RawMessage { return JSON(e.text).Bytes() }

func (e *eventText) event() *eventText { return e }

// MessageStartEvent begins an answer; its message has no content yet.
type MessageStartEvent struct {
	eventText
	Message APIMessage `json:"message"`
}

// ContentBlockStartEvent begins a block.
type ContentBlockStartEvent struct {
	eventText
	Index        int64        `json:"index"`
	ContentBlock ContentBlock `json:"content_block"`
}

// ContentBlockDeltaEvent adds to a block.
type ContentBlockDeltaEvent struct {
	eventText
	Index int64 `json:"index"`
	Delta Delta `json:"delta"`
}

// ContentBlockStopEvent ends a block. The finished block's *[AssistantMessage]
// comes before it.
type ContentBlockStopEvent struct {
	eventText
	Index int64 `json:"index"`
}

// MessageDeltaEvent has what is known only at the end of an answer.
type MessageDeltaEvent struct {
	eventText
	Delta                MessageDelta `json:"delta"`
	Usage                *Usage       `json:"usage,omitempty"`
	ContextManagement    JSON         `json:"context_management,omitempty"`
	InputTransformations JSON         `json:"input_transformations,omitempty"`
}

// MessageDelta is how an answer ended.
type MessageDelta struct {
	StopReason   string `json:"stop_reason,omitempty"`
	StopSequence string `json:"stop_sequence,omitempty"`
	StopDetails  JSON   `json:"stop_details,omitempty"`
	Container    JSON   `json:"container,omitempty"`
}

// MessageStopEvent ends an answer.
type MessageStopEvent struct{ eventText }

// PingEvent keeps a stream alive.
type PingEvent struct{ eventText }

// ErrorEvent is an error in the middle of a stream.
type ErrorEvent struct {
	eventText
	Error APIError `json:"error"`
}

// APIError is an error of the API.
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

// Delta is what a *[ContentBlockDeltaEvent] adds. The set of types is closed; a
// delta that this package does not know is an *[UnknownDelta].
type Delta interface {
	// Raw returns a copy of the delta's text, nil for a delta that was built.
	Raw() json.RawMessage

	delta() *deltaText
}

// deltaText is the part of the line that a delta came from.
type deltaText struct{ text string }

// Raw returns a copy of the text, nil if there is none.
func (d *deltaText) Raw() json.RawMessage { return JSON(d.text).Bytes() }

func (d *deltaText) delta() *deltaText { return d }

// TextDelta adds to a [TextBlock].
type TextDelta struct {
	deltaText
	Text string `json:"text"`
}

// ThinkingDelta adds to a [ThinkingBlock].
type ThinkingDelta struct {
	deltaText
	Thinking        string `json:"thinking"`
	EstimatedTokens int64  `json:"estimated_tokens,omitempty"`
}

// SignatureDelta adds to the signature of a [ThinkingBlock].
type SignatureDelta struct {
	deltaText
	Signature string `json:"signature"`
}

// InputJSONDelta adds to the text of a tool's input, which is JSON only when
// it is whole.
type InputJSONDelta struct {
	deltaText
	PartialJSON string `json:"partial_json"`
}

// CitationsDelta adds a citation to a [TextBlock].
type CitationsDelta struct {
	deltaText
	Citation Citation `json:"citation"`
}

// CompactionDelta adds to a [CompactionBlock].
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

var eventTypes = map[string]func() StreamEvent{
	"message_start":       func() StreamEvent { return new(MessageStartEvent) },
	"content_block_start": func() StreamEvent { return new(ContentBlockStartEvent) },
	"content_block_delta": func() StreamEvent { return new(ContentBlockDeltaEvent) },
	"content_block_stop":  func() StreamEvent { return new(ContentBlockStopEvent) },
	"message_delta":       func() StreamEvent { return new(MessageDeltaEvent) },
	"message_stop":        func() StreamEvent { return new(MessageStopEvent) },
	"ping":                func() StreamEvent { return new(PingEvent) },
	"error":               func() StreamEvent { return new(ErrorEvent) },
}

var deltaTypes = map[string]func() Delta{
	"text_delta":       func() Delta { return new(TextDelta) },
	"thinking_delta":   func() Delta { return new(ThinkingDelta) },
	"signature_delta":  func() Delta { return new(SignatureDelta) },
	"input_json_delta": func() Delta { return new(InputJSONDelta) },
	"citations_delta":  func() Delta { return new(CitationsDelta) },
	"compaction_delta": func() Delta { return new(CompactionDelta) },
}
