package item

// ItemStarted reports that an item has begun, with what is known of it then. Deltas may follow.
type ItemStarted struct {
	Note
	Item        Item  `json:"item"`
	StartedAtMs int64 `json:"startedAtMs"`
}

// ItemCompleted reports that an item has ended, with its final content. It does not come for an item
// that was cut off, except for commands that go on, and it can come after the end of the turn.
type ItemCompleted struct {
	Note
	Item          Item  `json:"item"`
	CompletedAtMs int64 `json:"completedAtMs"`
}

// AgentMessageDelta is the next piece of the text of an agent's message, which the item with
// this id holds.
type AgentMessageDelta struct {
	Note
	ItemID string `json:"itemId"`
	Delta  string `json:"delta"`
}

// PlanDelta is the next piece of the text of a plan that the agent proposes, of the item with
// this id.
type PlanDelta struct {
	Note
	ItemID string `json:"itemId"`
	Delta  string `json:"delta"`
}

// ReasoningSummaryDelta is the next piece of one part of a summary of the reasoning, by the
// index of the part.
type ReasoningSummaryDelta struct {
	Note
	ItemID       string `json:"itemId"`
	Delta        string `json:"delta"`
	SummaryIndex int64  `json:"summaryIndex"`
}

// ReasoningSummaryPartAdded reports that a new part of the summary of the reasoning begins,
// with its index.
type ReasoningSummaryPartAdded struct {
	Note
	ItemID       string `json:"itemId"`
	SummaryIndex int64  `json:"summaryIndex"`
}

// ReasoningTextDelta is the next piece of one part of the reasoning itself, by the index of the
// part.
type ReasoningTextDelta struct {
	Note
	ItemID       string `json:"itemId"`
	Delta        string `json:"delta"`
	ContentIndex int64  `json:"contentIndex"`
}

// CommandOutputDelta is the next piece of a command's output. The deltas can lack what the command
// wrote at its start, which the completed item has; see [Output].
type CommandOutputDelta struct {
	Note
	ItemID string `json:"itemId"`
	Delta  string `json:"delta"`
}

// TerminalInteraction is input that the agent sent to the standard input of a command that is
// running.
type TerminalInteraction struct {
	Note
	ItemID    string `json:"itemId"`
	ProcessID string `json:"processId"`
	Stdin     string `json:"stdin"`
}

// FileChangeOutputDelta is the next piece of the output of applying a patch, of the item with
// this id.
type FileChangeOutputDelta struct {
	Note
	ItemID string `json:"itemId"`
	Delta  string `json:"delta"`
}

// FileChangePatchUpdated is a patch as far as the model has written it: a snapshot, not a
// delta.
type FileChangePatchUpdated struct {
	Note
	ItemID  string   `json:"itemId"`
	Changes []Change `json:"changes"`
}

// MCPToolCallProgress is a message of an MCP server about a call that is still running, meant
// for people.
type MCPToolCallProgress struct {
	Note
	ItemID  string `json:"itemId"`
	Message string `json:"message"`
}

// RequestResolved reports that a request of the server is over, but not with which answer. RequestID
// is the JSON of the request's id.
type RequestResolved struct {
	Note
	RequestID JSON `json:"requestId"`
}

// AutoReviewStarted reports that a reviewing agent has begun to examine an action that needs
// approval.
type AutoReviewStarted struct {
	Note
	ReviewID     string `json:"reviewId"`
	TargetItemID string `json:"targetItemId,omitempty"`
	Action       JSON   `json:"action"`
	Review       JSON   `json:"review"`
	StartedAtMs  int64  `json:"startedAtMs"`
}

// AutoReviewCompleted reports what a reviewing agent decided about an action that needs
// approval, and the source of it.
type AutoReviewCompleted struct {
	Note
	ReviewID       string `json:"reviewId"`
	TargetItemID   string `json:"targetItemId,omitempty"`
	Action         JSON   `json:"action"`
	Review         JSON   `json:"review"`
	DecisionSource JSON   `json:"decisionSource"`
	StartedAtMs    int64  `json:"startedAtMs"`
	CompletedAtMs  int64  `json:"completedAtMs"`
}

// StrictReviewRequired reports that the approvals of the turn are reviewed more strictly from
// now on.
type StrictReviewRequired struct {
	Note
	StartedAtMs int64 `json:"startedAtMs"`
}
