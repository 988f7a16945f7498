package session

import (
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
)

// waits is the time of a turn in which at least one request waited for a person.
type waits struct {
	Since string `json:"since,omitempty"` // empty while no request is open
	MS    int64  `json:"ms,omitempty"`    // of the waits that have ended
}

// note records whether a request is open at a time.
func (w *waits) note(open bool, now string) {
	switch {
	case open && w.Since == "":
		w.Since = now
	case !open && w.Since != "":
		w.MS, w.Since = w.until(now), ""
	}
}

// until returns the waiting time up to a time, in milliseconds.
func (w waits) until(now string) int64 {
	from, err := time.Parse(time.RFC3339Nano, w.Since)
	to, err2 := time.Parse(time.RFC3339Nano, now)
	if w.Since == "" || err != nil || err2 != nil {
		return w.MS
	}
	return w.MS + max(0, to.Sub(from).Milliseconds())
}

// in returns the result of the turn with the waiting time, which is a part of its duration. An agent that does not count
// waits has a shorter duration, so the waiting time is at most that.
func (w waits) in(r *event.ResultMessage, now string) *event.ResultMessage {
	ms := min(w.until(now), r.DurationMS)
	if ms <= 0 {
		return r
	}
	with := *r
	with.WaitedMS = ms
	return &with
}
