package session

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/server/api"
)

// life is the state of a session's agent: whether it is being started, running or being ended, and
// the start of its silence. It belongs to the loop.
type life struct {
	*journal
	provider agent.Provider
	env      []string     // the environment of agents of its tenant
	given    []string     // the environment with which the agent was started
	spawner  *hostSpawner // started the agent under a host; nil without one
	agent    *running     // nil while it does not run
	// capabilities are those of the last agent; nil before the first.
	capabilities *api.Capabilities
	starting     bool
	cancelStart  context.CancelFunc
	waiters      []chan error // wait for the start of the agent
	sending      bool         // an input is being sent to the agent
	unsent       bool         // an input could not be written and stays in the queue
	draining     bool
	away         bool       // the agent runs under a host that is unreachable
	ending       occurrence // the reason of the requested end of that agent
	quiet        time.Time  // time of the last activity
	stalled      stallStep
}

// active records an activity of the agent or a person.
func (l *life) active() { l.quiet, l.stalled = time.Now(), stallNone }

// answerWaiters reports the result of the start to those who wait for the agent.
func (l *life) answerWaiters(err error) {
	for _, w := range l.waiters {
		w <- err
	}
	l.waiters = nil
}

// interrupt interrupts the running turn, without waiting for it.
func (l *life) interrupt(done func(session agent.Session, err error)) {
	session := l.agent.session
	l.srv.wg.Go(func() {
		ctx, cancel := context.WithTimeout(l.ctx, l.srv.opts.CallTimeout)
		defer cancel()
		_, err := session.Interrupt(ctx)
		l.post(func() { done(session, err) })
	})
}

// pumped is an item for the actor: the events of one line of an agent, a single event, or the end
// of the events.
type pumped struct {
	events []event.Event
	line   uint64 // 0 if the events come from no line of a host
	err    error
	end    bool
}

// pumpBuffer is the number of events that wait for the actor before the agent blocks.
const pumpBuffer = 512

// running is a running agent.
type running struct {
	session agent.Session
	events  chan pumped
	access  *access
	reason  occurrence // the reason of a requested end; empty otherwise
	close   func() error
	ended   chan struct{} // closed when the actor has seen the end

	process *host.Process                   // of an agent that a running host keeps
	forget  func(ctx context.Context) error // makes the host remove its data about the agent after its end; nil without a host
	gaveUp  int64                           // bytes of lines that the host has discarded
	left    *leftAgent                      // set if an earlier server started the agent
	leaves  bool                            // the agent continues without a link; set before ended is closed

	orphanMu sync.Mutex
	orphan   []byte // the input that the host writes to an agent without a server
}

// batches yields the events of an agent, in groups by line if a host keeps the lines.
func (r *running) batches(ctx context.Context) iter.Seq2[agent.Batch, error] {
	if h, ok := r.session.(agent.Hosted); ok && r.forget != nil {
		return h.Batches(ctx)
	}
	return func(yield func(agent.Batch, error) bool) {
		for ev, err := range r.session.Events(ctx) {
			if !yield(agent.Batch{Events: []event.Event{ev}}, err) {
				return
			}
		}
	}
}

// pump passes the events of an agent to the loop until they end.
func (l *life) pump(r *running) {
	give := func(p pumped) bool {
		select {
		case r.events <- p:
			return true
		case <-r.ended:
			return false
		case <-l.done:
			return false
		}
	}
	var failed error
	for b, err := range r.batches(context.WithoutCancel(l.ctx)) {
		if err != nil {
			failed = err
			break
		}
		if !give(pumped{events: b.Events, line: b.Line}) {
			break
		}
	}
	give(pumped{err: failed, end: true})
	_ = r.close() // the agent has exited, or was closed already
	r.access.free()
	if r.forget == nil {
		r.access.end()
		return
	}
	select {
	case <-r.ended:
		if r.leaves {
			return
		}
		ctx, cancel := l.bounded()
		defer cancel()
		if err := l.call(ctx, func() error { return l.blocked }); err != nil {
			return // its last events are not stored: the next server reads its lines
		}
		if err := r.forget(ctx); err != nil {
			l.logger.Warn("the host did not remove an agent", "err", err)
			return // the agent may still run, under another server
		}
		r.access.end()
	case <-l.done: // the next server reads its lines
	}
}

// access is an agent's place among the running agents, and its access to the model.
type access struct {
	place, revoke func()
}

// free releases the place for another agent.
func (a *access) free() { a.place() }

// end releases the place and ends the agent's access. An agent that stays in a host keeps its
// access.
func (a *access) end() {
	a.revoke()
	a.place()
}

// admit waits for a slot and prepares an agent.
func (l *life) admit(ctx context.Context, opts *agent.Options) (*access, error) {
	place, err := l.srv.admission.Acquire(ctx, l.core.Opened.By, 1)
	if err != nil {
		return nil, err
	}
	revoke, err := func() {}, error(nil)
	if l.machine() == "" { // another machine has its own keys and boxes
		revoke, err = l.srv.opts.Prepare(l.id, l.provider, opts)
	}
	if err != nil {
		place()
		return nil, err
	}
	return &access{sync.OnceFunc(place), sync.OnceFunc(revoke)}, nil
}

// open waits for a slot and starts the agent.
func (l *life) open(ctx context.Context, resume string, spoken bool, opts agent.Options) (agent.Session, *access, error) {
	admitted, err := l.admit(ctx, &opts)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, l.srv.opts.StartTimeout)
	defer cancel()
	session, kept, err := l.openUnder(ctx, resume, spoken, &opts)
	for n := 1; err != nil && n < startTries && kept.lost() && ctx.Err() == nil; n++ {
		session, kept, err = l.openUnder(ctx, resume, spoken, &opts) // over the next link, which ends the agent of the lost one
	}
	if err != nil {
		admitted.end()
		return nil, nil, err
	}
	l.post(func() { l.given, l.spawner = opts.Env, kept })
	return session, admitted, nil
}

// startTries limits the attempts to start an agent if the link to the host is lost during the
// start.
const startTries = 3

// openUnder starts the agent, under a host if it has one.
func (l *life) openUnder(ctx context.Context, resume string, spoken bool, opts *agent.Options) (session agent.Session, kept *hostSpawner, err error) {
	if kept, err = l.keeper(resume, opts); err != nil {
		return nil, nil, err
	}
	if kept != nil {
		opts.Spawner = kept
		if kept.keeper != nil {
			opts.Keeper = kept.keeper
		}
	}
	if resume != "" {
		session, err = l.resume(ctx, resume, spoken, *opts)
	} else {
		session, err = l.provider.Open(ctx, *opts)
	}
	if err != nil {
		kept.abandon()
	}
	return session, kept, err
}

// keeper returns the spawner for processes of an agent that survives the server, or nil for other
// agents.
func (l *life) keeper(resume string, opts *agent.Options) (*hostSpawner, error) {
	if name := l.machine(); name != "" {
		m := l.srv.opts.Machines.get(name)
		if m == nil {
			return nil, Fail(api.NotConnected, "machine %q has not joined since the start of the server", name)
		}
		opts.MaxAbsence = l.srv.opts.Machines.opts.absence(opts)
		return m.spawner(l.id, l.core.Provider, resume, opts)
	}
	if _, ok := l.provider.(agent.Adopter); !ok || l.srv.opts.Host == nil {
		return nil, nil
	}
	opts.MaxAbsence = l.srv.opts.Host.opts.absence(opts)
	return l.srv.opts.Host.spawner(l.id, opts), nil
}

// fate checks the agent's files for an input.
func (l *life) fate(in input) agent.Delivery {
	w, ok := l.provider.(agent.Witness)
	if !ok || l.core.AgentID == "" {
		return agent.DeliveryUnknown
	}
	ctx, cancel := l.bounded()
	defer cancel()
	d, err := w.Delivered(ctx, l.core.AgentID, in.ID)
	if err != nil {
		l.logger.Warn("the agent's files cannot be read", "err", err)
		return agent.DeliveryUnknown
	}
	return d
}

// fateAt is like fate for an agent that an earlier server has left; l may be nil. Each prompt is a
// line with the id of its input, so an input without a line was not sent.
func (l *life) fateAt(left *leftAgent, in input) agent.Delivery {
	if left != nil && left.wrote != nil && !left.wrote(in.ID) {
		return agent.NotDelivered
	}
	return l.fate(in)
}

// stop ends the agent for a reason. It returns at once; the end follows as an event, after which
// the channel is closed.
func (l *life) stop(reason occurrence) <-chan struct{} {
	if l.cancelStart != nil {
		l.cancelStart()
	}
	r := l.agent
	if r == nil {
		ended := make(chan struct{})
		close(ended)
		return ended
	}
	if r.reason == "" {
		r.reason = reason
	}
	l.srv.wg.Go(func() {
		if err := r.close(); err != nil {
			l.logger.Warn("the agent was not closed", "err", err)
		}
	})
	return r.ended
}

// tasksRun reports whether the agent has background tasks.
func (l *life) tasksRun() bool {
	return slices.ContainsFunc(l.conv.Tasks, func(t *event.Task) bool { return t.Status == "running" })
}

// evictable reports whether the agent can be ended without loss.
func (l *life) evictable() bool {
	return l.agent != nil && l.core.State == Idle && !l.sending && !l.tasksRun()
}

// free reports whether the session has no agent.
func (l *life) free() bool { return l.agent == nil && !l.starting && !l.draining }
