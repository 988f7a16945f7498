// Package admission bounds how many agents run at once, fairly among tenants.
package admission

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// Admission bounds how many agents run at once, before they start: each takes places, and a
// caller that finds none waits. Places go to tenants in turn, by the number that each has got so
// far, so that a tenant with a hundred waiting delays another's first by one at most; within a
// tenant they go in order. The next caller waits for all the places that it needs, so a heavy one
// is not starved by light ones. It is safe for concurrent use.
type Admission struct {
	full     func() // called without the lock when a caller begins to wait; may be nil
	errClose error  // the error of waiting after Close
	mu       sync.Mutex
	capacity int64
	held     int64
	clock    int64 // what the tenant that was served last had got by then
	tenants  map[string]*queue
	ahead    map[string]int64 // what tenants that do not wait have got beyond the clock
	closed   bool
}

// queue are the waiting of one tenant. It is gone when there are none.
type queue struct {
	got     int64 // places so far, in terms of the clock
	waiting []*waiter
}

type waiter struct {
	Waiting
	admitted chan struct{}
	err      error // set before admitted is closed
}

// Waiting is a caller that waits for places of an [Admission], with its tenant and
// since when.
type Waiting struct {
	Tenant string
	Weight int64
	Since  time.Time
}

// State is a snapshot of an [Admission]: its places, those that are held, and who
// waits.
type State struct {
	Capacity int64
	Held     int64
	// Waiting are those who wait, in the order in which they will be admitted if no others
	// arrive.
	Waiting []Waiting
}

// New returns an Admission with this number of places; fewer than one count as one. After Close,
// waiting returns errClosed. Full, unless it is nil, is called when a caller begins to wait.
func New(places int64, errClosed error, full func()) *Admission {
	return &Admission{full: full, errClose: errClosed, capacity: max(places, 1), tenants: map[string]*queue{}, ahead: map[string]int64{}}
}

// Acquire waits for places and takes them; release gives them back, once however
// often it is called. A weight under 1 is 1, one over the capacity is all of it.
// The error is the cause of ctx, or the error for a closed Admission.
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

// TryAcquire takes places if they are free and no other caller waits for them. It never waits
// itself.
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

// Close ends the waiting and whatever would wait later with the error for a closed Admission. Places
// that are held stay so.
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

// Places returns how many places are free and how many callers wait.
func (a *Admission) Places() (free, waiting int) {
	a.update(func() {
		free = int(a.capacity - a.held)
		for _, q := range a.tenants {
			waiting += len(q.waiting)
		}
	})
	return free, waiting
}

// State returns a snapshot of the places and of the callers that wait, in their order.
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

// update changes the state; each caller whose places are then free is admitted.
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
		// To have asked for nothing earns nothing, and to ask for one at a time neither.
		q = &queue{got: max(a.clock, a.ahead[w.Tenant])}
		delete(a.ahead, w.Tenant)
		a.tenants[w.Tenant] = q
	}
	q.waiting = append(q.waiting, w)
}

// next is who is admitted next: of the tenant that has got least, the one who
// has waited longest where that is a draw.
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

// serve takes the next of a tenant out of the queue.
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

// leave removes a caller that does not wait any longer; false if he has been admitted.
func (a *Admission) leave(w *waiter) (left bool) {
	a.update(func() { left = a.drop(w) })
	return left
}
