package session

import (
	"fmt"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
)

// maxResetWait is the maximum accepted time until a reset.
const maxResetWait = 8 * 24 * time.Hour

// rateLimited returns the time until which the event reports a rate limit, "" if it reports that no
// limit applies, and nil if it does not report either.
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

// limitedUntil returns the end of the current rate limit, or "".
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

// waitsForReset reports whether inputs wait until a rate limit is reset, as requested.
func (c *core) waitsForReset(now time.Time) bool {
	return c.Opened.Params.WaitForRateLimit && c.limitedUntil(now) != ""
}

// waitForReset returns the consequences of a turn that failed at a rate limit: a notice with the
// reset time and, if requested, an input with this id with which the session continues then.
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
		drafts = append(drafts, c.first(in))
	}
	return drafts
}
