package session

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/server/api"
)

// with runs f in the loop of a session, which is loaded if need be.
func (s *Sessions) with(ctx context.Context, id string, f func(a *actor) error) error {
	a, release, err := s.use(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	return a.call(ctx, func() error { return f(a) })
}

// owned returns an error if the session cannot be changed here.
func (a *actor) owned() error {
	if a.core.State == LostHost {
		return Fail(api.NotOwner, "another server owns the session")
	}
	if a.draining {
		return Fail(api.Draining, "the server is stopping")
	}
	if a.away.live != nil && a.agent == nil {
		return openElsewhere(a.away.live)
	}
	return nil
}

// Query accepts an input. It is in the log when the answer is given.
func (s *Sessions) Query(ctx context.Context, id, key string, content json.RawMessage, priority, by string) (api.Accepted, error) {
	if err := s.Working(); err != nil {
		return api.Accepted{}, err
	}
	if priority != "" && !slices.Contains([]string{"now", "next", "later"}, priority) {
		return api.Accepted{}, Invalid("priority is %q, not now, next or later", priority)
	}
	var result api.Accepted
	err := s.with(ctx, id, func(a *actor) error {
		if k, ok := a.core.accepted(key); ok {
			result = api.Accepted{TurnID: k.TurnID, Seq: k.Seq}
			return nil
		}
		if err := a.owned(); err != nil {
			return err
		}
		if err := a.overBudget(); err != nil {
			return err
		}
		in := input{ID: random.UUID(), Content: content, Priority: priority, Status: inputQueued, By: by, Trace: s.opts.Tracer.toText(ctx)}
		d, err := a.core.enqueue(in, key)
		if err != nil {
			return err
		}
		if err := a.commit(d); err != nil {
			return err
		}
		result = api.Accepted{TurnID: in.ID, Seq: a.seq}
		a.trace.accepted(in)
		if priority == "now" && a.agent != nil && a.core.State.busy() && !a.sending {
			a.sendInput(in) // the agent takes it into the running turn
			return nil
		}
		a.sendNext()
		return nil
	})
	return result, err
}

// changeQueue changes the inputs that wait.
func (s *Sessions) changeQueue(ctx context.Context, id string, change func(*core) (draft, error)) (api.QueueListResult, error) {
	var result api.QueueListResult
	err := s.with(ctx, id, func(a *actor) error {
		if err := a.owned(); err != nil {
			return err
		}
		d, err := change(&a.core)
		if err != nil {
			return err
		}
		if err := a.commit(d); err != nil {
			return err
		}
		a.sendNext()
		result.Items = a.core.queueItems()
		return nil
	})
	return result, err
}

// release lets held inputs run. Those of unknown fate stay: whether they ran already is
// for a person to judge, one by one.
func (c *core) release() (draft, error) {
	f := &facts{}
	for _, in := range c.Inputs {
		if in.Status == inputHeld {
			in.Status = inputQueued
			f.Inputs = append(f.Inputs, in)
		}
	}
	return c.queueDraft(f), nil
}

// QueueSendNow sends an input before all others, also one that was held or is of unknown fate,
// and also into a turn that runs.
func (s *Sessions) QueueSendNow(ctx context.Context, p api.QueueItemParams) (api.Accepted, error) {
	if err := s.Working(); err != nil {
		return api.Accepted{}, err
	}
	var result api.Accepted
	err := s.with(ctx, p.SessionID, func(a *actor) error {
		if err := a.owned(); err != nil {
			return err
		}
		if err := a.overBudget(); err != nil {
			return err
		}
		in, err := a.core.queued(p.ID)
		if err != nil {
			return err
		}
		in.Status = inputQueued
		order := []string{in.ID}
		for _, other := range a.core.queue() {
			if other.ID != in.ID {
				order = append(order, other.ID)
			}
		}
		busy := a.agent != nil && a.core.State.busy()
		if busy {
			in.Priority = "now"
		}
		if err := a.commit(draft{queue: true, facts: &facts{Inputs: []input{in}, Order: order}}); err != nil {
			return err
		}
		result = api.Accepted{TurnID: in.ID, Seq: a.seq}
		if busy && !a.sending {
			a.sendInput(in)
		}
		a.sendNext()
		return nil
	})
	return result, err
}

// respond answers a request once. The answer is in the log before the agent acts on it.
func (s *Sessions) respond(ctx context.Context, id, requestID, key, by string, decide func(*core) (reply, error)) (api.RespondResult, error) {
	a, release, err := s.use(ctx, id)
	if err != nil {
		return api.RespondResult{}, err
	}
	defer release()
	var result api.RespondResult
	var rep reply
	var session agent.Session
	err = a.call(ctx, func() error {
		if k, ok := a.core.accepted(key); ok {
			result = api.RespondResult{Accepted: true, By: k.By, Seq: k.Seq}
			return nil
		}
		if a.core.State == LostHost {
			return Fail(api.NotOwner, "another server owns the session")
		}
		var err error
		if rep, err = decide(&a.core); err != nil {
			return err
		}
		if a.agent == nil {
			return Conflict("the agent that asked is gone")
		}
		if err := a.commit(a.core.answer(requestID, rep, key, by)...); err != nil {
			return err
		}
		session = a.agent.session
		result = api.RespondResult{Accepted: true, By: by, Seq: a.seq}
		return nil
	})
	if err != nil || session == nil {
		return result, err
	}
	// The answer stands, whatever becomes of the caller.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.opts.CallTimeout)
	defer cancel()
	if err := session.Answer(ctx, requestID, rep.answer); err != nil {
		a.post(func() {
			a.draft(draft{event: &event.Notice{Header: a.core.header(""), Severity: event.NoticeWarning, Code: "answer_lost",
				Text: "An answer did not reach the agent: " + FailureOf(err).Message}})
			_ = a.write() // kept and tried again by tick
		})
		return api.RespondResult{}, Conflict("the answer came too late: %s", FailureOf(err).Message)
	}
	return result, nil
}

// agentOf returns the running agent of a session, started if need be.
func (s *Sessions) agentOf(ctx context.Context, id string) (a *actor, session agent.Session, release func(), err error) {
	a, release, err = s.use(ctx, id)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := a.ensure(ctx); err != nil {
		release()
		return nil, nil, nil, err
	}
	err = a.call(ctx, func() error {
		if a.agent == nil {
			return Fail(api.NotConnected, "the session has no agent")
		}
		session = a.agent.session
		return nil
	})
	if err != nil {
		release()
		return nil, nil, nil, err
	}
	return a, session, release, nil
}

// ensure waits until the agent runs, and starts it if need be. One that is being ended is
// waited for and started again.
func (a *actor) ensure(ctx context.Context) error {
	for {
		wait, starts, ending := make(chan error, 1), false, (<-chan struct{})(nil)
		err := a.call(ctx, func() error {
			if a.agent != nil {
				if a.agent.reason != "" {
					ending = a.agent.ended
				}
				return nil
			}
			if err := a.owned(); err != nil {
				return err
			}
			if err := a.srv.Working(); err != nil {
				return err
			}
			a.waiters = append(a.waiters, wait)
			if a.start(a.trace.toText(ctx)); !a.starting { // the log cannot be written
				a.waiters = nil
				return a.blocked
			}
			starts = true
			return nil
		})
		if err != nil || !starts && ending == nil {
			return err
		}
		select {
		case <-ending:
		case err := <-wait:
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-a.done:
			return Fail(api.NotConnected, "the session is closed")
		}
	}
}

// feature calls an optional interface of the running agent; a missing one is unsupported.
func feature[T any](ctx context.Context, s *Sessions, id string, f func(ctx context.Context, a *actor, t T) error) error {
	a, session, release, err := s.agentOf(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	t, ok := session.(T)
	if !ok {
		return Fail(api.Unsupported, "the agent of this session cannot do that")
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.CallTimeout)
	defer cancel()
	return f(ctx, a, t)
}

// Interrupt stops the running turn. What waits in the queue still runs.
func (s *Sessions) Interrupt(ctx context.Context, p api.SessionRef) (api.InterruptResult, error) {
	a, release, err := s.use(ctx, p.SessionID)
	if err != nil {
		return api.InterruptResult{}, err
	}
	defer release()
	result := api.InterruptResult{Status: "idle", Dropped: []string{}, StillQueued: []string{}}
	var session agent.Session
	err = a.call(ctx, func() error {
		for _, in := range a.core.queue() {
			result.StillQueued = append(result.StillQueued, in.ID)
		}
		if a.agent != nil && len(a.core.inflight()) > 0 {
			session = a.agent.session
		}
		return nil
	})
	if err != nil || session == nil {
		return result, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.CallTimeout)
	defer cancel()
	done, err := session.Interrupt(ctx)
	if err != nil {
		return api.InterruptResult{}, err
	}
	result.Status = "interrupted"
	result.Dropped = append(result.Dropped, done.Dropped...)
	result.StillQueued = append(done.StillQueued, result.StillQueued...)
	err = a.call(ctx, func() error {
		if len(done.Dropped) == 0 {
			return nil
		}
		return a.commit(draft{queue: true, facts: &facts{Removed: done.Dropped}})
	})
	return result, err
}

// drain ends the session's work before the server stops. A turn that waits for a person is
// not waited for.
func (a *actor) drain(ctx context.Context) {
	var session agent.Session
	waits := false
	err := a.call(context.WithoutCancel(ctx), func() error {
		waits = a.core.State == RequiresAction
		a.draining = true
		if a.agent != nil {
			session = a.agent.session
			a.occur(onDrain)
			return a.write()
		}
		return nil
	})
	if err != nil || session == nil {
		return
	}
	if !waits && a.settled(ctx) {
		return
	}
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), DrainGrace)
	defer cancel()
	if _, err := session.Interrupt(bound); err != nil {
		a.logger.Warn("a turn was not interrupted", "err", err)
	}
	a.settled(bound)
}

// settled waits until no turn runs and reports whether that came before the end of ctx.
func (a *actor) settled(ctx context.Context) bool {
	for {
		a.hub.mu.Lock()
		changed := a.hub.changed
		a.hub.mu.Unlock()
		busy := false
		if a.call(ctx, func() error { busy = len(a.core.inflight()) > 0; return nil }) != nil {
			return false
		}
		if !busy {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// Agent is the running agent of a session, as it was started.
type Agent struct {
	Provider agent.Provider
	Session  agent.Session
	Mode     string   // of permissions
	Dirs     []string // that it works in
	Env      []string // that it was started with
	Release  func()   // ends the use of the session
}

// Agent returns the agent of a session, started if need be. The caller calls Release.
func (s *Sessions) Agent(ctx context.Context, id string) (*Agent, error) {
	a, session, release, err := s.agentOf(ctx, id)
	if err != nil {
		return nil, err
	}
	found := &Agent{Provider: a.provider, Session: session, Release: release}
	err = a.call(ctx, func() error {
		found.Mode, found.Env = a.core.Mode, a.given
		found.Dirs = append([]string{a.core.Opened.Dir}, a.core.Opened.Params.AdditionalDirectories...)
		return nil
	})
	if err != nil {
		release()
		return nil, err
	}
	return found, nil
}
