package webhook

import (
	"sync"
	"time"
)

// maxReplays is the number of stored ids. With more events within the window, the oldest are
// dropped.
const maxReplays = 100_000

// Replays stores the ids of events, so that a receiver acts on each of them once: it detects a call
// that an attacker recorded and sends again within the window of [Verify], and an event that is
// repeated because the response was lost. The zero value is ready to use, from any goroutine.
type Replays struct {
	mu    sync.Mutex
	seen  map[string]bool
	order []replay // oldest first
}

type replay struct {
	id string
	at time.Time
}

// Seen reports whether the event with this id was seen within the last two windows, and stores the
// id. A window of 0 is [DefaultWindow]. Call it after Verify, and respond to repeated events with a
// status of 2xx.
func (r *Replays) Seen(id string, now time.Time, window time.Duration) bool {
	if window <= 0 {
		window = DefaultWindow
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	old := 0
	for old < len(r.order) && (now.Sub(r.order[old].at) > 2*window || len(r.order)-old > maxReplays) {
		delete(r.seen, r.order[old].id)
		old++
	}
	r.order = r.order[old:]
	if r.seen[id] {
		return true
	}
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	r.seen[id] = true
	r.order = append(r.order, replay{id, now})
	return false
}
