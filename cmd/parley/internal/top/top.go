// Package top shows a live view of a server: its sessions, budgets and metrics.
package top

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/server/api"
)

// Frame is the state of a server at one moment.
type Frame struct {
	Server   string       `json:"server"`
	At       time.Time    `json:"at"`
	Metrics  Metrics      `json:"metrics"`
	Sessions []Session    `json:"sessions"`
	Budgets  []api.Budget `json:"budgets"`
	// Problem is the reason why the frame is outdated, or "".
	Problem string `json:"problem,omitempty"`
}

// Session is a row of the view.
type Session struct {
	SessionID    string   `json:"session_id"`
	Title        string   `json:"title,omitempty"`
	State        string   `json:"state"`
	Provider     string   `json:"provider,omitempty"`
	Model        string   `json:"model,omitempty"`
	Tokens       *int64   `json:"tokens,omitempty"`   // absent if it was not requested
	CostUSD      *float64 `json:"cost_usd,omitempty"` // absent if it is unknown
	Turns        int64    `json:"turns,omitempty"`
	Prompts      int64    `json:"prompts"` // requests that wait for a person
	Queued       int64    `json:"queued"`
	UpdatedAt    string   `json:"updated_at,omitempty"`
	LimitedUntil string   `json:"limited_until,omitempty"`

	seq uint64
}

// urgency is the order of the states: sessions that wait for a person are first.
var urgency = []string{"requires_action", "running", "starting", "failed", "interrupted", "draining", "lost_host", "idle", "ended"}

// Sort returns the sessions of a server as rows, those that wait for a person first, then
// running ones, the newest first.
func Sort(all []api.SessionSummary) []Session {
	var rows []Session
	for _, s := range all {
		rows = append(rows, Session{
			SessionID: s.SessionID, Title: s.Title, State: s.State, Provider: s.Provider, Model: s.Model, Prompts: s.Prompts, Queued: s.Queued,
			UpdatedAt: s.UpdatedAt, LimitedUntil: s.LimitedUntil, seq: s.Seq,
		})
	}
	rank := func(s Session) int {
		if i := slices.Index(urgency, s.State); i >= 0 {
			return i
		}
		return len(urgency)
	}
	slices.SortStableFunc(rows, func(a, b Session) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.UpdatedAt, a.UpdatedAt), cmp.Compare(a.SessionID, b.SessionID))
	})
	return rows
}

// Usage caches the usage of sessions, so that a session is queried only after a change. The
// zero value is empty.
type Usage struct {
	known map[string]known
}

type known struct {
	seq    uint64
	tokens int64
	cost   *float64
	turns  int64
}

// Fill adds the usage of sessions to rows. It calls ask for sessions that changed since the
// last call; if ask fails, it keeps the earlier values.
func (u *Usage) Fill(rows []Session, ask func(session string) (api.UsageSessionResult, error)) {
	old := u.known
	u.known = make(map[string]known, len(rows))
	for i := range rows {
		row := &rows[i]
		k, ok := old[row.SessionID]
		if !ok || k.seq != row.seq {
			if r, err := ask(row.SessionID); err == nil {
				k, ok = known{row.seq, tokens([]byte(r.ModelUsage)), r.CostUSD, r.Turns}, true
			}
		}
		if ok {
			u.known[row.SessionID] = k
			row.Tokens, row.CostUSD, row.Turns = &k.tokens, k.cost, k.turns
		}
	}
}

// tokens adds up the tokens of all models. The member names depend on the agent.
func tokens(modelUsage []byte) (n int64) {
	var models map[string]map[string]any
	if json.Unmarshal(modelUsage, &models) != nil {
		return 0 // absent, or of another form
	}
	for _, usage := range models {
		for _, member := range []string{"inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"} {
			if v, ok := usage[member].(float64); ok && v > 0 {
				n += int64(v)
			}
		}
	}
	return n
}
