package event

// AssistantMessage is a complete message of the model, or a part of it: the Claude CLI writes a
// line for each finished block. If the same blocks were streamed, it confirms them by index and
// adds none.
type AssistantMessage struct {
	Header
	Model      string
	Blocks     []IndexedBlock
	StopReason string   // empty until the answer has ended
	Usage      JSON     // set together with StopReason; earlier figures on the wire are meaningless
	Error      string   // if set, the text is that of an API error
	Aborted    bool     // cut off by an interrupt
	Supersedes []string // uuids of lines that this one replaces
	Phase      string   // commentary, final_answer; empty if the provider has none
	Timestamp  string
	AgentID    string
}

// IndexedBlock is a content block with its index in the message, as the API counts it from 0.
type IndexedBlock struct {
	Index int64
	Block Content
}

// Content is one content block: the data for a screen, and the complete block as JSON.
type Content struct {
	Type      string // the type on the wire
	Text      string // for text and thinking
	Signature string // for thinking
	Summary   bool   // for thinking: a summary, not the reasoning
	Citations []JSON
	ToolUseID string // for a tool use, and for its result
	Name      string // for a tool use
	Title     string // for a tool use: description of the call
	Kind      string // for a tool use: the provider's kind of tool
	Input     JSON   // for a tool use
	Content   JSON   // for a tool use: further content from the agent, a list of blocks of type text, diff, …
	Locations JSON   // for a tool use: the files that it uses, a list of path and line
	Raw       JSON   // the complete block
}

// UserMessage is a message in the user's role without its tool results, which are separate
// [ToolComplete] events: a prompt, or a note that the agent added.
type UserMessage struct {
	Header
	Blocks      []Content
	IsText      bool // the wire has one string instead of blocks
	IsPrompt    bool // sent by the caller
	IsReplay    bool // a prompt read back; it is merged with the one with the same uuid
	IsSynthetic bool // written by the agent, not by a person
	IsMeta      bool
	Origin      string // the kind of sender, or ""
	By          string // of a prompt: the name of the person who sent it, if the server has several; "" for its owner
	Timestamp   string
	AgentID     string
}

// ToolProgress is a progress report of a running tool: its output so far, never its input.
type ToolProgress struct {
	Header         `wire:"parent,session"`
	ToolUseID      string  `json:"tool_use_id"`
	ToolName       string  `json:"tool_name,omitempty"`
	ElapsedSeconds float64 `json:"elapsed_time_seconds"`
	TaskID         string  `json:"task_id,omitempty"`
	Heartbeat      bool    `json:"heartbeat,omitempty"`
	Output         string  `json:"output_delta,omitempty"`
	Data           JSON    `json:"-"` // the complete message
}

// ToolComplete is the result of a tool call, which ends it. Truncated is set if the content was
// cut.
type ToolComplete struct {
	Header
	ToolUseID     string
	Content       JSON // a string or blocks; may be absent
	IsError       bool
	ToolUseResult JSON // the tool's structured output
	Truncated     bool // the content was cut; the output of [ToolProgress] may be longer
	Timestamp     string
}

// ResultMessage ends a turn. IsError alone decides whether the turn failed; Subtype and Errors
// give the reason.
type ResultMessage struct {
	Header           `wire:"session<total_cost_usd,uuid"`
	Subtype          string   `json:"subtype"`
	DurationMS       int64    `json:"duration_ms"`
	DurationAPIMS    int64    `json:"duration_api_ms"`
	WaitedMS         int64    `json:"waited_ms,omitempty"` // the part of DurationMS in which a request waited for a person
	IsError          bool     `json:"is_error"`
	NumTurns         int64    `json:"num_turns"`
	TotalCostUSD     *float64 `json:"total_cost_usd,omitempty"` // of the session so far; nil if unknown, never 0
	Usage            JSON     `json:"usage,omitempty"`          // of this turn's main loop
	Result           string   `json:"result,omitempty"`
	Errors           []string `json:"errors,omitempty"`
	StructuredOutput JSON     `json:"structured_output,omitempty"`
	StopReason       string   `json:"stop_reason,omitempty"`
	TerminalReason   string   `json:"terminal_reason,omitempty"`
	ModelUsage       JSON     `json:"modelUsage,omitempty"`         // of the session so far, by model
	Denials          JSON     `json:"permission_denials,omitempty"` // the denied tools
	Data             JSON     `json:"-" wire:"rest"`                // the complete message
}

// Error is a failure of the stream: the process exited, a line was invalid. A turn that failed is a
// [ResultMessage].
type Error struct {
	Header  `wire:"parent,session"`
	Message string `json:"message"`
}

// Unknown is any other message. OriginalType is its wire type, with the subtype for
// system messages: "system/files_persisted".
type Unknown struct {
	Header       `wire:"parent,session,uuid,provider?"`
	OriginalType string `json:"originalType"`
	Data         JSON   `json:"data"` // the complete message
}
