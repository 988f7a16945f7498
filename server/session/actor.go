package session

import (
	"cmp"
	"context"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/budget"
)

// tickInterval is the interval at which an actor checks its timers.
const tickInterval = 250 * time.Millisecond

// actor runs one session: it handles the events of its agent and the calls of its clients, and
// decides, with the core, the consequences. Each of its parts owns one state; all belong to its
// loop.
type actor struct {
	*journal
	*life
	terminal *terminal
	spending *spending
	changes  *changes
	titles   *titles
	joiner   joiner
	copying  copying
	adoption
	left *running // the agent that stays with the host
}

// run runs the actor until its context ends.
func (a *actor) run() {
	defer close(a.done)
	defer a.hub.close()
	defer a.shown.close()
	defer a.spending.release()
	ticker := time.NewTicker(tickInterval)
	defer ticker.Stop()
	var save, show alarm
	defer save.stop()
	defer show.stop()
	for {
		var events <-chan pumped
		if a.agent != nil && a.blocked == nil {
			events = a.agent.events
		}
		var saving, showing <-chan time.Time
		if len(a.unsaved.records) > 0 {
			saving = save.at(a.unsaved.due)
		}
		if a.joiner.event != nil && a.blocked == nil {
			showing = show.at(a.joiner.due(a.srv.opts.JoinInterval))
		}
		select {
		case f := <-a.cmds:
			f()
		case p := <-events:
			a.receive(p)
		case <-ticker.C:
			a.tick(time.Now())
		case <-a.spending.tally.ready:
			a.spending.countUsed()
			_ = a.write() // kept and retried by tick
			a.sendNext()
		case <-saving:
			a.flush()
		case <-showing:
			a.publish(a.release(nil))
		case <-a.lostOwnership():
			a.lost()
		case <-a.ctx.Done():
			a.park()
			return
		}
		if a.resumed { // whichever command or event was written first
			a.resumed = false
			a.sendNext()
		}
	}
}

// receive handles an event of the agent with the following queued ones.
func (a *actor) receive(first pumped) {
	a.active()
	var items []Item
	for p, n := first, 0; ; n++ {
		if a.lostLink() {
			a.leaveAgent()
			break
		}
		if p.end {
			items = a.release(items)
			a.agentEnded(p.err)
			break
		}
		items = a.takeBatch(items, p)
		if a.agent == nil || a.blocked != nil || n >= maxBatch {
			break
		}
		select {
		case p = <-a.agent.events:
			continue
		default:
		}
		break
	}
	a.publish(items)
	_ = a.write() // kept and retried by tick
	if a.agent == nil {
		a.remember()
	}
	a.sendNext()
}

// maxBatch is the number of events in one write.
const maxBatch = 256

// release emits the delta that waits to be joined.
func (a *actor) release(items []Item) []Item {
	if ev := a.joiner.take(time.Now()); ev != nil {
		items = a.handle(items, ev)
	}
	return items
}

// flush saves the deltas so far, including those that wait to be joined.
func (a *actor) flush() {
	a.publish(a.release(nil))
	a.saveDeltas()
}

// take handles one event, possibly after a delay: consecutive deltas of one block are handled as
// one.
func (a *actor) take(items []Item, ev event.Event) []Item {
	if a.joiner.add(ev, time.Now(), a.srv.opts.JoinInterval) {
		return items
	}
	return a.handle(a.release(items), ev)
}

// handle handles one event. Deltas are added to items; durable events wait for write.
func (a *actor) handle(items []Item, ev event.Event) []Item {
	a.trace.observe(ev)
	h := ev.Head()
	if id := h.SessionID; id != "" && id != a.core.AgentID {
		a.carrying().AgentID = id
		a.core.AgentID = id
	}
	switch ev := ev.(type) {
	case *event.SessionState: // the server emits this
		return items
	case *event.UserMessage:
		if in, ok := a.core.input(ev.UUID); ok && !in.waits() {
			a.delivered(in)
			return items // it is in the log since it was sent
		}
	}
	if id := event.ResolvedID(ev); id != "" {
		if _, open := a.core.request(id); !open {
			return items // a person's answer was written before it
		}
	}
	if isDelta(ev) {
		if len(a.batch) > 0 {
			a.publish(items)
			items = nil
			if len(a.batch) > a.lineStart && a.line > a.written || a.write() != nil { // all of a line is one write
				a.stream.add(ev) // write shows it when there is room
				a.missed = true
				return nil
			}
		}
		a.stream.add(ev)
		return a.delta(items, ev, true)
	}
	for _, before := range a.stream.durable(ev) {
		a.draft(draft{event: before})
	}
	a.durable(ev)
	return items
}

// durable drafts an event of the agent with its consequences.
func (a *actor) durable(ev event.Event) {
	f := &facts{}
	if p, ok := event.NewPrompt(ev); ok {
		f.Asked = &asking{AskedAt: Timestamp(time.Now()), prompt: p}
		if r, ok := a.core.request(p.RequestID()); ok {
			f.Asked.AskedAt, f.Asked.Again = r.AskedAt, true
		}
		a.draft(draft{event: ev, facts: f})
		a.occur(onAsk)
		return
	}
	if id := event.ResolvedID(ev); id != "" {
		f.Resolved = id
		a.draft(draft{event: ev, facts: f})
		if len(a.core.Requests) == 0 {
			a.occur(onAnswered)
		}
		return
	}
	switch ev := ev.(type) {
	case *event.SystemInit:
		f.Model, f.Mode = new(ev.Model), ev.PermissionMode
	case *event.RateLimit:
		f.Limited = rateLimited(ev)
	}
	if r, ok := ev.(*event.ResultMessage); ok {
		ev = a.core.Waits.in(r, Timestamp(time.Now()))
	}
	a.spending.countUsed() // and report the consequences before the event, which may end the turn
	a.draft(draft{event: ev, facts: f})
	a.spending.observe(ev)
	if r, ok := ev.(*event.ResultMessage); ok {
		a.srv.opts.Metrics.Turn(a.core.Provider, r.IsError, time.Duration(r.DurationMS)*time.Millisecond)
		a.noteKept()
		a.draft(a.core.result()...)
		a.draft(a.core.waitForReset(r, a.srv.opts.Now(), random.UUID())...)
		a.titles.titleSoon()
		a.changes.endTurn()
		a.mirrorTurn()
	}
}

// park ends an actor: the agent is closed, the state is written, and a snapshot makes the next load
// cheap.
func (a *actor) park() {
	a.draining = true
	defer a.trace.stop()
	if a.left != nil {
		a.answerWaiters(Fail(api.Draining, "the server stops"))
		return
	}
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
	if a.lostOwner.Load() {
		a.answerWaiters(errNotOwner())
		return
	}
	_ = a.write() // if it fails, recovery does the rest
	a.mirrorRest()
	a.flush()
	a.snapshot()
	a.remember()
	a.answerWaiters(Fail(api.Draining, "the server stops"))
}

// tick performs the timed actions.
func (a *actor) tick(now time.Time) {
	if a.blocked != nil && a.core.State != LostHost {
		_ = a.write() // kept and retried by the next tick
	}
	if a.unsent {
		a.unsent = false
		a.sendNext()
	}
	a.watchStall(now)
	a.watchLoss()
	a.watchKept()
	a.watchMirror(now)
	a.watchGone()
	a.notes.tell()
	if a.core.Limited != "" {
		a.sendNext()
	}
	a.terminal.look(now)
	idle := now.Sub(a.quiet)
	if a.evictable() && (a.srv.opts.IdleTimeout > 0 && idle > a.srv.opts.IdleTimeout || idle > tickInterval && a.srv.agentsWait()) {
		a.stop(onEvict)
	}
	if idle > a.srv.opts.UnloadAfter {
		a.unload()
	}
}

// unload ends the actor if nothing needs it in memory.
func (a *actor) unload() {
	if !a.lostOwner.Load() && a.agent == nil && !a.starting && a.copying.done == nil && !(a.away && a.machine() == "") && len(a.batch) == 0 && !a.core.waitsForReset(a.srv.opts.Now()) && a.spending.reserved != budget.Wait && a.hub.watching() == 0 {
		a.snapshot() // before another actor may load the session
		a.remember()
		a.srv.unload(a)
	}
}

// DrainGrace is the time that an interrupted turn has to end when the server stops.
const DrainGrace = 3 * time.Second

// owned returns an error if the session cannot be changed here.
func (a *actor) owned() error {
	if a.core.State == LostHost {
		return Fail(api.NotOwner, "another server owns the session")
	}
	if a.draining {
		return Fail(api.Draining, "the server is stopping")
	}
	if a.unopened() {
		return Conflict("the first events of this session are lost: its log was damaged")
	}
	if a.terminal.live != nil && a.agent == nil {
		return openElsewhere(a.terminal.live)
	}
	return nil
}

// ensure waits until the agent is running, and starts it if necessary. It waits for an agent that
// is being ended and starts it again.
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
			if err := cmp.Or(a.owned(), a.linked()); err != nil {
				return err
			}
			if err := a.srv.Working(); err != nil {
				return err
			}
			a.waiters = append(a.waiters, wait)
			if a.start(a.trace.ToText(ctx)); !a.starting { // the log cannot be written
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
			return a.closed()
		}
	}
}

// drain ends the session's work before the server stops. It does not wait for a turn that waits for
// a person.
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

// settled waits until no turn is running and reports whether that happened before the end of ctx.
func (a *actor) settled(ctx context.Context) bool {
	for {
		changed := a.hub.next()
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

// recovered repairs the state of a session after a load: earlier agents have ended.
func (a *actor) recovered() {
	// A message that was being streamed when the server died is in the log with its start.
	a.stream.open = a.openMessages()
	for _, ev := range a.stream.cut() {
		a.draft(draft{event: ev})
	}
	switch {
	case a.core.State.busy() || len(a.core.inflight()) > 0: // also if the server died during a drain
		a.draft(a.core.died(a.fate)...)
	case a.core.State != LostHost:
		a.draft(a.core.closeRequests(event.ResolvedExpired)...)
		a.occur(onRecovered)
	}
	a.draft(a.core.hold()...)
	_ = a.write() // kept and retried by tick
}

// summary returns the session for lists.
func (a *actor) summary() api.SessionSummary {
	c := &a.core
	return api.SessionSummary{
		SessionID: a.id, Title: c.title(), State: string(c.State), Model: c.Model, CWD: c.Opened.Dir, Workspace: c.Opened.Params.WorkspaceID, PermissionMode: c.Mode, Provider: c.Provider,
		Seq: a.seq, Viewers: int64(a.hub.watching()), Queued: int64(len(c.queue())), Prompts: int64(len(c.Requests)), UpdatedAt: c.Updated,
		Archived: c.Archived, Live: a.terminal.liveName(), AgentSessionID: c.AgentID, Effort: c.Effort, Metadata: c.Opened.Params.Metadata,
		Turns: a.conv.Totals.Turns, CostUSD: a.conv.Totals.CostUSD, Capabilities: a.capabilities, LimitedUntil: c.limitedUntil(a.srv.opts.Now()), Box: a.box(),
		Machine: a.machine(),
	}
}

// end ends the agent and waits for it. While the log cannot be written, the agent's last events wait for room, and end returns the reason.
func (a *actor) end(ctx context.Context) error {
	var ended <-chan struct{}
	err := a.call(ctx, func() error {
		ended = a.stop(onEnd)
		if a.agent == nil && a.core.State != Ended {
			drafts := a.core.hold()
			more, err := a.core.occur(onEnd)
			if err != nil {
				return err
			}
			return a.commit(append(drafts, more...)...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	blocked := func() error { return a.call(ctx, func() error { return a.blocked }) }
	look := time.NewTicker(tickInterval)
	defer look.Stop()
	for {
		select {
		case <-ended:
			return blocked() // the consequences of the end are written
		case <-look.C:
			if err := blocked(); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
