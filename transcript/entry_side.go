package transcript

import "github.com/seed7221b0f9/parley/claude/message"

// Side is what the records beside the tree share. Most have no time.
type Side struct {
	source
	SessionID string `json:"sessionId"`
	Timestamp string `json:"timestamp"`
}

// RecordEntry is a record beside the tree that the CLI is known to write and
// that has no Go type of its own. Member gives its parts.
type RecordEntry struct {
	Side
	UUID    string `json:"uuid"`
	AgentID string `json:"agentId"`
}

// ResultEntry is the result of a run. The CLI prints results and does not keep
// them; other programs that write this format do.
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

// SummaryEntry is a summary of the conversation up to a leaf. Today's CLI
// writes none, older ones did.
type SummaryEntry struct {
	Side
	Summary  string `json:"summary"`
	LeafUUID string `json:"leafUuid"`
}

// QueueOperationEntry says that a prompt was put into the queue or taken out.
type QueueOperationEntry struct {
	Side
	Operation   string       `json:"operation"` // enqueue, dequeue, remove, …
	Content     message.JSON `json:"content"`
	Reason      string       `json:"reason"`
	CommandUUID string       `json:"commandUuid"`
	DeliveryID  string       `json:"deliveryId"`
}

// LastPromptEntry is the last prompt so far, for lists of sessions.
type LastPromptEntry struct {
	Side
	LastPrompt string `json:"lastPrompt"`
	LeafUUID   string `json:"leafUuid"`
}

// CostStateEntry is the CLI's own bill: of the session so far, and of the
// session that this one was forked from, before the fork. The last one counts.
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

// CustomTitleEntry is a title that somebody gave the session; see [Dir.Rename].
type CustomTitleEntry struct {
	Side
	CustomTitle string `json:"customTitle"`
}

// AITitleEntry is a title that the model gave the session.
type AITitleEntry struct {
	Side
	AITitle string `json:"aiTitle"`
}

// AgentNameEntry is the name of the session's agent.
type AgentNameEntry struct {
	Side
	AgentName string `json:"agentName"`
}

// TagEntry is the session's tag, "" to take it off; see [Dir.Tag].
type TagEntry struct {
	Side
	Tag string `json:"tag"`
}

// ModeEntry is the mode that the session is in.
type ModeEntry struct {
	Side
	Mode string `json:"mode"`
}

// RelocatedEntry says that the session's directory has changed.
type RelocatedEntry struct {
	Side
	RelocatedCWD string `json:"relocatedCwd"`
}

// ContinuedInEntry says that another session took over.
type ContinuedInEntry struct {
	Side
	ContinuedInSessionID string `json:"continuedInSessionId"`
}

// ToolsUsedEntry names the tools that were used so far.
type ToolsUsedEntry struct {
	Side
	Tools []string `json:"tools"`
}

// ContentReplacementEntry says what stands for content that was taken out.
type ContentReplacementEntry struct {
	Side
	Replacements message.JSON `json:"replacements"`
}

// FileHistoryEntry is a state of the files for rewinding, whole (snapshot) or
// the difference (delta); Kind tells.
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
