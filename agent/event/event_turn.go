package event

// The parties that can start a turn. The set is open: providers may have others, which are shown
// unchanged.
const (
	ByUser  = "user"  // a prompt that was sent while the agent was idle
	ByQueue = "queue" // a prompt that waited for the previous turn
	ByTask  = "task"  // a background task that ended
	ByAgent = "agent" // the agent: a goal, a schedule, a compaction
)

// TurnStart starts a turn, for a prompt or by the agent. A [ResultMessage] ends the turn.
type TurnStart struct {
	Header   `wire:"session,uuid"`
	TurnID   string `json:"turn_id"`             // unique in the session
	By       string `json:"by"`                  // ByUser, ByQueue, ByTask, ByAgent
	PromptID string `json:"prompt_id,omitempty"` // the uuid of the prompt that started it, or ""
}

// The states of a [PlanEntry]. The set is open: providers may have others, which are shown
// unchanged.
const (
	PlanPending    = "pending"
	PlanInProgress = "in_progress"
	PlanCompleted  = "completed"
)

// Plan is the agent's complete plan: it replaces the previous one. A subagent has a separate plan,
// by ParentToolUseID.
type Plan struct {
	Header      `wire:"parent,session,uuid"`
	Entries     []PlanEntry `json:"entries"`
	Explanation string      `json:"explanation,omitempty"` // the reason of the change
	Text        string      `json:"text,omitempty"`        // a plan in prose, usually one that waits for approval
	Omitted     int64       `json:"omitted,omitempty"`     // number of omitted entries, the oldest, because there are too many
	ToolUseID   string      `json:"tool_use_id,omitempty"` // the call that changed it
}

// PlanEntry is one step of the agent's plan: its content, its state, and optionally a priority and
// an owner.
type PlanEntry struct {
	ID         string   `json:"id,omitempty"`
	Content    string   `json:"content"`
	Status     string   `json:"status"`               // PlanPending, PlanInProgress, PlanCompleted
	ActiveForm string   `json:"activeForm,omitempty"` // the content in progressive form
	Priority   string   `json:"priority,omitempty"`   // high, medium, low
	Owner      string   `json:"owner,omitempty"`
	BlockedBy  []string `json:"blockedBy,omitempty"` // ids of entries that precede it
}

// The kinds of a [FileChange]. The set is open: providers may have others, which are shown
// unchanged.
const (
	ChangeAdd    = "add"
	ChangeUpdate = "update"
	ChangeDelete = "delete"
	ChangeMove   = "move"
)

// TurnDiff lists files that a turn has changed. It adds to earlier changes of the turn; with
// Replace it replaces those of the same tool use or, without a tool use, all changes of the turn.
type TurnDiff struct {
	Header    `wire:"parent,session,uuid"`
	TurnID    string       `json:"turn_id,omitempty"`
	ToolUseID string       `json:"tool_use_id,omitempty"` // the call that changed them; empty for the whole turn
	Replace   bool         `json:"replace,omitempty"`
	Files     []FileChange `json:"files"`
}

// FileChange is one change of a file. Line numbers refer to the file right before and after this
// change, not before and after the turn.
type FileChange struct {
	Path      string `json:"path"`
	Kind      string `json:"kind"` // ChangeAdd, ChangeUpdate, ChangeDelete, ChangeMove
	MovedTo   string `json:"movedTo,omitempty"`
	ToolUseID string `json:"toolUseId,omitempty"`
	Hunks     []Hunk `json:"hunks"`
	Diff      string `json:"diff,omitempty"` // a unified diff, from a provider without hunks
}

// Hunk is a range of lines of a file. A count that is absent on the wire is that of its lines.
type Hunk struct {
	OldStart int64    `json:"oldStart"`
	OldLines int64    `json:"oldLines"`
	NewStart int64    `json:"newStart"`
	NewLines int64    `json:"newLines"`
	Lines    []string `json:"lines"` // each after ' ', '-' or '+'
}

// Usage is the usage of a turn so far and the size of the context. A nil member is unknown.
type Usage struct {
	Header                   `wire:"session,uuid"`
	TurnID                   string   `json:"turn_id,omitempty"`
	Model                    string   `json:"model,omitempty"`
	InputTokens              *int64   `json:"input_tokens,omitempty"` // of the turn so far, without cached tokens
	OutputTokens             *int64   `json:"output_tokens,omitempty"`
	CacheCreationInputTokens *int64   `json:"cache_creation_input_tokens,omitempty"`
	CacheReadInputTokens     *int64   `json:"cache_read_input_tokens,omitempty"`
	ReasoningTokens          *int64   `json:"reasoning_tokens,omitempty"` // the part of the output that was reasoning
	ContextTokens            *int64   `json:"context_tokens,omitempty"`   // current size of the context
	ContextWindow            *int64   `json:"context_window,omitempty"`   // its size
	CostUSD                  *float64 `json:"cost_usd,omitempty"`         // of the session so far
	Data                     JSON     `json:"data,omitempty"`             // the provider's figures
}

// Truncate removes a part of the conversation: after a rewind, a revert, a reset or a refusal. It
// affects the fold; files are not changed. Of the members From, TurnID, Lines and All the first
// that is set counts.
type Truncate struct {
	Header `wire:"parent,session,uuid"`
	Reason string   `json:"reason,omitempty"`  // rewind, revert, clear, refusal, …
	From   string   `json:"from,omitempty"`    // the uuid of the first removed message; all after it are removed too
	TurnID string   `json:"turn_id,omitempty"` // the first removed turn; all after it are removed too
	Lines  []string `json:"lines,omitempty"`   // the uuids of removed lines, without others
	All    bool     `json:"all,omitempty"`     // everything is removed
}
