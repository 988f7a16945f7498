package rpc

import "github.com/seed7221b0f9/parley/ui"

// QueueListResult are the inputs that wait.
type QueueListResult struct {
	Items []ui.QueueItem `json:"items"`
}

// QueueEditParams change an input that waits.
type QueueEditParams struct {
	SessionID string  `json:"session_id"`
	ID        string  `json:"id"`
	Content   ui.JSON `json:"content"`
}

// QueueItemParams name an input that waits.
type QueueItemParams struct {
	SessionID string `json:"session_id"`
	ID        string `json:"id"`
}

// QueueReorderParams give the order of all inputs that wait.
type QueueReorderParams struct {
	SessionID string   `json:"session_id"`
	IDs       []string `json:"ids"`
}

// PermissionListParams ask for the requests that wait, of one session or of all.
type PermissionListParams struct {
	SessionID string `json:"session_id,omitempty"`
}

// PermissionListResult are the requests that wait.
type PermissionListResult struct {
	Prompts []PendingPrompt `json:"prompts"`
}

// PendingPrompt is a request that waits, with its session.
type PendingPrompt struct {
	SessionID string    `json:"session_id"`
	AskedAt   string    `json:"asked_at,omitempty"`
	Prompt    ui.Prompt `json:"prompt"`
}

// PermissionRespondParams answer a permission request. The first answer counts.
type PermissionRespondParams struct {
	Idempotency
	SessionID          string  `json:"session_id"`
	RequestID          string  `json:"request_id"`
	Behavior           string  `json:"behavior"`              // allow, deny
	Choice             string  `json:"choice,omitempty"`      // the id of one of the request's choices
	Scope              string  `json:"scope,omitempty"`       // once, turn, session, always; absent is once
	Suggestions        []int64 `json:"suggestions,omitempty"` // which of the request's suggestions are taken, counted from 0
	UpdatedInput       ui.JSON `json:"updated_input,omitempty"`
	UpdatedPermissions ui.JSON `json:"updated_permissions,omitempty"`
	Reason             string  `json:"reason,omitempty"`
	Interrupt          bool    `json:"interrupt,omitempty"`
}

// QuestionRespondParams answer a question. The first answer counts.
type QuestionRespondParams struct {
	Idempotency
	SessionID string  `json:"session_id"`
	RequestID string  `json:"request_id"`
	Action    string  `json:"action"` // accept, decline, cancel
	Answers   ui.JSON `json:"answers,omitempty"`
}

// RespondResult says whose answer counted.
type RespondResult struct {
	Accepted bool   `json:"accepted"`
	By       string `json:"by,omitempty"`
	Seq      uint64 `json:"seq"`
}
