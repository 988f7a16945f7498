package editor

import (
	"sync"
	"time"
)

// defaultRestAfter is how long nothing must have happened until the agent rests.
const defaultRestAfter = 500 * time.Millisecond

// idleTimer calls a function when the connection was idle for a while.
type idleTimer struct {
	after time.Duration
	call  func()

	mu    sync.Mutex
	timer *time.Timer
	over  bool
}

// stir notes that something happens.
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

// fire runs the function unless it is over. It holds the lock, so that end waits for it.
func (q *idleTimer) fire() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.over {
		q.call()
	}
}

// end returns when the function does not run and will not run again.
func (q *idleTimer) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = true
	if q.timer != nil {
		q.timer.Stop()
	}
}
