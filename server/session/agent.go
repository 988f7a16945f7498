package session

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

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
func (a *actor) pump(r *running) {
	defer a.srv.wg.Done()
	give := func(p pumped) bool {
		select {
		case r.events <- p:
			return true
		case <-a.done:
			return false
		}
	}
	var failed error
	for ev, err := range r.session.Events(context.WithoutCancel(a.ctx)) {
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

// start starts the agent, unless it runs or is being started. The session resumes where
// the agent knows it. The trace is that of the request that needs it.
func (a *actor) start(traceparent string) {
	if a.agent != nil || a.starting || a.draining {
		return
	}
	a.occur(onStart)
	if a.write() != nil {
		return
	}
	a.starting = true
	ctx, cancel := context.WithCancel(a.ctx)
	a.cancelStart = cancel
	opts, resume, gone := a.agentOptions(), a.core.AgentID, a.core.Away
	ctx, span := a.trace.starting(ctx, traceparent)
	opts.Env = withTrace(opts.Env, a.trace.toText(ctx))
	a.unfollow()
	a.srv.wg.Add(1)
	go func() {
		defer a.srv.wg.Done()
		defer cancel()
		if gone {
			if err := a.catchUp(ctx); err != nil {
				a.logger.Warn("what a terminal wrote was not read", "err", err)
			}
		}
		session, release, err := a.open(ctx, resume, opts)
		EndSpan(span, err)
		if !a.post(func() { a.started(session, release, err) }) && session != nil {
			_ = session.Close() // the actor has ended meanwhile
			release()
		}
	}()
}

// open waits for a place and starts the agent.
func (a *actor) open(ctx context.Context, resume string, opts agent.Options) (agent.Session, func(), error) {
	release, err := a.srv.admission.Acquire(ctx, a.core.Opened.By, 1)
	if err != nil {
		return nil, nil, err
	}
	revoke := a.srv.opts.Prepare(a.id, a.provider, &opts)
	place := release
	release = sync.OnceFunc(func() { revoke(); place() })
	ctx, cancel := context.WithTimeout(ctx, a.srv.opts.StartTimeout)
	defer cancel()
	var session agent.Session
	resumer, ok := a.provider.(agent.Resumer)
	switch {
	case resume != "" && ok:
		session, err = resumer.Resume(ctx, resume, opts)
		if errors.Is(err, agent.ErrNotFound) && !opts.Fork {
			// The agent never wrote the session: nothing was said in it yet.
			session, err = a.provider.Open(ctx, opts)
		}
	case resume != "" && opts.Fork:
		err = agent.ErrUnsupported
	default:
		session, err = a.provider.Open(ctx, opts)
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	a.post(func() { a.given = opts.Env })
	return session, release, nil
}

// started takes over an agent that was started.
func (a *actor) started(session agent.Session, release func(), err error) {
	a.starting, a.cancelStart = false, nil
	if err == nil && (a.draining || a.core.State != Starting) {
		_ = session.Close() // disconnected meanwhile
		release()
		err = Fail(api.NotConnected, "the session was disconnected")
	} else if err != nil {
		if a.core.State == Starting {
			a.draft(draft{event: &event.Error{Header: a.core.header(""), Message: "the agent was not started: " + FailureOf(err).Message}})
			a.draft(a.core.hold()...) // or it would be tried for ever
			a.occur(onFailed)
		}
		a.logger.Warn("the agent was not started", "err", err)
	} else {
		r := &running{session: session, events: make(chan pumped, pumpBuffer), release: release, close: sync.OnceValue(session.Close), ended: make(chan struct{})}
		a.agent = r
		a.capabilities = new(a.srv.Capabilities(a.provider, session))
		a.quiet = time.Now()
		a.srv.wg.Add(1)
		go a.pump(r)
		a.draft(a.startedDraft(session.ID()))
	}
	_ = a.write() // kept and tried again by tick
	for _, w := range a.waiters {
		w <- err
	}
	a.waiters = nil
	a.sendNext()
}

// startedDraft says that the agent is there, with its id. A fork is done once.
func (a *actor) startedDraft(id string) draft {
	d := a.core.stateDraft(Idle)
	d.facts.AgentID = id
	if a.core.Away {
		d.facts.Away = new(false)
	}
	if p := a.core.Opened.Params; p.ForkSession {
		o := a.core.Opened
		o.Params.ForkSession = false
		d.facts.Opened = &o
	}
	return d
}

// agentOptions is what the agent is started with: what the session was made with, and what
// was changed since.
func (a *actor) agentOptions() agent.Options {
	o, p := a.core.Opened, a.core.Opened.Params
	opts := agent.Options{
		Dir: o.Dir, AdditionalDirectories: p.AdditionalDirectories, Env: a.env, Model: a.core.Model, FallbackModel: p.FallbackModel,
		Mode: a.core.Mode, AllowBypass: a.srv.opts.AllowBypass && (p.AllowDangerouslySkipPermissions || p.DangerouslySkipPermissions),
		Thinking: p.MaxThinkingTokens, SystemPrompt: p.SystemPrompt, AppendSystemPrompt: p.AppendSystemPrompt, AllowedTools: p.AllowedTools,
		DisallowedTools: p.DisallowedTools, SettingSources: p.SettingSources, MaxTurns: p.MaxTurns, MaxBudgetUSD: p.MaxBudgetUSD,
		Partial: p.IncludePartialMessages == nil || *p.IncludePartialMessages, MCPServers: rawJSON(p.MCPServers), Agents: rawJSON(p.Agents),
		Metadata: p.Metadata, Fork: p.ForkSession, Effort: a.core.Effort,
	}
	if a.core.Thinking != nil {
		opts.Thinking = a.core.Thinking.Tokens
	}
	opts.MaxBudgetUSD, a.spending.handed = a.agentBudget(p.MaxBudgetUSD)
	opts.OnUsed = a.tally.add
	if opts.Mode == "bypassPermissions" && !a.srv.opts.AllowBypass {
		opts.Mode = "default" // the server was started again without it
	}
	return opts
}

// sendNext sends the next input if the session can take one, and starts the agent for it.
func (a *actor) sendNext() {
	if a.draining || a.sending || a.blocked != nil || a.core.State.busy() {
		return
	}
	in, ok := a.core.nextInput()
	if !ok || a.core.waitsForReset(a.srv.opts.Now()) {
		return
	}
	switch {
	case a.overBudget() != nil:
		a.watchBudgets()
		a.draft(a.core.hold()...) // or it would be tried for ever
		_ = a.write()             // kept and tried again by tick
	case a.agent != nil && a.agent.reason == "" && a.budgetChanged() && a.evictable():
		a.stop(onEvict) // it is started again with the limits of now
	case a.agent == nil:
		a.start(in.Trace)
	case a.agent.reason == "": // one that is being ended is waited for
		a.sendInput(in)
	}
}

// sendInput hands an input to the agent. It is in the log before the agent has it.
func (a *actor) sendInput(in input) {
	joins := a.core.State.busy() // it becomes a part of the turn that runs
	a.trace.sent(in, a.core.Provider, joins)
	a.draft(a.core.send(in)...)
	a.occur(onSend)
	if a.write() != nil {
		return
	}
	out, err := in.forAgent()
	if err != nil {
		a.sendFailed(in.ID, err)
		return
	}
	a.sending = true
	a.quiet, a.stalled = time.Now(), stallNone
	session, traced := a.agent.session, a.trace.within(a.ctx)
	var looked <-chan struct{}
	if !joins {
		looked = a.beginTurn(in.ID)
	}
	a.srv.wg.Add(1)
	go func() {
		defer a.srv.wg.Done()
		if looked != nil {
			<-looked // it ends with its own bound
		}
		ctx, cancel := context.WithTimeout(traced, a.srv.opts.CallTimeout)
		defer cancel()
		err := session.Send(ctx, out)
		a.post(func() {
			a.sending = false
			if err != nil {
				a.sendFailed(in.ID, err)
			}
			a.sendNext()
		})
	}()
}

// sendFailed says that an input did not reach the agent. It waits for a person then; where
// the agent has ended, its end sorts the input.
func (a *actor) sendFailed(id string, err error) {
	a.logger.Warn("an input was not sent", "input", id, "err", err)
	in, ok := a.core.input(id)
	if !ok || in.Status != inputSent || errors.Is(err, agent.ErrClosed) {
		return
	}
	in.Status = inputUnknown
	if errors.Is(err, agent.ErrInvalid) {
		in.Status = inputHeld
	}
	a.draft(draft{event: &event.Error{Header: a.core.header(""), Message: "an input was not sent: " + FailureOf(err).Message}},
		draft{queue: true, facts: &facts{Inputs: []input{in}}})
	if len(a.core.inflight()) == 0 {
		a.draft(a.core.result()...)
		a.trace.ended("not_sent")
	}
	_ = a.write() // kept and tried again by tick
}

// agentEnded is called when the events of the agent have ended.
func (a *actor) agentEnded(err error) {
	r := a.agent
	a.agent = nil
	defer close(r.ended)
	defer a.trace.ended("agent_ended") // after a result there is no turn to end
	for _, ev := range a.stream.cut() {
		a.draft(draft{event: ev})
	}
	switch {
	case r.reason == onEvict && !a.core.State.busy():
		a.occur(onEvict)
	case r.reason != "" && r.reason != onEvict && r.reason != onDied:
		a.stopped(r.reason)
	default:
		if err != nil {
			a.draft(draft{event: &event.Error{Header: a.core.header(""), Message: "the agent ended: " + err.Error()}})
		}
		a.draft(a.core.died(a.fate)...)
		a.draft(a.core.hold()...)
	}
	a.endTurn()
}

// stopped is the end of an agent that was asked for while the session was in any state.
func (a *actor) stopped(reason occurrence) {
	a.draft(a.core.closeRequests(event.ResolvedExpired)...)
	if reason == onDrain && len(a.core.inflight()) > 0 {
		a.draft(a.core.died(a.fate)...)
		return
	}
	f := &facts{}
	for _, in := range a.core.inflight() {
		f.Removed = append(f.Removed, in.ID)
	}
	if len(f.Removed) > 0 {
		a.draft(draft{queue: true, facts: f})
	}
	a.draft(a.core.hold()...)
	a.occur(reason)
}

// fate asks the agent's files what became of an input.
func (a *actor) fate(in input) agent.Delivery {
	w, ok := a.provider.(agent.Witness)
	if !ok || a.core.AgentID == "" {
		return agent.DeliveryUnknown
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), a.srv.opts.CallTimeout)
	defer cancel()
	d, err := w.Delivered(ctx, a.core.AgentID, in.ID)
	if err != nil {
		a.logger.Warn("the agent's files cannot be read", "err", err)
		return agent.DeliveryUnknown
	}
	return d
}

// stop ends the agent for a reason. It returns at once; the end comes as an event. The
// channel is closed when it has come.
func (a *actor) stop(reason occurrence) <-chan struct{} {
	if a.cancelStart != nil {
		a.cancelStart()
	}
	r := a.agent
	if r == nil {
		ended := make(chan struct{})
		close(ended)
		return ended
	}
	if r.reason == "" {
		r.reason = reason
	}
	a.srv.wg.Add(1)
	go func() {
		defer a.srv.wg.Done()
		if err := r.close(); err != nil {
			a.logger.Warn("the agent was not closed", "err", err)
		}
	}()
	return r.ended
}

// lost ends an actor whose log belongs to another server now.
func (a *actor) lost() {
	a.logger.Error("the session is lost", "err", errLost)
	a.batch = nil
	a.core.State = LostHost
	a.stop(onLost)
	a.srv.updated(a.id, a.core.AgentID, a.summary())
}

// park ends an actor: the agent is closed, what is known is written, and a snapshot makes
// the next load cheap.
func (a *actor) park() {
	a.draining = true
	defer a.trace.stop()
	if a.agent != nil {
		ended := a.stop(onDrain)
		for a.agent != nil {
			select {
			case p := <-a.agent.events:
				a.receive(p)
			case f := <-a.cmds:
				f()
			case <-ended:
			}
		}
	}
	_ = a.write() // if it fails, recovery does the rest
	a.saveDeltas()
	a.snapshot()
	for _, w := range a.waiters {
		w <- Fail(api.Draining, "the server stops")
	}
	a.waiters = nil
}

// tasksRun reports whether the agent works in the background.
func (a *actor) tasksRun() bool {
	return slices.ContainsFunc(a.conv.Tasks, func(t *event.Task) bool { return t.Status == "running" })
}

// evictable reports whether the agent can be ended without loss.
func (a *actor) evictable() bool {
	return a.agent != nil && a.core.State == Idle && !a.sending && !a.tasksRun()
}

// tick does what time asks for.
func (a *actor) tick(now time.Time) {
	if a.blocked != nil && a.core.State != LostHost && a.write() == nil {
		a.sendNext()
	}
	a.watchStall(now)
	a.tellHooks()
	if a.core.Limited != "" {
		a.sendNext()
	}
	a.lookAway(now)
	idle := now.Sub(a.quiet)
	if a.evictable() && (a.srv.opts.IdleTimeout > 0 && idle > a.srv.opts.IdleTimeout || idle > tickInterval && a.srv.agentsWait()) {
		a.stop(onEvict)
	}
	if a.agent == nil && !a.starting && len(a.batch) == 0 && !a.core.waitsForReset(a.srv.opts.Now()) && idle > a.srv.opts.UnloadAfter && a.hub.watching() == 0 {
		a.snapshot() // before another actor may load the session
		a.srv.unload(a)
	}
}

// DrainGrace is how long an interrupted turn has to end when the server stops.
const DrainGrace = 3 * time.Second
