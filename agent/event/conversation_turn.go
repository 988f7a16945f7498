package event

// Turn is one turn of the session: who began it, whether it is done, and the files that it
// changed.
type Turn struct {
	ID       string       `json:"id"`
	By       string       `json:"by,omitempty"` // user, queue, task, agent
	PromptID string       `json:"promptId,omitempty"`
	Done     bool         `json:"done"`              // its result is there
	Changes  []FileChange `json:"changes,omitempty"` // files, in the order of the changes
}

// AnswerRef is the place of a text in the main thread: the message by its id, and the index of
// the block.
type AnswerRef struct {
	MessageID string `json:"messageId"`
	Index     int64  `json:"index"`
}

// PlanState is the agent's current plan, as it was last given. A new plan replaces it as a
// whole.
type PlanState struct {
	Entries     []PlanEntry `json:"entries"`
	Explanation string      `json:"explanation,omitempty"`
	Text        string      `json:"text,omitempty"`
	ToolUseID   string      `json:"toolUseId,omitempty"`
	Omitted     int64       `json:"omitted,omitempty"`
}

// UsageState is what a turn has used and how full the context window is. A member that
// is absent is not known.
type UsageState struct {
	TurnID                   string   `json:"turnId,omitempty"`
	Model                    string   `json:"model,omitempty"`
	InputTokens              *int64   `json:"inputTokens,omitempty"`
	OutputTokens             *int64   `json:"outputTokens,omitempty"`
	CacheCreationInputTokens *int64   `json:"cacheCreationInputTokens,omitempty"`
	CacheReadInputTokens     *int64   `json:"cacheReadInputTokens,omitempty"`
	ReasoningTokens          *int64   `json:"reasoningTokens,omitempty"`
	ContextTokens            *int64   `json:"contextTokens,omitempty"`
	ContextWindow            *int64   `json:"contextWindow,omitempty"`
	CostUSD                  *float64 `json:"costUsd,omitempty"`
}

// RetryState is a request to the model that is being sent again. It goes when an answer
// comes, and with the end of the turn.
type RetryState struct {
	Attempt     int64  `json:"attempt"`
	MaxAttempts *int64 `json:"maxAttempts,omitempty"`
	DelayMS     *int64 `json:"delayMs,omitempty"`
	Reason      string `json:"reason,omitempty"`
	Status      *int64 `json:"status,omitempty"`
}

// HookRun is one run of a hook: the event that called it, its state, and its outcome when it
// has finished.
type HookRun struct {
	ID        string `json:"id"`
	Name      string `json:"name,omitempty"`
	Event     string `json:"event,omitempty"`
	State     string `json:"state"` // started, running, finished
	Outcome   string `json:"outcome,omitempty"`
	Decision  string `json:"decision,omitempty"`
	Message   string `json:"message,omitempty"`
	Output    Text   `json:"output,omitzero"`
	ExitCode  *int64 `json:"exitCode,omitempty"`
	ToolUseID string `json:"toolUseId,omitempty"`
}

// NoticeRow is a notice beside the conversation, meant for people, with its severity and the
// turn that it came in.
type NoticeRow struct {
	Severity  string `json:"severity"`
	Text      string `json:"text"`
	Code      string `json:"code,omitempty"`
	ToolUseID string `json:"toolUseId,omitempty"`
	TurnID    string `json:"turnId,omitempty"` // the turn that it came in
}
