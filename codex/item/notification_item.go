package item

// ItemStarted reports the start of an item, with the data known at that time. Deltas may follow.
type ItemStarted struct {
	Note
	Item        Item  `json:"item"`
	StartedAtMs int64 `json:"startedAtMs"`
}

// ItemCompleted reports the end of an item, with its final content. It is not sent for an item that
// was cut off, except for commands that continue, and it can follow the end of the turn.
type ItemCompleted struct {
	Note
	Item          Item  `json:"item"`
	CompletedAtMs int64 `json:"completedAtMs"`
}

// AgentMessageDelta is the next piece of the text of an agent's message, the item with this id.
type AgentMessageDelta struct {
	Note
	ItemID string `json:"itemId"`
	Delta  string `json:"delta"`
}

// PlanDelta is the next piece of the text of a proposed plan, the item with this id.
type PlanDelta struct {
	Note
	ItemID string `json:"itemId"`
	Delta  string `json:"delta"`
}

// ReasoningSummaryDelta is the next piece of one part of a reasoning summary, by the index of the
// part.
type ReasoningSummaryDelta struct {
	Note
	ItemID       string `json:"itemId"`
	Delta        string `json:"delta"`
	SummaryIndex int64  `json:"summaryIndex"`
}

// ReasoningSummaryPartAdded reports the start of a new part of the reasoning summary, with its
// index.
type ReasoningSummaryPartAdded struct {
	Note
	ItemID       string `json:"itemId"`
	SummaryIndex int64  `json:"summaryIndex"`
}

// ReasoningTextDelta is the next piece of one part of the reasoning, by the index of the part.
type ReasoningTextDelta struct {
	Note
	ItemID       string `json:"itemId"`
	Delta        string `json:"delta"`
	ContentIndex int64  `json:"contentIndex"`
}

// CommandOutputDelta is the next piece of a command's output. The deltas can lack the start of the
// output, which the completed item has; see [Output].
type CommandOutputDelta struct {
	Note
	ItemID string `json:"itemId"`
	Delta  string `json:"delta"`
}

// TerminalInteraction is input that the agent sent to the standard input of a running command.
type TerminalInteraction struct {
	Note
	ItemID    string `json:"itemId"`
	ProcessID string `json:"processId"`
	Stdin     string `json:"stdin"`
}

// FileChangeOutputDelta is the next piece of the output of applying a patch, the item with this id.
type FileChangeOutputDelta struct {
	Note
	ItemID string `json:"itemId"`
	Delta  string `json:"delta"`
}

// FileChangePatchUpdated is the part of a patch that the model has written so far: a snapshot, not
// a delta.
type FileChangePatchUpdated struct {
	Note
	ItemID  string   `json:"itemId"`
	Changes []Change `json:"changes"`
}

// MCPToolCallProgress is a message for people from an MCP server about a running call.
type MCPToolCallProgress struct {
	Note
	ItemID  string `json:"itemId"`
	Message string `json:"message"`
}

// RequestResolved reports that a request of the server has ended, without its answer. RequestID is
// the JSON of the request's id.
type RequestResolved struct {
	Note
	RequestID JSON `json:"requestId"`
}

// AutoReviewStarted reports that a reviewing agent has started to examine an action that needs
// approval.
type AutoReviewStarted struct {
	Note
	ReviewID     string `json:"reviewId"`
	TargetItemID string `json:"targetItemId,omitempty"`
	Action       JSON   `json:"action"`
	Review       JSON   `json:"review"`
	StartedAtMs  int64  `json:"startedAtMs"`
}

// AutoReviewCompleted reports the decision of a reviewing agent about an action that needs
// approval, and its source.
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

// StrictReviewRequired reports that the approvals of the turn are reviewed more strictly from this
// point on.
type StrictReviewRequired struct {
	Note
	StartedAtMs int64 `json:"startedAtMs"`
}
