package session

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// life is the agent of a session: whether it is being started, runs or is being ended, and since
// when it is silent. It belongs to the loop.
type life struct {
	*journal
	provider agent.Provider
	env      []string // the environment of agents of its tenant
	given    []string // the environment that the agent was given
	agent    *running // nil while none runs
	// capabilities are those of the last agent; nil before the first.
	capabilities *api.Capabilities
	starting     bool
	cancelStart  context.CancelFunc
	waiters      []chan error // for the start of the agent
	sending      bool         // an input is on its way to the agent
	unsent       bool         // an input could not be written and stays in the queue
	draining     bool
	quiet        time.Time // since when nothing happened
	stalled      stallStep
}

// active notes that the agent or a person has done something.
func (l *life) active() { l.quiet, l.stalled = time.Now(), stallNone }

// answerWaiters tells those who wait for the agent how its start ended.
func (l *life) answerWaiters(err error) {
	for _, w := range l.waiters {
		w <- err
	}
	l.waiters = nil
}

// interrupt interrupts the turn that runs, without waiting for it.
func (l *life) interrupt(done func(session agent.Session, err error)) {
	session := l.agent.session
	l.srv.wg.Go(func() {
		ctx, cancel := context.WithTimeout(l.ctx, l.srv.opts.CallTimeout)
		defer cancel()
		_, err := session.Interrupt(ctx)
		l.post(func() { done(session, err) })
	})
}

// pumped is an event of an agent, or the end of its events.
type pumped struct {
	event event.Event
	err   error
	end   bool
}

// pumpBuffer is how many events of an agent wait for its actor before the agent does.
const pumpBuffer = 512

// running is the agent of a session while it runs.
type running struct {
	session agent.Session
	events  chan pumped
	release func()     // gives its place back
	reason  occurrence // why it is being ended; empty if it was not asked to
	close   func() error
	ended   chan struct{} // closed when the actor has seen the end
}

// pump carries the events of an agent to the loop until they end.
func (l *life) pump(r *running) {
	give := func(p pumped) bool {
		select {
		case r.events <- p:
			return true
		case <-l.done:
			return false
		}
	}
	var failed error
	for ev, err := range r.session.Events(context.WithoutCancel(l.ctx)) {
		if err != nil {
			failed = err
			break
		}
		if !give(pumped{event: ev}) {
			break
		}
	}
	give(pumped{err: failed, end: true})
	_ = r.close() // the agent has ended by itself, or was closed already
	r.release()
}

// open waits for a place and starts the agent.
func (l *life) open(ctx context.Context, resume string, spoken bool, opts agent.Options) (agent.Session, func(), error) {
	release, err := l.srv.admission.Acquire(ctx, l.core.Opened.By, 1)
	if err != nil {
		return nil, nil, err
	}
	revoke := l.srv.opts.Prepare(l.id, l.provider, &opts)
	place := release
	release = sync.OnceFunc(func() { revoke(); place() })
	ctx, cancel := context.WithTimeout(ctx, l.srv.opts.StartTimeout)
	defer cancel()
	var session agent.Session
	if resume != "" {
		session, err = l.resume(ctx, resume, spoken, opts)
	} else {
		session, err = l.provider.Open(ctx, opts)
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	l.post(func() { l.given = opts.Env })
	return session, release, nil
}

// fate asks the agent's files what became of an input.
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

// stop ends the agent for a reason. It returns at once; the end comes as an event. The
// channel is closed when it has come.
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

// tasksRun reports whether the agent works in the background.
func (l *life) tasksRun() bool {
	return slices.ContainsFunc(l.conv.Tasks, func(t *event.Task) bool { return t.Status == "running" })
}

// evictable reports whether the agent can be ended without loss.
func (l *life) evictable() bool {
	return l.agent != nil && l.core.State == Idle && !l.sending && !l.tasksRun()
}

// free reports whether the server has no agent for the session.
func (l *life) free() bool { return l.agent == nil && !l.starting && !l.draining }
