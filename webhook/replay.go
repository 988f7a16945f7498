package webhook

import (
	"sync"
	"time"
)

// maxReplays is how many ids are remembered. A receiver of more events within the window
// forgets the oldest.
const maxReplays = 100_000

// Replays remembers the ids of events, so that a receiver acts on each of them once: a call
// that was recorded by others and is sent again within the window of [Verify], or an event whose
// answer was lost. The zero value is ready to be used, from any goroutine.
type Replays struct {
	mu    sync.Mutex
	seen  map[string]bool
	order []replay // the oldest first
}

type replay struct {
	id string
	at time.Time
}

// Seen reports whether the event with this id was seen within the last two windows, and
// remembers it. A window of 0 is [DefaultWindow]. Call it after Verify, and answer what was seen
// with a status of 2xx.
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
