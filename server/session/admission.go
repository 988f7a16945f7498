package session

import (
	"context"
	"sync"
)

// admission lets a number of agents run at once. More wait, in a queue that is fair among
// owners: those who wait for many agents do not keep others from their first.
type admission struct {
	mu     sync.Mutex
	free   int
	order  []string                // owners that wait, the next first
	queues map[string][]*admitting // by owner
	full   func()                  // called without the lock when someone begins to wait
}

type admitting struct{ ready chan struct{} }

func newAdmission(n int, full func()) *admission {
	return &admission{free: n, queues: map[string][]*admitting{}, full: full}
}

// acquire waits for a place and returns the function that gives it back.
func (a *admission) acquire(ctx context.Context, owner string) (release func(), err error) {
	a.mu.Lock()
	if a.free > 0 && len(a.order) == 0 {
		a.free--
		a.mu.Unlock()
		return a.releaseOnce(), nil
	}
	w := &admitting{ready: make(chan struct{})}
	if len(a.queues[owner]) == 0 {
		a.order = append(a.order, owner)
	}
	a.queues[owner] = append(a.queues[owner], w)
	a.mu.Unlock()
	a.full()
	select {
	case <-w.ready:
		return a.releaseOnce(), nil
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.leave(owner, w) {
		a.give() // it was admitted in the same moment
	}
	return nil, ctx.Err()
}

func (a *admission) releaseOnce() func() {
	return sync.OnceFunc(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.give()
	})
}

// give hands a free place to the next owner's first, who then goes to the end of the order.
func (a *admission) give() {
	if len(a.order) == 0 {
		a.free++
		return
	}
	owner := a.order[0]
	a.order = a.order[1:]
	q := a.queues[owner]
	close(q[0].ready)
	if len(q) > 1 {
		a.queues[owner] = q[1:]
		a.order = append(a.order, owner)
	} else {
		delete(a.queues, owner)
	}
}

// leave takes someone out of the queue and reports whether it was in it.
func (a *admission) leave(owner string, w *admitting) bool {
	q := a.queues[owner]
	for i := range q {
		if q[i] != w {
			continue
		}
		q = append(q[:i:i], q[i+1:]...)
		if len(q) > 0 {
			a.queues[owner] = q
			return true
		}
		delete(a.queues, owner)
		for j, o := range a.order {
			if o == owner {
				a.order = append(a.order[:j:j], a.order[j+1:]...)
				break
			}
		}
		return true
	}
	return false
}

// left returns how many places are free.
func (a *admission) left() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.free
}

// waiting returns how many wait.
func (a *admission) waiting() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for _, q := range a.queues {
		n += len(q)
	}
	return n
}
