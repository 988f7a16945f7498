package ui

import "github.com/seed7221b0f9/parley/claude"

// AssistantMessage is a whole message of the model, or a piece of one: the CLI
// writes a line for each finished block. Where the same blocks were streamed it
// confirms them, by their index, and adds nothing.
type AssistantMessage struct {
	Header
	Model      string
	Blocks     []IndexedBlock
	StopReason string      // empty until the answer has ended
	Usage      claude.JSON // set together with StopReason; before it the wire's figures mean nothing
	Error      string      // set: the text is that of an API error
	Aborted    bool        // cut off by an interrupt
	Supersedes []string    // uuids of lines that this one replaces
	Timestamp  string
	AgentID    string
}

// IndexedBlock is a block with the API's index of it.
type IndexedBlock struct {
	Index int64
	Block Content
}

// Content is one content block: what a screen needs of it, and all of it as JSON.
type Content struct {
	Type      string // the wire's
	Text      string // of text and thinking
	Signature string // of thinking
	Citations []claude.JSON
	ToolUseID string      // of a tool use, and of a result that names one
	Name      string      // of a tool use
	Input     claude.JSON // of a tool use
	Raw       claude.JSON // the whole block
}

// UserMessage is a message in the user's role without its tool results, which are
// [ToolComplete] events of their own: a prompt, or a note that the CLI put in.
type UserMessage struct {
	Header
	Blocks      []Content
	IsText      bool // the wire gave one string instead of blocks
	IsPrompt    bool // the caller's own, from [Converter.Prompt]
	IsReplay    bool // a prompt read back; it joins the one with the same uuid
	IsSynthetic bool // written by the CLI, not by a person
	IsMeta      bool
	Origin      string // the kind of sender; empty where nobody is named
	Timestamp   string
	AgentID     string
}

// ToolProgress is a sign of life from a tool that is running: its output so far,
// never its input.
type ToolProgress struct {
	Header
	ToolUseID      string
	ToolName       string
	ElapsedSeconds float64
	TaskID         string
	Heartbeat      bool
	Output         string
	Data           claude.JSON // the whole message
}

// ToolComplete is the result of a tool.
type ToolComplete struct {
	Header
	ToolUseID     string
	Content       claude.JSON // a string or blocks; absent where there is none
	IsError       bool
	ToolUseResult claude.JSON // the tool's own structured output
	Timestamp     string
}

// ResultMessage ends a turn. Whether it failed is IsError and only IsError.
type ResultMessage struct {
	Header
	Subtype          string
	IsError          bool
	Result           string
	Errors           []string
	StructuredOutput claude.JSON
	NumTurns         int64
	DurationMS       int64
	DurationAPIMS    int64
	TotalCostUSD     float64 // of the session so far
	StopReason       string
	TerminalReason   string
	Usage            claude.JSON // of this turn's main loop
	ModelUsage       claude.JSON // of the session so far, by model
	Denials          claude.JSON // the tools that were not allowed
	Data             claude.JSON // the whole message
}

// Error is a failure of the stream itself: the process died, a line was broken. A
// turn that failed is a [ResultMessage].
type Error struct {
	Header
	Message string
}

// Unknown is any other message. OriginalType is its wire type, with the subtype for
// system messages: "system/api_retry".
type Unknown struct {
	Header
	OriginalType string
	Data         claude.JSON // the whole message
}
