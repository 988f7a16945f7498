package event

// Event is one thing that happened in a conversation. The set of types is closed;
// what this package does not know is an *[Unknown], an *[UnknownStream], a
// *[BlockStart] or a *[BlockDelta] with its JSON. An event is read-only and may be
// read by several goroutines. Its strings can be parts of the line that it was made
// from: a program that keeps one for long should clone it.
type Event interface {
	// Head returns what every event has in common.
	Head() *Header

	event()
}

// Header holds what events have in common: the provider, the session, and the message and
// subagent that they belong to. Members that do not apply are empty.
type Header struct {
	Provider        string // who the agent is: claude, codex, sim, acp:NAME
	ParentToolUseID string // the tool use whose subagent this belongs to; empty on the main thread
	MessageID       string // the API's id of the message
	SessionID       string // the provider's own session id
	UUID            string // of the line that the event was made from
	Extra           Extra  // members of the message that this package has no field for
}

// Head returns the header itself. It gives all events, which embed a Header, the method of the
// interface [Event].
func (h *Header) Head() *Header { return h }

func (h *Header) event() {}

// MessageStart begins an answer that is streamed. Its blocks follow, each with a start, deltas
// and a stop.
type MessageStart struct {
	Header
	Model   string
	Message JSON // the API's message without its content; absent where the start was missed
}

// TextStart begins a text block of an answer. Text is what the block starts with, which is
// mostly empty.
type TextStart struct {
	Header
	Index int64
	Text  string // mostly empty
	Block JSON
}

// ThinkingStart begins a thinking block of an answer. With Summary it is a summary of the
// reasoning only.
type ThinkingStart struct {
	Header
	Index    int64
	Thinking string // mostly empty
	Summary  bool   // a summary of the reasoning, not the reasoning itself
	Block    JSON
}

// ToolStart begins the call of a tool. Its input follows in deltas, and its result in a
// [ToolComplete].
type ToolStart struct {
	Header
	Index     int64
	ToolUseID string
	Name      string
	BlockType string // tool_use, or server_tool_use and mcp_tool_use for tools on the API's side
	Title     string // what the call does, in the provider's words; empty where it has none
	Kind      string // the provider's kind of tool: read, edit, execute, …; empty where it has none
	Block     JSON
}

// BlockStart begins a block of any other type: redacted thinking, the result of a
// server-side tool, a type that is not known yet.
type BlockStart struct {
	Header
	Index     int64
	BlockType string
	Block     JSON // the whole block
}

// TextDelta adds a piece to the text block of its index, which a [TextStart] has begun before.
type TextDelta struct {
	Header
	Index int64
	Text  string
}

// ThinkingDelta adds a piece to the thinking block of its index, which a [ThinkingStart] has
// begun.
type ThinkingDelta struct {
	Header
	Index    int64
	Thinking string
}

// ToolInputDelta adds to the text of a tool's input, which is JSON only when it is
// whole. It is never output.
type ToolInputDelta struct {
	Header
	Index       int64
	ToolUseID   string
	PartialJSON string
}

// ToolInputComplete has the input of a tool once it is whole. It comes before the
// block's *[BlockStop], and not at all where the text was not JSON.
type ToolInputComplete struct {
	Header
	Index     int64
	ToolUseID string
	Input     JSON
}

// BlockDelta is any other addition to a block: a signature, a citation, one of a
// type that is not known yet.
type BlockDelta struct {
	Header
	Index     int64
	DeltaType string
	Delta     JSON // the whole delta
}

// BlockStop ends the block of its index. Each start of a block has exactly one stop, even if
// the stream was cut.
type BlockStop struct {
	Header
	Index      int64
	Incomplete bool // the wire had none: the stream was cut
}

// MessageDelta is how an answer ended, said before its end. Converters say it with
// [MessageComplete]; it is for logs of messages, which have the two apart.
type MessageDelta struct {
	Header
	StopReason string
	Usage      JSON
}

// MessageComplete ends an answer that was streamed. Each [MessageStart] has exactly
// one, after the stops of its blocks.
type MessageComplete struct {
	Header
	StopReason string // empty where the wire named none
	Delta      JSON   // the API's whole message_delta event; absent where there was none
	Usage      JSON
	Incomplete bool // the wire had no end: the stream was cut
	// AbandonedFrom, when set, is the first block that the CLI gave up: that one and
	// those after it are void, a retry takes their place.
	AbandonedFrom *int64
}

// UnknownStream is an event of the API's stream of a type that is not known.
type UnknownStream struct {
	Header
	OriginalType string
	Data         JSON
}
