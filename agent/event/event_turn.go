package event

// The parties that can begin a turn. The set is open: providers may have others, which are
// shown as they are.
const (
	ByUser  = "user"  // a prompt that was sent while the agent was idle
	ByQueue = "queue" // a prompt that waited for the turn before
	ByTask  = "task"  // a task in the background that ended
	ByAgent = "agent" // the agent itself: a goal, a schedule, a compaction
)

// TurnStart begins a turn, for a prompt or by the agent itself. A [ResultMessage] ends the
// turn.
type TurnStart struct {
	Header   `wire:"session,uuid"`
	TurnID   string `json:"turn_id"`             // unique in the session
	By       string `json:"by"`                  // ByUser, ByQueue, ByTask, ByAgent
	PromptID string `json:"prompt_id,omitempty"` // the uuid of the prompt that began it; empty where none did
}

// The states of a [PlanEntry]. The set is open: providers may have others, which are shown as
// they are.
const (
	PlanPending    = "pending"
	PlanInProgress = "in_progress"
	PlanCompleted  = "completed"
)

// Plan is what the agent means to do, the whole of it each time: it replaces the one
// before. A subagent has a plan of its own, by ParentToolUseID.
type Plan struct {
	Header      `wire:"parent,session,uuid"`
	Entries     []PlanEntry `json:"entries"`
	Explanation string      `json:"explanation,omitempty"` // why it changed
	Text        string      `json:"text,omitempty"`        // a plan written as prose, mostly one that waits for approval
	Omitted     int64       `json:"omitted,omitempty"`     // entries that are not shown because there are too many, the oldest
	ToolUseID   string      `json:"tool_use_id,omitempty"` // the call that changed it
}

// PlanEntry is one step of the agent's plan: what it is, its state, and perhaps a priority and
// an owner.
type PlanEntry struct {
	ID         string   `json:"id,omitempty"`
	Content    string   `json:"content"`
	Status     string   `json:"status"`               // PlanPending, PlanInProgress, PlanCompleted
	ActiveForm string   `json:"activeForm,omitempty"` // the content as what is being done
	Priority   string   `json:"priority,omitempty"`   // high, medium, low
	Owner      string   `json:"owner,omitempty"`
	BlockedBy  []string `json:"blockedBy,omitempty"` // ids of entries that come first
}

// The kinds of a [FileChange]. The set is open: providers may have others, which are shown as
// they are.
const (
	ChangeAdd    = "add"
	ChangeUpdate = "update"
	ChangeDelete = "delete"
	ChangeMove   = "move"
)

// TurnDiff is files that a turn has changed. It adds to what the turn changed before;
// with Replace it takes the place of it: of what the same tool use said, or without a
// tool use of everything that the turn said.
type TurnDiff struct {
	Header    `wire:"parent,session,uuid"`
	TurnID    string       `json:"turn_id,omitempty"`
	ToolUseID string       `json:"tool_use_id,omitempty"` // the call that changed them; empty where the whole turn is meant
	Replace   bool         `json:"replace,omitempty"`
	Files     []FileChange `json:"files"`
}

// FileChange is one change of a file. Lines are counted as they stood right before and
// after this change, not before and after the turn.
type FileChange struct {
	Path      string `json:"path"`
	Kind      string `json:"kind"` // ChangeAdd, ChangeUpdate, ChangeDelete, ChangeMove
	MovedTo   string `json:"movedTo,omitempty"`
	ToolUseID string `json:"toolUseId,omitempty"`
	Hunks     []Hunk `json:"hunks"`
	Diff      string `json:"diff,omitempty"` // a unified diff, from a provider that gives no hunks
}

// Hunk is lines of a file that belong together. A count that is absent on the wire is
// that of its lines.
type Hunk struct {
	OldStart int64    `json:"oldStart"`
	OldLines int64    `json:"oldLines"`
	NewStart int64    `json:"newStart"`
	NewLines int64    `json:"newLines"`
	Lines    []string `json:"lines"` // each after ' ', '-' or '+'
}

// Usage is what a turn has used so far and how full the context window is. A member
// that is nil is not known.
type Usage struct {
	Header                   `wire:"session,uuid"`
	TurnID                   string   `json:"turn_id,omitempty"`
	Model                    string   `json:"model,omitempty"`
	InputTokens              *int64   `json:"input_tokens,omitempty"` // of the turn so far, without what came from the cache
	OutputTokens             *int64   `json:"output_tokens,omitempty"`
	CacheCreationInputTokens *int64   `json:"cache_creation_input_tokens,omitempty"`
	CacheReadInputTokens     *int64   `json:"cache_read_input_tokens,omitempty"`
	ReasoningTokens          *int64   `json:"reasoning_tokens,omitempty"` // that part of the output which was reasoning
	ContextTokens            *int64   `json:"context_tokens,omitempty"`   // in the context window now
	ContextWindow            *int64   `json:"context_window,omitempty"`   // its size
	CostUSD                  *float64 `json:"cost_usd,omitempty"`         // of the session so far
	Data                     JSON     `json:"data,omitempty"`             // the provider's own figures
}

// Truncate takes a part of the conversation back: after a rewind, a revert, a reset or
// a refusal. What it names is gone from the fold; files are not touched. Of the members
// From, TurnID, Lines and All the first that is set counts.
type Truncate struct {
	Header `wire:"parent,session,uuid"`
	Reason string   `json:"reason,omitempty"`  // rewind, revert, clear, refusal, …
	From   string   `json:"from,omitempty"`    // the uuid of the first message that is gone, with all after it
	TurnID string   `json:"turn_id,omitempty"` // the first turn that is gone, with all after it
	Lines  []string `json:"lines,omitempty"`   // the uuids of lines that are gone, and nothing else
	All    bool     `json:"all,omitempty"`     // everything is gone
}
