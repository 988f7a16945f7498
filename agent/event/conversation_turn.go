package event

// Turn is one turn of the session: who began it, whether it is done, and the files that it
// changed.
type Turn struct {
	ID      string       `json:"id"`
	Start   *TurnStart   `json:"start,omitempty"`   // absent where it was missed
	Done    bool         `json:"done"`              // its result is there, or its agent has ended
	Changes []FileChange `json:"changes,omitempty"` // files, in the order of the changes
	Restart int64        `json:"restart,omitempty"` // Conversation.Restarts when it began
}

// AnswerRef is the place of a text in the main thread: the message by its id, and the index of
// the block.
type AnswerRef struct {
	MessageID string `json:"messageId"`
	Index     int64  `json:"index"`
}

// HookRun is one run of a hook: the event that called it, its state, and its outcome when it
// has finished.
type HookRun struct {
	Hook   *Hook `json:"hook"` // without its output
	Output Text  `json:"output,omitzero"`
}

// NoticeRow is a notice beside the conversation, meant for people, with the turn that it came in.
type NoticeRow struct {
	Notice *Notice `json:"notice"`
	TurnID string  `json:"turnId,omitempty"`
}
