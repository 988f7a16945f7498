package event

// Event is one event of a conversation. The set of types is closed; unknown values are an
// *[Unknown], an *[UnknownStream], a *[BlockStart] or a *[BlockDelta] with its JSON. An event is
// read-only and may be read by several goroutines. Its strings can share the memory of its line: a
// program that keeps one for long should clone it.
type Event interface {
	// Head returns the common fields of events.
	Head() *Header

	event()
}

// Header holds the common fields of events: the provider, the session, and the message and subagent
// that they belong to. Fields that do not apply are empty.
type Header struct {
	Provider        string // claude, codex, sim, acp:NAME
	ParentToolUseID string // the tool use of the subagent; empty on the main thread
	MessageID       string // the API's id of the message
	SessionID       string // the provider's session id
	UUID            string // of the line of the event
	Extra           Extra  // members of the message without a field
}

// Head returns h. It implements [Event] for all types that embed a Header.
func (h *Header) Head() *Header { return h }

func (h *Header) event() {}

// MessageStart starts a streamed answer. Its blocks follow, each with a start, deltas and a stop.
type MessageStart struct {
	Header
	Model   string
	Message JSON // the API's message without its content; absent if the start was missed
}

// TextStart starts a text block of an answer. Text is the initial text, which is usually empty.
type TextStart struct {
	Header
	Index int64
	Text  string // usually empty
	Block JSON
}

// ThinkingStart starts a thinking block of an answer. With Summary it is only a summary of the
// reasoning.
type ThinkingStart struct {
	Header
	Index    int64
	Thinking string // usually empty
	Summary  bool   // a summary, not the reasoning
	Block    JSON
}

// ToolStart starts a tool call. Its input follows in deltas, and its result in a [ToolComplete].
type ToolStart struct {
	Header
	Index     int64
	ToolUseID string
	Name      string
	BlockType string // tool_use, or server_tool_use and mcp_tool_use for server-side tools
	Title     string // the provider's description of the call, or ""
	Kind      string // the provider's kind of tool: read, edit, execute, …, or ""
	Block     JSON
}

// BlockStart starts a block of any other type: redacted thinking, the result of a server-side tool,
// an unknown type.
type BlockStart struct {
	Header
	Index     int64
	BlockType string
	Block     JSON // the complete block
}

// TextDelta adds a piece to the text block with its index, which a [TextStart] has started.
type TextDelta struct {
	Header
	Index int64
	Text  string
}

// ThinkingDelta adds a piece to the thinking block with its index, which a [ThinkingStart] has
// started.
type ThinkingDelta struct {
	Header
	Index    int64
	Thinking string
}

// ToolInputDelta adds to the text of a tool's input, which is valid JSON only when it is complete.
// It is never output.
type ToolInputDelta struct {
	Header
	Index       int64
	ToolUseID   string
	PartialJSON string
}

// ToolInputComplete has the complete input of a tool. It precedes the block's *[BlockStop], and is
// omitted if the text was not JSON.
type ToolInputComplete struct {
	Header
	Index     int64
	ToolUseID string
	Input     JSON
}

// BlockDelta is any other addition to a block: a signature, a citation, an unknown type.
type BlockDelta struct {
	Header
	Index     int64
	DeltaType string
	Delta     JSON // the complete delta
}

// BlockStop ends the block with its index. Each start of a block has exactly one stop, even if the
// stream was cut.
type BlockStop struct {
	Header
	Index      int64
	Incomplete bool // the stream was cut, without a stop on the wire
}

// MessageDelta reports how an answer ended, before its end. Converters include it in
// [MessageComplete]; it is for logs of messages, which have the two separately.
type MessageDelta struct {
	Header
	StopReason string
	Usage      JSON
}

// MessageComplete ends a streamed answer. Each [MessageStart] has exactly one, after the stops of
// its blocks.
type MessageComplete struct {
	Header
	StopReason string // empty if the wire has none
	Delta      JSON   // the API's complete message_delta event; absent if the wire has none
	Usage      JSON
	Incomplete bool // the stream was cut, without an end on the wire
	// AbandonedFrom, when set, is the first block that the CLI abandoned: this block and later ones
	// are void, a retry replaces them.
	AbandonedFrom *int64
}

// UnknownStream is an event of the API's stream of an unknown type.
type UnknownStream struct {
	Header
	OriginalType string
	Data         JSON
}
