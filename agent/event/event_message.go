package event

// AssistantMessage is a whole message of the model, or a piece of one: the Claude CLI
// writes a line for each finished block. Where the same blocks were streamed it
// confirms them, by their index, and adds nothing.
type AssistantMessage struct {
	Header
	Model      string
	Blocks     []IndexedBlock
	StopReason string   // empty until the answer has ended
	Usage      JSON     // set together with StopReason; before it the wire's figures mean nothing
	Error      string   // set: the text is that of an API error
	Aborted    bool     // cut off by an interrupt
	Supersedes []string // uuids of lines that this one replaces
	Phase      string   // commentary, final_answer; empty where the provider has none
	Timestamp  string
	AgentID    string
}

// IndexedBlock is a content block together with its index in the message, as the API counts it
// from 0.
type IndexedBlock struct {
	Index int64
	Block Content
}

// Content is one content block: what a screen needs of it, and all of it as JSON.
type Content struct {
	Type      string // the wire's
	Text      string // of text and thinking
	Signature string // of thinking
	Summary   bool   // of thinking: a summary of the reasoning, not the reasoning itself
	Citations []JSON
	ToolUseID string // of a tool use, and of a result that names one
	Name      string // of a tool use
	Title     string // of a tool use: what the call does
	Kind      string // of a tool use: the provider's kind of tool
	Input     JSON   // of a tool use
	Content   JSON   // of a tool use: what else the agent shows of it, a list of blocks of type text, diff, …
	Locations JSON   // of a tool use: the files that it touches, a list of path and line
	Raw       JSON   // the whole block
}

// UserMessage is a message in the user's role without its tool results, which are
// [ToolComplete] events of their own: a prompt, or a note that the agent put in.
type UserMessage struct {
	Header
	Blocks      []Content
	IsText      bool // the wire gave one string instead of blocks
	IsPrompt    bool // the caller's own
	IsReplay    bool // a prompt read back; it joins the one with the same uuid
	IsSynthetic bool // written by the agent, not by a person
	IsMeta      bool
	Origin      string // the kind of sender; empty where none is named
	Timestamp   string
	AgentID     string
}

// ToolProgress is a sign of life from a tool that is running: its output so far,
// never its input.
type ToolProgress struct {
	Header         `wire:"parent,session"`
	ToolUseID      string  `json:"tool_use_id"`
	ToolName       string  `json:"tool_name,omitempty"`
	ElapsedSeconds float64 `json:"elapsed_time_seconds"`
	TaskID         string  `json:"task_id,omitempty"`
	Heartbeat      bool    `json:"heartbeat,omitempty"`
	Output         string  `json:"output_delta,omitempty"`
	Data           JSON    `json:"-"` // the whole message
}

// ToolComplete is the result of a tool call, which ends it. Truncated is set if the content was
// cut.
type ToolComplete struct {
	Header
	ToolUseID     string
	Content       JSON // a string or blocks; absent where there is none
	IsError       bool
	ToolUseResult JSON // the tool's own structured output
	Truncated     bool // the content was cut; what [ToolProgress] gave may be longer
	Timestamp     string
}

// ResultMessage ends a turn. IsError alone decides whether the turn failed; Subtype and Errors
// give the reason.
type ResultMessage struct {
	Header           `wire:"session<total_cost_usd,uuid"`
	Subtype          string   `json:"subtype"`
	DurationMS       int64    `json:"duration_ms"`
	DurationAPIMS    int64    `json:"duration_api_ms"`
	IsError          bool     `json:"is_error"`
	NumTurns         int64    `json:"num_turns"`
	TotalCostUSD     *float64 `json:"total_cost_usd,omitempty"` // of the session so far; nil where it is not known, never 0 for that
	Usage            JSON     `json:"usage,omitempty"`          // of this turn's main loop
	Result           string   `json:"result,omitempty"`
	Errors           []string `json:"errors,omitempty"`
	StructuredOutput JSON     `json:"structured_output,omitempty"`
	StopReason       string   `json:"stop_reason,omitempty"`
	TerminalReason   string   `json:"terminal_reason,omitempty"`
	ModelUsage       JSON     `json:"modelUsage,omitempty"`         // of the session so far, by model
	Denials          JSON     `json:"permission_denials,omitempty"` // the tools that were not allowed
	Data             JSON     `json:"-" wire:"rest"`                // the whole message
}

// Error is a failure of the stream itself: the process died, a line was broken. A
// turn that failed is a [ResultMessage].
type Error struct {
	Header  `wire:"parent,session"`
	Message string `json:"message"`
}

// Unknown is any other message. OriginalType is its wire type, with the subtype for
// system messages: "system/files_persisted".
type Unknown struct {
	Header       `wire:"parent,session,uuid,provider?"`
	OriginalType string `json:"originalType"`
	Data         JSON   `json:"data"` // the whole message
}
