package transcript

import "github.com/seed7221b0f9/parley/claude/message"

// Side holds the fields that records outside the tree share. Most of them have no time, and all are
// without a parent.
type Side struct {
	source
	SessionID string `json:"sessionId"`
	Timestamp string `json:"timestamp"`
}

// RecordEntry is a record outside the tree that the CLI is known to write and that has no Go type.
// Member returns its parts.
type RecordEntry struct {
	Side
	UUID    string `json:"uuid"`
	AgentID string `json:"agentId"`
}

// ResultEntry is the result of a run. The CLI prints results but does not store them; other
// programs that write this format do.
type ResultEntry struct {
	Side
	UUID         string       `json:"uuid"`
	Subtype      string       `json:"subtype"`
	IsError      bool         `json:"is_error"`
	NumTurns     int64        `json:"num_turns"`
	DurationMS   int64        `json:"duration_ms"`
	Result       string       `json:"result"`
	TotalCostUSD float64      `json:"total_cost_usd"`
	UsageJSON    message.JSON `json:"usage"`
}

// SummaryEntry is a summary of the conversation up to a leaf. Only older CLIs write it.
type SummaryEntry struct {
	Side
	Summary  string `json:"summary"`
	LeafUUID string `json:"leafUuid"`
}

// QueueOperationEntry records that a prompt was put into the queue, taken out to be run, or
// removed from it.
type QueueOperationEntry struct {
	Side
	Operation   string       `json:"operation"` // enqueue, dequeue, remove, …
	Content     message.JSON `json:"content"`
	Reason      string       `json:"reason"`
	CommandUUID string       `json:"commandUuid"`
	DeliveryID  string       `json:"deliveryId"`
}

// LastPromptEntry records the last prompt so far, so that a list of sessions can show it without
// reading the whole file.
type LastPromptEntry struct {
	Side
	LastPrompt string `json:"lastPrompt"`
	LeafUUID   string `json:"leafUuid"`
}

// CostStateEntry is the CLI's bill: of the session so far, and of the session that this one was
// forked from, before the fork. The last entry counts.
type CostStateEntry struct {
	Side
	TotalCostUSD        float64                       `json:"totalCostUSD"`
	TotalAPIDuration    int64                         `json:"totalAPIDuration"` // milliseconds, as all durations
	TotalToolDuration   int64                         `json:"totalToolDuration"`
	TotalDuration       int64                         `json:"totalDuration"`
	TotalLinesAdded     int64                         `json:"totalLinesAdded"`
	TotalLinesRemoved   int64                         `json:"totalLinesRemoved"`
	ModelUsage          map[string]message.ModelUsage `json:"modelUsage"`
	HasUnknownModelCost bool                          `json:"hasUnknownModelCost"`
}

// CustomTitleEntry is a title that a user or a program gave the session; see [Dir.Rename].
type CustomTitleEntry struct {
	Side
	CustomTitle string `json:"customTitle"`
}

// AITitleEntry is a title that the model gave the session, as opposed to a [CustomTitleEntry],
// which a user chose.
type AITitleEntry struct {
	Side
	AITitle string `json:"aiTitle"`
}

// AgentNameEntry records the name of the agent that the session's main conversation runs as.
type AgentNameEntry struct {
	Side
	AgentName string `json:"agentName"`
}

// TagEntry records the session's tag, or with an empty one that the tag was removed; see
// [Dir.Tag].
type TagEntry struct {
	Side
	Tag string `json:"tag"`
}

// ModeEntry records the mode of the session from this line on.
type ModeEntry struct {
	Side
	Mode string `json:"mode"`
}

// RelocatedEntry records that the working directory of the session has changed, and names the
// new one.
type RelocatedEntry struct {
	Side
	RelocatedCWD string `json:"relocatedCwd"`
}

// ContinuedInEntry records that another session continues this one, and names that session by
// its id.
type ContinuedInEntry struct {
	Side
	ContinuedInSessionID string `json:"continuedInSessionId"`
}

// ToolsUsedEntry lists the names of the tools that the session has used up to this line.
type ToolsUsedEntry struct {
	Side
	Tools []string `json:"tools"`
}

// ContentReplacementEntry records the replacement of content that was removed from the context,
// undecoded.
type ContentReplacementEntry struct {
	Side
	Replacements message.JSON `json:"replacements"`
}

// FileHistoryEntry is a state of the files for rewinding, complete (snapshot) or as a difference
// (delta), depending on Kind.
type FileHistoryEntry struct {
	Side
	MessageID        string       `json:"messageId"`
	Snapshot         message.JSON `json:"snapshot"`
	IsSnapshotUpdate bool         `json:"isSnapshotUpdate"`
}

func newRecord() Entry { return new(RecordEntry) }

// entryTypes is the decode table: every type that the CLI is known to write or to
// have written, and the result that other programs write.
var entryTypes = map[string]func() Entry{
	"user":       func() Entry { return new(UserEntry) },
	"assistant":  func() Entry { return new(AssistantEntry) },
	"system":     func() Entry { return new(SystemEntry) },
	"attachment": func() Entry { return new(AttachmentEntry) },
	"progress":   func() Entry { return new(ProgressEntry) },

	"result":                func() Entry { return new(ResultEntry) },
	"summary":               func() Entry { return new(SummaryEntry) },
	"queue-operation":       func() Entry { return new(QueueOperationEntry) },
	"last-prompt":           func() Entry { return new(LastPromptEntry) },
	"cost-state":            func() Entry { return new(CostStateEntry) },
	"custom-title":          func() Entry { return new(CustomTitleEntry) },
	"ai-title":              func() Entry { return new(AITitleEntry) },
	"agent-name":            func() Entry { return new(AgentNameEntry) },
	"tag":                   func() Entry { return new(TagEntry) },
	"mode":                  func() Entry { return new(ModeEntry) },
	"relocated":             func() Entry { return new(RelocatedEntry) },
	"continued-in":          func() Entry { return new(ContinuedInEntry) },
	"tools-used":            func() Entry { return new(ToolsUsedEntry) },
	"content-replacement":   func() Entry { return new(ContentReplacementEntry) },
	"file-history-snapshot": func() Entry { return new(FileHistoryEntry) },
	"file-history-delta":    func() Entry { return new(FileHistoryEntry) },

	"agent-color":               newRecord,
	"agent-setting":             newRecord,
	"api-request":               newRecord,
	"api-request-blob":          newRecord,
	"api-request-shape":         newRecord,
	"artifact-autoreact-ledger": newRecord,
	"artifact-comment-monitor":  newRecord,
	"atis-latch":                newRecord,
	"attribution-snapshot":      newRecord,
	"bridge-session":            newRecord,
	"data-flow-incomplete":      newRecord,
	"data-flow-records":         newRecord,
	"derived-from":              newRecord,
	"dev-mods":                  newRecord,
	"ended-by-model":            newRecord,
	"fork-context-ref":          newRecord,
	"frame-link":                newRecord,
	"history-suppression":       newRecord,
	"isolation-latch":           newRecord,
	"memory-mode":               newRecord,
	"observer-ref":              newRecord,
	"permission-mode":           newRecord,
	"pr-link":                   newRecord,
	"resume-head-vouch":         newRecord,
	"session-owner":             newRecord,
	"worktree-state":            newRecord,
}
