package editor

import (
	"sync"
	"time"
)

// defaultRestAfter is the default of Options.RestAfter.
const defaultRestAfter = 500 * time.Millisecond

// idleTimer calls a function when the connection has been idle for some time.
type idleTimer struct {
	after time.Duration
	call  func()

	mu    sync.Mutex
	timer *time.Timer
	over  bool
}

// stir records activity.
func (q *idleTimer) stir() {
	if q.call == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.over:
	case q.timer == nil:
		q.timer = time.AfterFunc(q.after, q.fire)
	default:
		q.timer.Reset(q.after)
	}
}

// fire calls the function unless the timer has ended. It holds the lock, so that end waits for it.
func (q *idleTimer) fire() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.over {
		q.call()
	}
}

// end stops further calls of the function and waits for a running call.
func (q *idleTimer) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = true
	if q.timer != nil {
		q.timer.Stop()
	}
}
