package item

// ItemStarted says that an item has begun.
type ItemStarted struct {
	Note
	Item        Item  `json:"item"`
	StartedAtMs int64 `json:"startedAtMs"`
}

// ItemCompleted is an item as it is in the end. It never comes for an item that was cut
// off, and it can come after the end of the turn.
type ItemCompleted struct {
	Note
	Item          Item  `json:"item"`
	CompletedAtMs int64 `json:"completedAtMs"`
}

// AgentMessageDelta is more of an agent's message.
type AgentMessageDelta struct {
	Note
	ItemID string `json:"itemId"`
	Delta  string `json:"delta"`
}

// PlanDelta is more of a proposed plan.
type PlanDelta struct {
	Note
	ItemID string `json:"itemId"`
	Delta  string `json:"delta"`
}

// ReasoningSummaryDelta is more of one part of a summary of reasoning.
type ReasoningSummaryDelta struct {
	Note
	ItemID       string `json:"itemId"`
	Delta        string `json:"delta"`
	SummaryIndex int64  `json:"summaryIndex"`
}

// ReasoningSummaryPartAdded says that a new part of the summary begins.
type ReasoningSummaryPartAdded struct {
	Note
	ItemID       string `json:"itemId"`
	SummaryIndex int64  `json:"summaryIndex"`
}

// ReasoningTextDelta is more of one part of the reasoning itself.
type ReasoningTextDelta struct {
	Note
	ItemID       string `json:"itemId"`
	Delta        string `json:"delta"`
	ContentIndex int64  `json:"contentIndex"`
}

// CommandOutputDelta is more of a command's output. What a command wrote at its start can
// be missing from the deltas; the completed item has it.
type CommandOutputDelta struct {
	Note
	ItemID string `json:"itemId"`
	Delta  string `json:"delta"`
}

// TerminalInteraction is input that the agent sent to a running command.
type TerminalInteraction struct {
	Note
	ItemID    string `json:"itemId"`
	ProcessID string `json:"processId"`
	Stdin     string `json:"stdin"`
}

// FileChangeOutputDelta is output of applying a patch.
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

// MCPToolCallProgress is what an MCP server says about a call that runs.
type MCPToolCallProgress struct {
	Note
	ItemID  string `json:"itemId"`
	Message string `json:"message"`
}

// RequestResolved says that a request of the server is over, but not how. RequestID is
// the JSON of the request's id.
type RequestResolved struct {
	Note
	RequestID JSON `json:"requestId"`
}

// AutoReviewStarted says that a reviewing agent looks at an approval.
type AutoReviewStarted struct {
	Note
	ReviewID     string `json:"reviewId"`
	TargetItemID string `json:"targetItemId,omitempty"`
	Action       JSON   `json:"action"`
	Review       JSON   `json:"review"`
	StartedAtMs  int64  `json:"startedAtMs"`
}

// AutoReviewCompleted says what a reviewing agent decided.
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

// StrictReviewRequired says that approvals of the turn are reviewed strictly from now on.
type StrictReviewRequired struct {
	Note
	StartedAtMs int64 `json:"startedAtMs"`
}
