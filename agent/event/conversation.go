package event

// ConversationVersion is the version of the JSON form of a [Conversation].
const ConversationVersion = 2

// Conversation is the fold of a session's events: the state that a screen shows. The zero value is
// an empty conversation. It is not safe for concurrent use; its JSON is a snapshot from which the
// fold can continue, here or in the TypeScript client.
//
// If a single event describes something completely, the conversation holds that event, in JSON with
// all members of its message. If several events of a type describe it, such as those of a hook or
// of the usage, the non-empty members of a later event replace those of earlier ones. Data that the
// fold stores elsewhere is not repeated in the event: the blocks of messages with model, stop
// reason and usage, the output of hooks, the MCP servers, and the text of a result that is the last
// answer.
//
// Retracted parts leave no trace: blocks of an interrupted answer that is retried, lines that a
// later one supersedes, and everything that a [Truncate] names.
//
// The lists are in order after [Conversation.Settle], which reading methods call automatically.
// Lists of up to 512 elements are always in order.
type Conversation struct {
	Version        int         `json:"version"`            // ConversationVersion
	Provider       string      `json:"provider,omitempty"` // claude, codex, sim, acp:NAME
	SessionID      string      `json:"sessionId,omitempty"`
	Title          string      `json:"title,omitempty"`
	Goal           string      `json:"goal,omitempty"`
	State          string      `json:"state,omitempty"`  // idle, running, requires_action, …
	Status         string      `json:"status,omitempty"` // the current activity of the agent: requesting, compacting
	Model          string      `json:"model,omitempty"`
	PermissionMode string      `json:"permissionMode,omitempty"`
	Sandbox        string      `json:"sandbox,omitempty"`
	CWD            string      `json:"cwd,omitempty"`
	Archived       bool        `json:"archived,omitempty"`
	Deleted        bool        `json:"deleted,omitempty"`
	Init           *SystemInit `json:"init,omitempty"`      // from the start of the last turn
	MCPServers     []MCPServer `json:"mcpServers,omitzero"` // as last reported
	Commands       JSON        `json:"commands,omitempty"`  // available commands, if the agent reported a change
	Threads        []*Thread   `json:"threads"`             // the main thread first, then those of subagents by their tool use
	Turns          []*Turn     `json:"turns"`               // in order of their starts
	Answer         *AnswerRef  `json:"answer,omitempty"`    // the last text of the main thread
	Tasks          []*Task     `json:"tasks"`               // in order of their starts
	Prompts        []*Prompt   `json:"prompts"`             // requests that wait for an answer
	Queue          []QueueItem `json:"queue"`               // inputs that wait
	Totals         Totals      `json:"totals"`
	Usage          *Usage      `json:"usage,omitempty"`     // of the running turn, or of the last
	RateLimit      *RateLimit  `json:"rateLimit,omitempty"` // the account's limits, as last reported
	Retry          *Retry      `json:"retry,omitempty"`     // a request that is being retried
	Hooks          []*HookRun  `json:"hooks"`               // the last 100
	HooksOmitted   int64       `json:"hooksOmitted,omitempty"`
	Notices        []NoticeRow `json:"notices"` // the last 100
	NoticesOmitted int64       `json:"noticesOmitted,omitempty"`
	Restarts       int64       `json:"restarts,omitempty"` // number of restarts of the agent

	index *index
}

// Thread is the main conversation, or that of the subagent with this ParentToolUseID.
type Thread struct {
	ParentToolUseID string  `json:"parentToolUseId"` // the tool use of the subagent; empty for the main thread
	Plan            *Plan   `json:"plan,omitempty"`  // the agent's plan
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

// Item is an element of a thread, such as a message or a result. Kind determines which member is
// set.
type Item struct {
	Kind       string           `json:"kind"`
	TurnID     string           `json:"turnId,omitempty"` // the turn to which it belongs
	Message    *Message         `json:"message,omitempty"`
	Compaction *CompactBoundary `json:"compaction,omitempty"`
	Result     *ResultMessage   `json:"result,omitempty"` // Result is empty if it equals the text of the last answer
	Error      *Error           `json:"error,omitempty"`
	ToolResult *ToolResult      `json:"toolResult,omitempty"`
	Unknown    *Unknown         `json:"unknown,omitempty"`
	Stream     bool             `json:"stream,omitempty"` // Unknown is an event of the API's stream
}

// State is the progress of a message or a block: streaming, complete or incomplete.
type State string

// The states of messages and blocks. A block is complete after it has streamed, or incomplete
// if the stream was cut.
const (
	Streaming  State = "streaming"
	Complete   State = "complete"
	Incomplete State = "incomplete" // the stream was cut, and no complete message followed
)

// Message is one message of a thread, by the model or in the user's role, with its blocks by index.
type Message struct {
	Role       string   `json:"role"`           // assistant, user
	ID         string   `json:"id,omitempty"`   // the API's id, for the assistant
	UUID       string   `json:"uuid,omitempty"` // for the user
	Model      string   `json:"model,omitempty"`
	State      State    `json:"state"`
	Blocks     []*Block `json:"blocks"`               // by index
	StopReason string   `json:"stopReason,omitempty"` // set at the end of a streamed answer
	Usage      JSON     `json:"usage,omitempty"`      // set with StopReason
	// Line has the data of the model's message as a whole, and User the message in the user's role.
	// Both are without blocks.
	Line *AssistantMessage `json:"line,omitempty"`
	User *UserMessage      `json:"user,omitempty"`
	// Restart is Conversation.Restarts at the start of the message: a restarted agent may reuse an
	// id for another message.
	Restart int64 `json:"restart,omitempty"`
}

// Block is one block of a message: a text, a thought, a tool call, or another type.
type Block struct {
	Index     int64     `json:"index"` // the API's
	Type      string    `json:"type"`
	State     State     `json:"state"`
	Whole     bool      `json:"whole,omitempty"` // confirmed by a complete message; further deltas have no effect
	UUID      string    `json:"uuid,omitempty"`  // of the confirming line
	Text      Text      `json:"text,omitzero"`   // for text and thinking
	Signature Text      `json:"signature,omitzero"`
	Summary   bool      `json:"summary,omitempty"` // for thinking: a summary of the reasoning
	Citations []JSON    `json:"citations,omitempty"`
	Tool      *ToolCall `json:"tool,omitempty"`
	Data      JSON      `json:"data,omitempty"`   // the complete block, for any other type
	Deltas    []JSON    `json:"deltas,omitempty"` // for an unknown type, until the block is complete
}

// The states of a tool call. A call is in progress until its result arrives, which is a success or
// a failure, or until its agent ends without a result.
const (
	ToolInProgress  = "in_progress"
	ToolSuccess     = "success"
	ToolFailed      = "failed"
	ToolInterrupted = "interrupted"
)

// ToolCall is a tool call: input, state and result. If it started a subagent, the subagent's thread
// is [Conversation.Thread] of the call's ID.
type ToolCall struct {
	ID            string    `json:"id"`
	Name          string    `json:"name"`
	ToolType      string    `json:"toolType"`
	Title         string    `json:"title,omitempty"`
	Kind          string    `json:"kind,omitempty"`      // the provider's kind of tool
	Input         JSON      `json:"input,omitempty"`     // when it is complete
	InputText     Text      `json:"inputText,omitzero"`  // until then, the text so far
	Content       JSON      `json:"content,omitempty"`   // further content of the call from the agent: blocks of type text, diff, …
	Locations     JSON      `json:"locations,omitempty"` // the files that the call uses: path and line of each
	Status        string    `json:"status"`
	Result        JSON      `json:"result,omitempty"` // a string or blocks
	ToolUseResult JSON      `json:"toolUseResult,omitempty"`
	ResultUUID    string    `json:"resultUuid,omitempty"`
	Truncated     bool      `json:"truncated,omitempty"` // the result was cut
	Progress      *Progress `json:"progress,omitempty"`
	Decision      *Decision `json:"decision,omitempty"`
}

// Progress is the last progress report of a running tool: the elapsed seconds, and its output so
// far.
type Progress struct {
	ElapsedSeconds float64 `json:"elapsedSeconds"`
	TaskID         string  `json:"taskId,omitempty"`
	Output         Text    `json:"output,omitzero"`
}

// Decision is a person's decision about a tool call: allowed or denied, its duration, and the
// person.
type Decision struct {
	Behavior string `json:"behavior"`
	Scope    string `json:"scope,omitempty"` // duration of the decision
	Message  string `json:"message,omitempty"`
	By       string `json:"by,omitempty"`
}

// ToolResult is the result of a tool with an unknown call, stored as a separate item.
type ToolResult struct {
	Truncated     bool   `json:"truncated,omitempty"`
	ToolUseID     string `json:"toolUseId"`
	UUID          string `json:"uuid,omitempty"`
	Content       JSON   `json:"content,omitempty"`
	IsError       bool   `json:"isError"`
	ToolUseResult JSON   `json:"toolUseResult,omitempty"`
}

// Task is a subagent or a command that runs in the background, with its state and usage.
type Task struct {
	ID             string `json:"id"`
	Description    string `json:"description,omitempty"` // as last reported, like all fields below
	IsBackgrounded bool   `json:"isBackgrounded"`
	Status         string `json:"status"` // running, completed, failed, stopped, killed, …
	Summary        string `json:"summary,omitempty"`
	Usage          JSON   `json:"usage,omitempty"`

	Started  *TaskStarted      `json:"started,omitempty"`
	Progress *TaskProgress     `json:"progress,omitempty"`
	Updated  *TaskUpdated      `json:"updated,omitempty"`
	Ended    *TaskNotification `json:"ended,omitempty"`
	Restart  int64             `json:"restart,omitempty"` // Conversation.Restarts at its start
}

// Prompt is a request to a person that waits for an answer: the event that asks. One of its members
// is set.
type Prompt struct {
	Permission *PermissionRequest
	Question   *QuestionRequest
}

// Totals are the sums over all turns. Tokens are those of the main loop; CostUSD, DurationAPIMS and
// ModelUsage are the provider's totals including subagents. A restarted agent may count from 0
// again; CostUSD includes the cost before the restart.
type Totals struct {
	Turns                    int64    `json:"turns"`
	CostUSD                  *float64 `json:"costUsd,omitempty"`    // absent if unknown
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
