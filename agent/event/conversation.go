package event

// ConversationVersion is the number of the JSON form of a [Conversation].
const ConversationVersion = 2

// Conversation is what a screen shows of a session: the fold of its events. The zero
// value is an empty one. It is for one goroutine; its JSON is a snapshot from which
// the fold can go on, here or in the TypeScript client.
//
// Where one event says all that there is to say of a thing, the conversation holds that event, in
// JSON as its message has it with all members. Where several events of a type follow each other,
// as those of a hook or of the usage, the members of a later one replace those of the earlier ones
// unless they are empty. What the fold keeps in a place of its own is not in the event as well:
// the blocks of messages with model, stop reason and usage, the output of hooks, the MCP servers,
// and the text of a result that is the last answer.
//
// What the agent takes back leaves no trace: blocks of an answer that broke off and
// is tried again, lines that a later one supersedes, what a [Truncate] names.
//
// The lists are in order after [Conversation.Settle], which the methods that read call
// by themselves. In a list of up to 512 elements they always are.
type Conversation struct {
	Version        int         `json:"version"`            // ConversationVersion
	Provider       string      `json:"provider,omitempty"` // claude, codex, sim, acp:NAME
	SessionID      string      `json:"sessionId,omitempty"`
	Title          string      `json:"title,omitempty"`
	Goal           string      `json:"goal,omitempty"`
	State          string      `json:"state,omitempty"`  // idle, running, requires_action, …
	Status         string      `json:"status,omitempty"` // what the agent is doing: requesting, compacting
	Model          string      `json:"model,omitempty"`
	PermissionMode string      `json:"permissionMode,omitempty"`
	Sandbox        string      `json:"sandbox,omitempty"`
	CWD            string      `json:"cwd,omitempty"`
	Archived       bool        `json:"archived,omitempty"`
	Deleted        bool        `json:"deleted,omitempty"`
	Init           *SystemInit `json:"init,omitempty"`      // what the last turn began with
	MCPServers     []MCPServer `json:"mcpServers,omitzero"` // as last reported
	Commands       JSON        `json:"commands,omitempty"`  // that can be called, where the agent said that they changed
	Threads        []*Thread   `json:"threads"`             // the main thread first, then those of subagents by their tool use
	Turns          []*Turn     `json:"turns"`               // as they began
	Answer         *AnswerRef  `json:"answer,omitempty"`    // the last text of the main thread
	Tasks          []*Task     `json:"tasks"`               // as they began
	Prompts        []*Prompt   `json:"prompts"`             // that wait for an answer
	Queue          []QueueItem `json:"queue"`               // inputs that wait
	Totals         Totals      `json:"totals"`
	Usage          *Usage      `json:"usage,omitempty"`     // of the turn that runs, or of the last
	RateLimit      *RateLimit  `json:"rateLimit,omitempty"` // where the account stands, as last said
	Retry          *Retry      `json:"retry,omitempty"`     // a request that is being sent again
	Hooks          []*HookRun  `json:"hooks"`               // the last 100
	HooksOmitted   int64       `json:"hooksOmitted,omitempty"`
	Notices        []NoticeRow `json:"notices"` // the last 100
	NoticesOmitted int64       `json:"noticesOmitted,omitempty"`
	Restarts       int64       `json:"restarts,omitempty"` // how often the agent was started again

	index *index
}

// Thread is the main conversation, or that of one subagent, which ParentToolUseID then names by
// its tool use.
type Thread struct {
	ParentToolUseID string  `json:"parentToolUseId"` // the tool use that the subagent answers; empty for the main thread
	Plan            *Plan   `json:"plan,omitempty"`  // what the agent means to do
	Items           []*Item `json:"items"`
}

// The kinds of an [Item]. The set is open for readers of its JSON, who should show an unknown
// kind as such.
const (
	ItemMessage    = "message"
	ItemCompaction = "compaction"
	ItemResult     = "result"
	ItemError      = "error"
	ItemToolResult = "tool_result"
	ItemUnknown    = "unknown"
)

// Item is one thing in a thread, such as a message or a result. Kind decides which of its
// members is set.
type Item struct {
	Kind       string           `json:"kind"`
	TurnID     string           `json:"turnId,omitempty"` // the turn that it came in
	Message    *Message         `json:"message,omitempty"`
	Compaction *CompactBoundary `json:"compaction,omitempty"`
	Result     *ResultMessage   `json:"result,omitempty"` // Result is empty where it is the text of the last answer
	Error      *Error           `json:"error,omitempty"`
	ToolResult *ToolResult      `json:"toolResult,omitempty"`
	Unknown    *Unknown         `json:"unknown,omitempty"`
	Stream     bool             `json:"stream,omitempty"` // Unknown is an event of the API's stream
}

// State is how far a message or a block has come: it is growing, it is whole, or it was cut.
type State string

// The states of messages and blocks. A block is complete after it has streamed, or incomplete
// if the stream was cut.
const (
	Streaming  State = "streaming"
	Complete   State = "complete"
	Incomplete State = "incomplete" // the stream was cut, and the whole never came
)

// Message is one message of a thread, by the model or from the user's side, with its blocks by
// index.
type Message struct {
	Role       string   `json:"role"`           // assistant, user
	ID         string   `json:"id,omitempty"`   // the API's, of an assistant's message
	UUID       string   `json:"uuid,omitempty"` // of a user's message
	Model      string   `json:"model,omitempty"`
	State      State    `json:"state"`
	Blocks     []*Block `json:"blocks"`               // by index
	StopReason string   `json:"stopReason,omitempty"` // given at the end of a streamed answer
	Usage      JSON     `json:"usage,omitempty"`      // given with StopReason
	// Line has what the lines of the model's message say of it as a whole, and User the message
	// from the user's side. Both are without blocks.
	Line *AssistantMessage `json:"line,omitempty"`
	User *UserMessage      `json:"user,omitempty"`
	// Restart is Conversation.Restarts when the message began: an agent that was started again may
	// use an id again, for another message.
	Restart int64 `json:"restart,omitempty"`
}

// Block is one block of a message: a text, a thought, a tool call, or anything else that its
// type names.
type Block struct {
	Index     int64     `json:"index"` // the API's
	Type      string    `json:"type"`
	State     State     `json:"state"`
	Whole     bool      `json:"whole,omitempty"` // confirmed by a whole message; deltas add nothing any more
	UUID      string    `json:"uuid,omitempty"`  // of the line that confirmed it
	Text      Text      `json:"text,omitzero"`   // of text and thinking
	Signature Text      `json:"signature,omitzero"`
	Summary   bool      `json:"summary,omitempty"` // of thinking: a summary of the reasoning
	Citations []JSON    `json:"citations,omitempty"`
	Tool      *ToolCall `json:"tool,omitempty"`
	Data      JSON      `json:"data,omitempty"`   // the whole block, of any other type
	Deltas    []JSON    `json:"deltas,omitempty"` // of a type that is not known, until the block is whole
}

// The states of a tool call. A call is in progress until its result arrives, which is a success
// or a failure, or until its agent ends without one.
const (
	ToolInProgress  = "in_progress"
	ToolSuccess     = "success"
	ToolFailed      = "failed"
	ToolInterrupted = "interrupted"
)

// ToolCall is a call of a tool: what went in, how it goes, what came out. If it
// started a subagent, that one's thread is [Conversation.Thread] of the call's ID.
type ToolCall struct {
	ID            string    `json:"id"`
	Name          string    `json:"name"`
	ToolType      string    `json:"toolType"`
	Title         string    `json:"title,omitempty"`
	Kind          string    `json:"kind,omitempty"`      // the provider's kind of tool
	Input         JSON      `json:"input,omitempty"`     // once it is whole
	InputText     Text      `json:"inputText,omitzero"`  // until then, as far as it has come
	Content       JSON      `json:"content,omitempty"`   // what else the agent shows of the call: blocks of type text, diff, …
	Locations     JSON      `json:"locations,omitempty"` // the files that it touches: path and line of each
	Status        string    `json:"status"`
	Result        JSON      `json:"result,omitempty"` // a string or blocks
	ToolUseResult JSON      `json:"toolUseResult,omitempty"`
	ResultUUID    string    `json:"resultUuid,omitempty"`
	Truncated     bool      `json:"truncated,omitempty"` // the result was cut
	Progress      *Progress `json:"progress,omitempty"`
	Decision      *Decision `json:"decision,omitempty"`
}

// Progress is the last sign of life of a running tool: the seconds it has taken, and its output
// so far.
type Progress struct {
	ElapsedSeconds float64 `json:"elapsedSeconds"`
	TaskID         string  `json:"taskId,omitempty"`
	Output         Text    `json:"output,omitzero"`
}

// Decision is a person's decision about a tool call: allowed or denied, for how long, and by
// whom.
type Decision struct {
	Behavior string `json:"behavior"`
	Scope    string `json:"scope,omitempty"` // how long it holds
	Message  string `json:"message,omitempty"`
	By       string `json:"by,omitempty"`
}

// ToolResult is the result of a tool whose call the conversation has not seen, so that it is an
// item of its own.
type ToolResult struct {
	Truncated     bool   `json:"truncated,omitempty"`
	ToolUseID     string `json:"toolUseId"`
	UUID          string `json:"uuid,omitempty"`
	Content       JSON   `json:"content,omitempty"`
	IsError       bool   `json:"isError"`
	ToolUseResult JSON   `json:"toolUseResult,omitempty"`
}

// Task is a subagent or a command that runs in the background, with its state and what it has
// used.
type Task struct {
	ID             string `json:"id"`
	Description    string `json:"description,omitempty"` // as last reported, like all below
	IsBackgrounded bool   `json:"isBackgrounded"`
	Status         string `json:"status"` // running, completed, failed, stopped, killed, …
	Summary        string `json:"summary,omitempty"`
	Usage          JSON   `json:"usage,omitempty"`

	Started  *TaskStarted      `json:"started,omitempty"`
	Progress *TaskProgress     `json:"progress,omitempty"`
	Updated  *TaskUpdated      `json:"updated,omitempty"`
	Ended    *TaskNotification `json:"ended,omitempty"`
	Restart  int64             `json:"restart,omitempty"` // Conversation.Restarts when it began
}

// Prompt is a request to a person that waits for an answer: the event that asks. One of its
// members is set.
type Prompt struct {
	Permission *PermissionRequest
	Question   *QuestionRequest
}

// Totals add up what turns have used. Tokens are those of the main loop; CostUSD,
// DurationAPIMS and ModelUsage are the provider's own totals with subagents. An agent that
// restarts may count from 0 again; CostUSD includes the cost before that.
type Totals struct {
	Turns                    int64    `json:"turns"`
	CostUSD                  *float64 `json:"costUsd,omitempty"`    // absent where it is not known
	CostBefore               float64  `json:"costBefore,omitempty"` // the part of CostUSD from before the agent counted from 0 again
	Restarts                 int64    `json:"restarts,omitempty"`   // Conversation.Restarts at the last result
	DurationMS               int64    `json:"durationMs"`
	DurationAPIMS            int64    `json:"durationApiMs"`
	InputTokens              float64  `json:"inputTokens"`
	OutputTokens             float64  `json:"outputTokens"`
	CacheCreationInputTokens float64  `json:"cacheCreationInputTokens"`
	CacheReadInputTokens     float64  `json:"cacheReadInputTokens"`
	ModelUsage               JSON     `json:"modelUsage,omitempty"`
}
