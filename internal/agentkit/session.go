// Package agentkit implements the parts that the sessions of all agents share: a bounded queue of
// events with one consumer, the table of open requests, each resolved by exactly one event, and the
// end of the session, which happens once.
package agentkit

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

// MaxEvents is the usual limit of queued events, at which the agent waits for the consumer.
const MaxEvents = 10_000

// Options configures a session. Its functions run one at a time, as those of [Session.Update] do.
type Options struct {
	// Limit is the number of queued events at which [Session.Add] blocks; 0 means [MaxEvents].
	Limit int
	// Observe gets each event before it is queued and may change it; nil is allowed.
	Observe func(event.Event)
	// Cancel returns the events of a request that is withdrawn; nil means no events.
	Cancel func(*Prompt) []event.Event
}

// Session holds the events and the requests of an agent. Functions that are given to its methods
// run one at a time and must not call its methods, so that they may share the state of the agent.
type Session struct {
	opts   Options
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	changed *sync.Cond // on mu, for every change
	state   state
}

// New returns a session without events.
func New(opts Options) *Session {
	if opts.Limit == 0 {
		opts.Limit = MaxEvents
	}
	s := &Session{opts: opts, done: make(chan struct{}), state: state{limit: opts.Limit, open: map[string]*Prompt{}}}
	s.changed = sync.NewCond(&s.mu)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// update runs f and wakes all waiting goroutines.
func (s *Session) update(f func(st *state)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.state)
	s.changed.Broadcast()
}

// wake makes waiting goroutines check again when ctx ends.
func (s *Session) wake(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() { s.update(func(*state) {}) })
}

// Do runs f, not concurrently with other functions of the session, and wakes all waiting goroutines.
func (s *Session) Do(f func()) { s.update(func(*state) { f() }) }

// Update runs f and queues the events that it returns. After the end it has no effect.
func (s *Session) Update(f func() []event.Event) {
	s.update(func(st *state) { s.put(st, f) })
}

func (s *Session) put(st *state, f func() []event.Event) {
	if !st.over {
		st.push(f(), s.opts.Observe)
	}
}

// Add is like [Session.Update], for the goroutine that reads the agent. It waits until the queue
// has room and no prompt is being sent, or the session ends. It first resolves requests that the
// agent has withdrawn.
func (s *Session) Add(f func() []event.Event) {
	s.update(func(st *state) {
		for !st.ready() {
			s.changed.Wait()
		}
		s.withdraw(st, (*Prompt).expired)
		s.put(st, f)
	})
}

// AddLine is [Session.Add] for a line of an agent that runs under a host. Events of an earlier process ask no person; open
// requests are asked again later.
func (s *Session) AddLine(line uint64, past bool, f func() []event.Event) {
	s.update(func(st *state) {
		for !st.ready() {
			s.changed.Wait()
		}
		s.withdraw(st, (*Prompt).expired)
		if st.over {
			return
		}
		st.line = line
		if past {
			st.pushPast(f(), s.opts.Observe)
		} else {
			st.push(f(), s.opts.Observe)
		}
		st.endLine(line)
		st.line = 0
	})
}

// Batches yields the events, grouped by their lines, until the end, or until ctx ends. It replaces
// Events, and can be used once.
func (s *Session) Batches(ctx context.Context) iter.Seq2[agent.Batch, error] {
	return func(yield func(agent.Batch, error) bool) {
		used := false
		s.update(func(st *state) { used, st.used = st.used, true })
		if used {
			yield(agent.Batch{}, fmt.Errorf("%w: events are ranged over once", agent.ErrInvalid))
			return
		}
		defer s.wake(ctx)()
		for {
			var b agent.Batch
			var err error
			more := false
			s.update(func(st *state) {
				for len(st.queue) == 0 && !st.over && ctx.Err() == nil {
					s.changed.Wait()
				}
				if ctx.Err() != nil {
					err = context.Cause(ctx)
				} else if b, more = st.popBatch(); !more {
					err = st.err
				}
			})
			if !more && err == nil || !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// Send calls send, which passes a prompt to the agent, and then done. [Session.Add] waits
// meanwhile, so that the events of done precede those of the answer.
func (s *Session) Send(send func() error, done func() []event.Event) error {
	var err error
	s.update(func(st *state) {
		if err = st.alive(); err == nil {
			st.held++
		}
	})
	if err != nil {
		return err
	}
	err = send()
	s.update(func(st *state) {
		if st.held--; err == nil {
			s.put(st, done)
		}
	})
	return err
}

// Await waits until ok returns true, ctx or the session ends, or the timeout expires.
func (s *Session) Await(ctx context.Context, most time.Duration, ok func() bool) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	defer s.wake(ctx)()
	s.update(func(st *state) {
		for !ok() && ctx.Err() == nil && st.alive() == nil {
			s.changed.Wait()
		}
	})
}

// Open runs ask and opens the request that is among its events. The end of ctx withdraws it.
func (s *Session) Open(ctx context.Context, ask func() []event.Event, handle Handler) (r *Prompt, err error) {
	s.update(func(st *state) {
		if st.alive() != nil || ctx.Err() != nil {
			err = agent.ErrClosed
			return
		}
		events, id := ask(), ""
		for _, ev := range events {
			if a := asked(ev); a != nil {
				id = a.ID
			}
		}
		if id == "" || len(st.open) >= maxOpen {
			err = fmt.Errorf("%w: a request that cannot be shown", agent.ErrUnsupported)
			return
		}
		st.push(events, s.opts.Observe)
		r = st.open[id]
		r.ctx, r.handle = ctx, handle
		r.release = context.AfterFunc(ctx, func() { s.Withdraw(func(x *Prompt) bool { return x == r }) })
	})
	return r, err
}

// Request returns an open request, or nil for an unknown id.
func (s *Session) Request(id string) (r *Prompt) {
	s.update(func(st *state) { r = st.open[id] })
	return r
}

// Wait waits for the answer to a request. The end of ctx withdraws the request, unless it has been answered.
func (s *Session) Wait(ctx context.Context, r *Prompt) (agent.Answer, error) {
	err := agent.ErrNotOpen
	select {
	case a := <-r.answer:
		return a, nil
	case <-r.withdrawn:
	case <-ctx.Done():
		err = context.Cause(ctx)
		s.Withdraw(func(x *Prompt) bool { return x == r })
	}
	select {
	case a := <-r.answer: // answered at the same time
		return a, nil
	default:
		return nil, err
	}
}

// Check reports why a request cannot be answered with a: the session has ended, the request is not
// open, or the answer has the wrong kind.
func (s *Session) Check(id string, a agent.Answer) (err error) {
	s.update(func(st *state) { _, err = st.request(id, a) })
	return err
}

// Answer answers an open request. If there are several answers, the first one counts.
func (s *Session) Answer(ctx context.Context, id string, a agent.Answer) error {
	err := ctx.Err()
	if err != nil {
		return err
	}
	s.update(func(st *state) {
		var r *Prompt
		if r, err = st.request(id, a); err != nil {
			return
		}
		var events []event.Event
		if r.handle != nil {
			events, err = r.handle(ctx, r, a)
		}
		if err == nil {
			r.settle(a)
			st.push(events, s.opts.Observe)
		}
	})
	return err
}

// Withdraw closes the requests that match and have no answer.
func (s *Session) Withdraw(match func(*Prompt) bool) {
	s.update(func(st *state) { s.withdraw(st, match) })
}

func (s *Session) withdraw(st *state, match func(*Prompt) bool) {
	for _, r := range st.withdraw(match) {
		if s.opts.Cancel != nil {
			st.push(s.opts.Cancel(r), s.opts.Observe)
		}
	}
}

// All matches every request.
func All(*Prompt) bool { return true }

// Alive returns [agent.ErrClosed] after Stop or End.
func (s *Session) Alive() (err error) {
	s.update(func(st *state) { err = st.alive() })
	return err
}

// Context returns a context that ends with Stop or End.
func (s *Session) Context() context.Context { return s.ctx }

// Stop begins the end of the session: its methods fail, and its events will end with err. The first
// call of Stop or End counts.
func (s *Session) Stop(err error) {
	s.update(func(st *state) { st.stop(err) })
	s.cancel()
}

// End withdraws the open requests, queues the events of last, resolves the requests that are still
// open then, and ends the events with err, or with the error of Stop. Only the first call has an
// effect.
func (s *Session) End(err error, last func() []event.Event) {
	s.update(func(st *state) {
		if st.over {
			return
		}
		s.withdraw(st, All)
		if last != nil {
			s.put(st, last)
		}
		st.push(st.leftOpen(), s.opts.Observe)
		st.end(err)
		close(s.done)
	})
	s.cancel()
}

// Done returns a channel that is closed when the last event is queued.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err returns the error with which the events end. It is nil before the end.
func (s *Session) Err() (err error) {
	s.update(func(st *state) {
		if st.over {
			err = st.err
		}
	})
	return err
}

// Events yields the events until the end, or until ctx ends. It can be used once.
func (s *Session) Events(ctx context.Context) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		used := false
		s.update(func(st *state) { used, st.used = st.used, true })
		if used {
			yield(nil, fmt.Errorf("%w: events are ranged over once", agent.ErrInvalid))
			return
		}
		defer s.wake(ctx)()
		for {
			ev, err := s.next(ctx)
			if ev == nil && err == nil || !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// next waits for the next event. Both results are nil at an end without an error.
func (s *Session) next(ctx context.Context) (ev event.Event, err error) {
	s.update(func(st *state) {
		for len(st.queue) == 0 && !st.over && ctx.Err() == nil {
			s.changed.Wait()
		}
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		} else if next, ok := st.pop(); ok {
			ev = next
		} else {
			err = st.err
		}
	})
	return ev, err
}
