package event

// Turn is one turn of the session: its origin, whether it has ended, and the files that it changed.
type Turn struct {
	ID      string       `json:"id"`
	Start   *TurnStart   `json:"start,omitempty"`   // absent if it was missed
	Done    bool         `json:"done"`              // it has a result, or its agent has ended
	Changes []FileChange `json:"changes,omitempty"` // files, in the order of the changes
	Restart int64        `json:"restart,omitempty"` // Conversation.Restarts at its start
}

// AnswerRef locates a text in the main thread: the id of the message, and the index of the block.
type AnswerRef struct {
	MessageID string `json:"messageId"`
	Index     int64  `json:"index"`
}

// HookRun is one run of a hook: its event, its state, and its outcome after the end.
type HookRun struct {
	Hook   *Hook `json:"hook"` // without its output
	Output Text  `json:"output,omitzero"`
}

// NoticeRow is a notice for people outside the conversation, with its turn.
type NoticeRow struct {
	Notice *Notice `json:"notice"`
	TurnID string  `json:"turnId,omitempty"`
}
