// Package admission limits the number of concurrent agents, fairly among tenants.
package admission

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// Admission limits the number of concurrent agents: each acquires places before it starts, and a
// caller waits until its places are free. Tenants take turns, by the number of places that each has
// received so far, so that a tenant with a hundred waiting callers delays the first caller of
// another by at most one; within a tenant callers are served in order. The next caller waits for all
// its places, so small requests do not starve a large one. It is safe for concurrent use.
type Admission struct {
	full     func() // called without the lock when a caller begins to wait; may be nil
	errClose error  // the error of Acquire after Close
	mu       sync.Mutex
	capacity int64
	held     int64
	clock    int64 // the places received by the tenant that was served last
	tenants  map[string]*queue
	ahead    map[string]int64 // places received beyond the clock by tenants without waiting callers
	closed   bool
}

// queue holds the waiting callers of one tenant. It is removed when it is empty.
type queue struct {
	got     int64 // places received so far, relative to the clock
	waiting []*waiter
}

type waiter struct {
	Waiting
	admitted chan struct{}
	err      error // set before admitted is closed
}

// Waiting is a caller that waits for places of an [Admission], with its tenant and the time of its
// call.
type Waiting struct {
	Tenant string
	Weight int64
	Since  time.Time
}

// State is a snapshot of an [Admission]: its places, the held ones, and the waiting callers.
type State struct {
	Capacity int64
	Held     int64
	// Waiting are the waiting callers, in the order in which they will be admitted if no others
	// arrive.
	Waiting []Waiting
}

// New returns an Admission with this number of places; values below 1 mean 1. After Close, Acquire
// returns errClosed. full, unless it is nil, is called when a caller begins to wait.
func New(places int64, errClosed error, full func()) *Admission {
	return &Admission{full: full, errClose: errClosed, capacity: max(places, 1), tenants: map[string]*queue{}, ahead: map[string]int64{}}
}

// Acquire waits for places and takes them; release returns them and has no effect when called again.
// A weight below 1 means 1, one above the capacity means all places. The error is the cause of ctx,
// or the error for a closed Admission.
func (a *Admission) Acquire(ctx context.Context, tenant string, weight int64) (release func(), err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	weight = min(max(weight, 1), a.capacity)
	w := &waiter{Waiting{tenant, weight, time.Now()}, make(chan struct{}), nil}
	a.update(func() { a.enqueue(w) })
	select {
	case <-w.admitted:
	default:
		if a.full != nil {
			a.full()
		}
	}
	select {
	case <-w.admitted:
	case <-ctx.Done():
		if a.leave(w) {
			return nil, context.Cause(ctx)
		}
		<-w.admitted // both have happened
	}
	if w.err != nil {
		return nil, w.err
	}
	return a.releaser(weight), nil
}

// TryAcquire takes places if they are free and no other caller waits for them. It never blocks.
func (a *Admission) TryAcquire(weight int64) (release func(), ok bool) {
	weight = min(max(weight, 1), a.capacity)
	a.update(func() {
		if ok = !a.closed && len(a.tenants) == 0 && a.held+weight <= a.capacity; ok {
			a.held += weight
		}
	})
	if !ok {
		return nil, false
	}
	return a.releaser(weight), true
}

func (a *Admission) releaser(weight int64) func() {
	return sync.OnceFunc(func() { a.update(func() { a.held -= weight }) })
}

// Close makes waiting and later calls of Acquire fail with the error for a closed Admission. It does
// not release held places.
func (a *Admission) Close() {
	a.update(func() {
		a.closed = true
		for tenant, q := range a.tenants {
			for _, w := range q.waiting {
				w.end(a.errClose)
			}
			delete(a.tenants, tenant)
		}
	})
}

// Places returns the number of free places and of waiting callers.
func (a *Admission) Places() (free, waiting int) {
	a.update(func() {
		free = int(a.capacity - a.held)
		for _, q := range a.tenants {
			waiting += len(q.waiting)
		}
	})
	return free, waiting
}

// State returns a snapshot of the places and of the waiting callers, in order.
func (a *Admission) State() (st State) {
	a.update(func() {
		st.Capacity, st.Held = a.capacity, a.held
		rest := &Admission{clock: a.clock, tenants: map[string]*queue{}, ahead: map[string]int64{}}
		for tenant, q := range a.tenants {
			rest.tenants[tenant] = &queue{q.got, slices.Clone(q.waiting)}
		}
		for w := rest.next(); w != nil; w = rest.next() {
			st.Waiting = append(st.Waiting, w.Waiting)
			rest.serve(w)
		}
	})
	return st
}

// update changes the state and then admits every caller whose places are free.
func (a *Admission) update(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
	for w := a.next(); w != nil && a.held+w.Weight <= a.capacity; w = a.next() {
		a.serve(w)
		a.held += w.Weight
		w.end(nil)
	}
}

func (w *waiter) end(err error) {
	w.err = err
	close(w.admitted)
}

func (a *Admission) enqueue(w *waiter) {
	if a.closed {
		w.end(a.errClose)
		return
	}
	q := a.tenants[w.Tenant]
	if q == nil {
		// A tenant gains no priority by being idle, or by requesting one place at a time.
		q = &queue{got: max(a.clock, a.ahead[w.Tenant])}
		delete(a.ahead, w.Tenant)
		a.tenants[w.Tenant] = q
	}
	q.waiting = append(q.waiting, w)
}

// next returns the caller to admit next: of the tenant with the fewest places so far, and in a tie
// the one that has waited longest.
func (a *Admission) next() (first *waiter) {
	var least int64
	for _, q := range a.tenants {
		w := q.waiting[0]
		if first == nil || q.got < least || q.got == least && w.Since.Before(first.Since) {
			first, least = w, q.got
		}
	}
	return first
}

// serve removes the next caller of a tenant from the queue.
func (a *Admission) serve(w *waiter) {
	q := a.tenants[w.Tenant]
	a.clock = q.got
	q.got += w.Weight
	a.drop(w)
	maps.DeleteFunc(a.ahead, func(_ string, got int64) bool { return got <= a.clock })
}

func (a *Admission) drop(w *waiter) (found bool) {
	q := a.tenants[w.Tenant]
	if q == nil {
		return false
	}
	i := slices.Index(q.waiting, w)
	if i < 0 {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	if len(q.waiting) == 0 {
		delete(a.tenants, w.Tenant)
		a.ahead[w.Tenant] = q.got
	}
	return true
}

// leave removes a caller that no longer waits. It returns false if the caller was admitted.
func (a *Admission) leave(w *waiter) (left bool) {
	a.update(func() { left = a.drop(w) })
	return left
}
