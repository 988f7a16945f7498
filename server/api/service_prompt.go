package api

import (
	"encoding/json"
	"slices"

	"github.com/seed7221b0f9/parley/agent/event"
)

// QueueListResult lists the queued inputs of a session, in the order in which they will run.
type QueueListResult struct {
	Items []event.QueueItem `json:"items"`
}

// QueueEditParams replaces the content of a queued input. A running input cannot be changed.
type QueueEditParams struct {
	SessionID string     `json:"session_id"`
	ID        string     `json:"id"`
	Content   event.JSON `json:"content"`
}

// QueueItemParams names a queued input by its id in the queue of the session.
type QueueItemParams struct {
	SessionID string `json:"session_id"`
	ID        string `json:"id"`
}

// QueueReorderParams sets the order of the queued inputs. The list has to name all of them.
type QueueReorderParams struct {
	SessionID string   `json:"session_id"`
	IDs       []string `json:"ids"`
}

// PermissionListParams requests the open requests of one session or of all.
type PermissionListParams struct {
	SessionID string `json:"session_id,omitempty"`
}

// PermissionListResult lists the open requests: permissions and questions, with their sessions.
type PermissionListResult struct {
	Prompts []PendingPrompt `json:"prompts"`
}

// PendingPrompt is an open request, with its session and its time.
type PendingPrompt struct {
	SessionID string       `json:"session_id"`
	AskedAt   string       `json:"asked_at,omitempty"`
	Prompt    event.Prompt `json:"prompt"`
}

// MarshalJSON adds the id of the request under the name requestId, its name before prompts were
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

// PermissionRespondParams answers a permission request. If several clients answer, the first answer
// counts.
type PermissionRespondParams struct {
	Idempotency
	SessionID          string     `json:"session_id"`
	RequestID          string     `json:"request_id"`
	Behavior           string     `json:"behavior"`              // allow, deny
	Choice             string     `json:"choice,omitempty"`      // the id of one of the request's choices
	Scope              string     `json:"scope,omitempty"`       // once, turn, session, always; absent is once
	Suggestions        []int64    `json:"suggestions,omitempty"` // indexes of the accepted suggestions of the request, from 0
	UpdatedInput       event.JSON `json:"updated_input,omitempty"`
	UpdatedPermissions event.JSON `json:"updated_permissions,omitempty"`
	Reason             string     `json:"reason,omitempty"`
	Interrupt          bool       `json:"interrupt,omitempty"`
}

// QuestionRespondParams answers, declines or cancels a question. If several clients answer, the
// first answer counts.
type QuestionRespondParams struct {
	Idempotency
	SessionID string     `json:"session_id"`
	RequestID string     `json:"request_id"`
	Action    string     `json:"action"` // accept, decline, cancel
	Answers   event.JSON `json:"answers,omitempty"`
}

// RespondResult reports whether this answer counted and, if not, who answered first.
type RespondResult struct {
	Accepted bool   `json:"accepted"`
	By       string `json:"by,omitempty"`
	Seq      uint64 `json:"seq"`
}
