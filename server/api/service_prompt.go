package api

import (
	"encoding/json"
	"slices"

	"github.com/seed7221b0f9/parley/agent/event"
)

// QueueListResult lists the inputs of a session that wait for their turn, in the order in which
// they will run.
type QueueListResult struct {
	Items []event.QueueItem `json:"items"`
}

// QueueEditParams replace the content of an input that waits. An input that already runs cannot
// be changed.
type QueueEditParams struct {
	SessionID string     `json:"session_id"`
	ID        string     `json:"id"`
	Content   event.JSON `json:"content"`
}

// QueueItemParams name an input that waits, by its id in the queue of the session.
type QueueItemParams struct {
	SessionID string `json:"session_id"`
	ID        string `json:"id"`
}

// QueueReorderParams give the new order of the inputs that wait. The list has to name all of
// them.
type QueueReorderParams struct {
	SessionID string   `json:"session_id"`
	IDs       []string `json:"ids"`
}

// PermissionListParams ask for the requests that wait for an answer, of one session or of all.
type PermissionListParams struct {
	SessionID string `json:"session_id,omitempty"`
}

// PermissionListResult lists the requests that wait for an answer: permissions and questions,
// with their sessions.
type PermissionListResult struct {
	Prompts []PendingPrompt `json:"prompts"`
}

// PendingPrompt is a request that waits for an answer, with its session and the time at which
// it was made.
type PendingPrompt struct {
	SessionID string       `json:"session_id"`
	AskedAt   string       `json:"asked_at,omitempty"`
	Prompt    event.Prompt `json:"prompt"`
}

// MarshalJSON adds the id of the request under the name requestId, which it had before prompts were
// events: programs that answer requests read it.
func (p PendingPrompt) MarshalJSON() ([]byte, error) {
	prompt, err := json.Marshal(p.Prompt)
	if err != nil {
		return nil, err
	}
	if id := p.Prompt.RequestID(); id != "" {
		prompt = slices.Concat(prompt[:len(prompt)-1], []byte(`,"requestId":`+event.Quote(id)+"}"))
	}
	return json.Marshal(struct {
		SessionID string          `json:"session_id"`
		AskedAt   string          `json:"asked_at,omitempty"`
		Prompt    json.RawMessage `json:"prompt"`
	}{p.SessionID, p.AskedAt, prompt})
}

// PermissionRespondParams answer a permission request. If several clients answer, the first
// answer counts.
type PermissionRespondParams struct {
	Idempotency
	SessionID          string     `json:"session_id"`
	RequestID          string     `json:"request_id"`
	Behavior           string     `json:"behavior"`              // allow, deny
	Choice             string     `json:"choice,omitempty"`      // the id of one of the request's choices
	Scope              string     `json:"scope,omitempty"`       // once, turn, session, always; absent is once
	Suggestions        []int64    `json:"suggestions,omitempty"` // which of the request's suggestions are taken, counted from 0
	UpdatedInput       event.JSON `json:"updated_input,omitempty"`
	UpdatedPermissions event.JSON `json:"updated_permissions,omitempty"`
	Reason             string     `json:"reason,omitempty"`
	Interrupt          bool       `json:"interrupt,omitempty"`
}

// QuestionRespondParams answer a question, decline it or cancel it. If several clients answer,
// the first answer counts.
type QuestionRespondParams struct {
	Idempotency
	SessionID string     `json:"session_id"`
	RequestID string     `json:"request_id"`
	Action    string     `json:"action"` // accept, decline, cancel
	Answers   event.JSON `json:"answers,omitempty"`
}

// RespondResult reports whether this answer was the one that counted, and if not, whose was.
type RespondResult struct {
	Accepted bool   `json:"accepted"`
	By       string `json:"by,omitempty"`
	Seq      uint64 `json:"seq"`
}
