package session

import (
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
)

// waits counts the time of a turn in which at least one request waited for a person.
type waits struct {
	Since string `json:"since,omitempty"` // empty while no request is open
	MS    int64  `json:"ms,omitempty"`    // duration of the waits that have ended
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

// in adds the waiting time to the result of a turn. It is part of the turn's duration. An agent may
// report a duration without waits, so the waiting time is limited to the duration.
func (w waits) in(r *event.ResultMessage, now string) *event.ResultMessage {
	ms := min(w.until(now), r.DurationMS)
	if ms <= 0 {
		return r
	}
	with := *r
	with.WaitedMS = ms
	return &with
}
