package session

import (
	"fmt"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
)

// maxResetWait bounds how far away a reset may be that is believed.
const maxResetWait = 8 * 24 * time.Hour

// rateLimited is until when the limit of an event holds: a time if it is reached, empty if
// not, nil if the event does not tell.
func rateLimited(ev *event.RateLimit) *string {
	var info struct {
		Status   string  `json:"status"`
		ResetsAt float64 `json:"resetsAt"`
	}
	if ev.Info == "" || ev.Info.Decode(&info) != nil || info.Status == "" {
		return nil
	}
	if info.Status != "rejected" || !(info.ResetsAt > 0 && info.ResetsAt < 1e11) {
		return new("")
	}
	return new(Timestamp(time.Unix(int64(info.ResetsAt), 0)))
}

// limitedUntil is until when a rate limit holds; empty if none does now.
func (c *core) limitedUntil(now time.Time) string {
	if c.Limited == "" {
		return ""
	}
	until, err := time.Parse(time.RFC3339, c.Limited)
	if err != nil || !until.After(now) || until.Sub(now) > maxResetWait {
		return ""
	}
	return c.Limited
}

// waitsForReset reports whether inputs wait until a rate limit is reset, as was asked for.
func (c *core) waitsForReset(now time.Time) bool {
	return c.Opened.Params.WaitForRateLimit && c.limitedUntil(now) != ""
}

// waitForReset is what follows from a turn that failed at a rate limit: it is said until
// when that holds, and where it was asked for the session goes on then, with an input of that id.
func (c *core) waitForReset(r *event.ResultMessage, now time.Time, id string) []draft {
	until := c.limitedUntil(now)
	if !r.IsError || until == "" {
		return nil
	}
	n := &event.Notice{Header: c.header(""), Severity: event.NoticeWarning, Code: "rate_limited", Data: event.Encoded(map[string]string{"resets_at": until}),
		Text: fmt.Sprintf("A rate limit is reached. It is reset at %s.", until)}
	drafts := []draft{{event: n}}
	if c.Opened.Params.WaitForRateLimit {
		n.Text += " The session goes on then by itself."
		in := input{ID: id, Content: event.Quote(continuePrompt), Status: inputQueued, By: "server"}
		drafts = append(drafts, draft{queue: true, facts: &facts{Inputs: []input{in}, Order: c.before(in)}})
	}
	return drafts
}

// before is the order of the queue with an input at its beginning.
func (c *core) before(in input) []string {
	order := []string{in.ID}
	for _, other := range c.queue() {
		order = append(order, other.ID)
	}
	return order
}
