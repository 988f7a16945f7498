package api

// ReviewComment is a person's comment on lines of a diff: its position, its text, and whether it
// was sent to the agent.
type ReviewComment struct {
	WorkspaceScope
	ID     string   `json:"id"`
	File   string   `json:"file"`
	From   int64    `json:"from"` // the first line, counted from 1
	To     int64    `json:"to"`   // the last line
	Side   string   `json:"side"` // new, old
	Hunk   string   `json:"hunk"` // the id of the hunk that shows the lines
	Code   []string `json:"code"` // the lines of the server's version
	Text   string   `json:"text"`
	By     string   `json:"by,omitempty"`
	State  string   `json:"state"`             // open, sent, resolved
	TurnID string   `json:"turn_id,omitempty"` // the turn with which it was sent
	// ResolvedBy is "agent" if the agent has changed the lines since, otherwise the person who
	// resolved the comment.
	ResolvedBy string `json:"resolved_by,omitempty"`
}

// ReviewCommentParams adds a comment on lines of a diff of the scope. If the hunk has changed since
// it was shown, the error is a conflict with the current hunks at its position.
type ReviewCommentParams struct {
	Idempotency
	WorkspaceScope
	SessionID string `json:"session_id"`
	File      string `json:"file"`
	From      int64  `json:"from"`
	To        int64  `json:"to,omitempty"`   // absent means one line
	Side      string `json:"side,omitempty"` // new, which is the default, or old
	Hunk      string `json:"hunk"`
	Text      string `json:"text"`
}

// ReviewCommentResult is the stored comment, with its id.
type ReviewCommentResult struct {
	Comment ReviewComment `json:"comment"`
}

// ReviewListResult lists the comments on the changes of a session, oldest first.
type ReviewListResult struct {
	Comments []ReviewComment `json:"comments"`
}

// ReviewUpdateParams changes the text of a comment that was not sent yet, or marks a comment as
// resolved or open.
type ReviewUpdateParams struct {
	SessionID string `json:"session_id"`
	ID        string `json:"id"`
	Text      string `json:"text,omitempty"`
	State     string `json:"state,omitempty"` // open, resolved
}

// ReviewRemoveParams removes the comment with this id from a session.
type ReviewRemoveParams struct {
	SessionID string `json:"session_id"`
	ID        string `json:"id"`
}

// ReviewSendParams sends comments to the agent as one prompt. Without ids it sends all open
// comments. Text precedes them.
type ReviewSendParams struct {
	Idempotency
	SessionID string   `json:"session_id"`
	IDs       []string `json:"ids,omitempty"`
	Text      string   `json:"text,omitempty"`
}

// ReviewSendResult is the sent prompt, and the comments that were not sent because their lines have
// changed since.
type ReviewSendResult struct {
	TurnID string        `json:"turn_id,omitempty"`
	Seq    uint64        `json:"seq"`
	Prompt string        `json:"prompt,omitempty"`
	Sent   []string      `json:"sent"`
	Stale  []ReviewStale `json:"stale"`
}

// ReviewStale is a comment with changed lines, and the current hunks at its position.
type ReviewStale struct {
	ID    string          `json:"id"`
	Hunks []WorkspaceHunk `json:"hunks"`
}

// ReviewEvent is the member review of a session_info message: new and changed comments, and the ids
// of removed ones.
type ReviewEvent struct {
	Comments []ReviewComment `json:"comments,omitempty"`
	Removed  []string        `json:"removed,omitempty"`
}
