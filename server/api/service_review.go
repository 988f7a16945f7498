package api

// ReviewComment is a remark of a person on lines of a diff: where it is, its text, and whether it
// was sent to the agent.
type ReviewComment struct {
	WorkspaceScope
	ID     string   `json:"id"`
	File   string   `json:"file"`
	From   int64    `json:"from"` // the first line, counted from 1
	To     int64    `json:"to"`   // the last line
	Side   string   `json:"side"` // new, old
	Hunk   string   `json:"hunk"` // the id of the hunk that shows them
	Code   []string `json:"code"` // the lines as the server has them
	Text   string   `json:"text"`
	By     string   `json:"by,omitempty"`
	State  string   `json:"state"`             // open, sent, resolved
	TurnID string   `json:"turn_id,omitempty"` // the turn that it was sent with
	// ResolvedBy is "agent" if the agent has changed the lines since, otherwise the person who
	// resolved the remark.
	ResolvedBy string `json:"resolved_by,omitempty"`
}

// ReviewCommentParams add a remark on lines of a diff of the scope. If the hunk has changed since
// it was shown, the error is a conflict whose data has the hunks that are in its place now.
type ReviewCommentParams struct {
	Idempotency
	WorkspaceScope
	SessionID string `json:"session_id"`
	File      string `json:"file"`
	From      int64  `json:"from"`
	To        int64  `json:"to,omitempty"`   // absent: one line
	Side      string `json:"side,omitempty"` // new, which is the default, or old
	Hunk      string `json:"hunk"`
	Text      string `json:"text"`
}

// ReviewCommentResult is the new remark as the server stored it, with its id.
type ReviewCommentResult struct {
	Comment ReviewComment `json:"comment"`
}

// ReviewListResult lists the remarks on the changes of a session, the oldest first.
type ReviewListResult struct {
	Comments []ReviewComment `json:"comments"`
}

// ReviewUpdateParams change the text of a remark that was not sent yet, or mark a remark as resolved
// or as open again.
type ReviewUpdateParams struct {
	SessionID string `json:"session_id"`
	ID        string `json:"id"`
	Text      string `json:"text,omitempty"`
	State     string `json:"state,omitempty"` // open, resolved
}

// ReviewRemoveParams remove the remark with this id from a session.
type ReviewRemoveParams struct {
	SessionID string `json:"session_id"`
	ID        string `json:"id"`
}

// ReviewSendParams send remarks to the agent as one prompt. Without ids all open remarks are sent.
// Text is put before them.
type ReviewSendParams struct {
	Idempotency
	SessionID string   `json:"session_id"`
	IDs       []string `json:"ids,omitempty"`
	Text      string   `json:"text,omitempty"`
}

// ReviewSendResult is the prompt that was sent, and the remarks that were not because
// their lines have changed since.
type ReviewSendResult struct {
	TurnID string        `json:"turn_id,omitempty"`
	Seq    uint64        `json:"seq"`
	Prompt string        `json:"prompt,omitempty"`
	Sent   []string      `json:"sent"`
	Stale  []ReviewStale `json:"stale"`
}

// ReviewStale is a remark whose lines have changed, with the hunks that are in its place.
type ReviewStale struct {
	ID    string          `json:"id"`
	Hunks []WorkspaceHunk `json:"hunks"`
}

// ReviewEvent is the member review of a session_info message: remarks that are new or have
// changed, and the ids of those that are gone.
type ReviewEvent struct {
	Comments []ReviewComment `json:"comments,omitempty"`
	Removed  []string        `json:"removed,omitempty"`
}
