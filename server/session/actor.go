package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/webhook"
)

// tickInterval is how often an actor looks at its clock.
const tickInterval = 250 * time.Millisecond

// actor owns one session: its log, its conversation and its agent. All fields below the
// line belong to its loop; others come in through call and post.
type actor struct {
	srv      *Sessions
	id       string
	log      Log
	hub      *hub
	provider agent.Provider
	logger   *slog.Logger
	cmds     chan func()
	ctx      context.Context // ends when the actor is to end
	cancel   context.CancelFunc
	done     chan struct{}

	core     core
	conv     event.Conversation
	decoder  event.Decoder
	encoder  *event.Encoder
	stream   stream
	seq, sub uint64

	held     held
	batch    []pending // drafted and not yet written
	blocked  error     // why the batch cannot be written
	missed   bool      // deltas came while it could not
	carry    *facts    // to go with the next record
	unsaved  [][]byte  // deltas to be saved
	firstSub uint64    // of unsaved
	saveAt   time.Time
	snapSeq  uint64 // of the last snapshot
	cached   snapshotCache

	agent *running
	// capabilities are those of the last agent; nil before the first.
	capabilities *api.Capabilities
	starting     bool
	cancelStart  context.CancelFunc
	waiters      []chan error // for the start of the agent
	sending      bool
	draining     bool
	quiet        time.Time // since when nothing happened
	stalled      stallStep
	away         away
	env          []string        // the environment of agents of its tenant
	given        []string        // the environment that the agent was given
	unnoted      []webhook.Event // in the log and not yet in the outbox
	tally        *tally
	spending     spending
	titling      bool
	changes      changes
	trace        *turnTrace
}

// pending is a record that was drafted.
type pending struct {
	rec record
	ev  event.Event // to be folded when the record is written; nil for the first of two messages
}

// call runs f in the loop and returns its error. It fails when the actor has ended, or when
// ctx ends before the loop has taken f. What the loop has taken is waited for: f may write
// to variables of the caller, and the caller has to know what became of it.
func (a *actor) call(ctx context.Context, f func() error) error {
	result := make(chan error, 1)
	select {
	case a.cmds <- func() { result <- f() }:
		return <-result
	case <-a.done:
		return Fail(api.NotConnected, "the session is closed")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// post runs f in the loop, unless the actor has ended. It reports whether f will run.
func (a *actor) post(f func()) bool {
	select {
	case a.cmds <- f:
		return true
	case <-a.done:
		return false
	}
}

// alarm is a timer for a moment. Asking again for the moment that it is set for costs nothing. The
// zero value is ready.
type alarm struct {
	timer *time.Timer
	due   time.Time
}

// at returns a channel that is ready at a moment, once.
func (a *alarm) at(due time.Time) <-chan time.Time {
	switch {
	case a.timer == nil:
		a.timer = time.NewTimer(time.Until(due))
	case a.due != due:
		a.timer.Reset(time.Until(due))
	}
	a.due = due
	return a.timer.C
}

func (a *alarm) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}

// loop runs the actor until its context ends.
func (a *actor) loop() {
	defer close(a.done)
	defer a.hub.close()
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
		if len(a.unsaved) > 0 {
			saving = save.at(a.saveAt)
		}
		if a.held.event != nil && a.blocked == nil {
			showing = show.at(a.held.shown.Add(a.srv.opts.JoinInterval))
		}
		select {
		case f := <-a.cmds:
			f()
		case p := <-events:
			a.receive(p)
		case <-ticker.C:
			a.tick(time.Now())
		case <-a.tally.ready:
			a.countUsed()
			_ = a.write() // kept and tried again by tick
			a.sendNext()
		case <-saving:
			a.saveDeltas()
		case <-showing:
			a.publish(a.release(nil))
		case <-a.ctx.Done():
			a.park()
			return
		}
	}
}

// receive handles an event of the agent with those that wait after it.
func (a *actor) receive(first pumped) {
	a.quiet, a.stalled = time.Now(), stallNone
	var items []Item
	for p, n := first, 0; ; n++ {
		if p.end {
			items = a.release(items)
			a.agentEnded(p.err)
			break
		}
		items = a.take(items, p.event)
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
	_ = a.write() // kept and tried again by tick
	a.sendNext()
}

// maxBatch is how many events go into one write.
const maxBatch = 256

// release lets the delta through that is held.
func (a *actor) release(items []Item) []Item {
	if ev := a.held.take(time.Now()); ev != nil {
		items = a.handle(items, ev)
	}
	return items
}

// take handles one event, after others that it may have to wait for: deltas of one block
// that come soon after each other are handled as one.
func (a *actor) take(items []Item, ev event.Event) []Item {
	if a.held.add(ev, time.Now(), a.srv.opts.JoinInterval) {
		return items
	}
	return a.handle(a.release(items), ev)
}

// handle handles one event. Deltas are added to items; what is durable waits for write.
func (a *actor) handle(items []Item, ev event.Event) []Item {
	a.trace.observe(ev)
	h := ev.Head()
	if id := h.SessionID; id != "" && id != a.core.AgentID {
		a.carrying().AgentID = id
		a.core.AgentID = id
	}
	switch ev := ev.(type) {
	case *event.SessionState: // the server says this itself
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
			if a.write() != nil {
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

// durable drafts an event of the agent with what follows from it.
func (a *actor) durable(ev event.Event) {
	f := &facts{}
	if p, ok := event.NewPrompt(ev); ok {
		f.Asked = &asking{Timestamp(time.Now()), p}
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
	a.draft(draft{event: ev, facts: f})
	a.observeUsage(ev)
	if r, ok := ev.(*event.ResultMessage); ok {
		a.srv.opts.Metrics.Turn(a.core.Provider, r.IsError, time.Duration(r.DurationMS)*time.Millisecond)
		a.draft(a.core.result()...)
		a.draft(a.core.waitForReset(r, a.srv.opts.Now(), random.UUID())...)
		a.titleSoon()
		a.endTurn()
	}
}

// delivered notes that the agent has shown to have an input. The fact goes to the log with
// the next record: until then, the agent's files have to tell.
func (a *actor) delivered(in input) {
	if in.Status == inputDelivered {
		return
	}
	in.Status = inputDelivered
	f := a.carrying()
	f.Inputs = append(f.Inputs, in)
	a.core.applyInputs(&facts{Inputs: []input{in}})
}

func (a *actor) carrying() *facts {
	if a.carry == nil {
		a.carry = &facts{}
	}
	return a.carry
}

// occur drafts a change of state. What the table does not have is a fault of the server:
// it is logged, and the state stays.
func (a *actor) occur(o occurrence) {
	drafts, err := a.core.occur(o)
	if err != nil {
		a.logger.Error("impossible transition", "err", err)
		return
	}
	a.draft(drafts...)
}

// draft converts events to records and applies their facts. They are not shown before
// write has stored them.
func (a *actor) draft(drafts ...draft) {
	now := Timestamp(time.Now())
	for _, d := range drafts {
		if d.queue {
			a.core.applyInputs(orEmpty(d.facts))
			d.event = &event.QueueChanged{Header: a.core.header(""), Items: a.core.queueItems()}
		}
		if h := d.event.Head(); h.Provider == "" {
			h.Provider = a.core.Provider
		}
		if event.ResolvedID(d.event) != "" {
			a.trace.observe(d.event)
		}
		for _, id := range orEmpty(d.facts).Removed {
			a.trace.dropped(id, "removed")
		}
		for i, p := range a.encode(bounded(d.event)) {
			p.rec.Time = now
			if i == 0 {
				p.rec.Facts = merged(a.carry, d.facts)
				a.carry = nil
				a.core.apply(a.seq+uint64(len(a.batch))+1, now, d.facts)
			}
			a.batch = append(a.batch, p)
		}
	}
}

// encode returns the records of an event. The last one folds it; a message that is larger than
// the log takes is replaced by an error.
func (a *actor) encode(ev event.Event) []pending {
	messages, err := a.encoder.Messages(ev)
	if err != nil {
		a.logger.Error("an event cannot be encoded", "type", fmt.Sprintf("%T", ev), "err", err)
		return nil
	}
	all := make([]pending, len(messages))
	for i, data := range messages {
		p := pending{rec: record{Msg: data}}
		if i == len(messages)-1 {
			p.ev = ev
		}
		if len(data) > MaxMessage {
			a.logger.Warn("a message was left out", "type", event.MessageType(data), "bytes", len(data))
			p.ev = tooLarge(*ev.Head(), event.MessageType(data), len(data))
			if p.rec.Msg, err = event.Marshal(p.ev); err != nil {
				a.logger.Error("an error cannot be encoded", "err", err)
				return nil
			}
		}
		all[i] = p
	}
	return all
}

func orEmpty(f *facts) *facts {
	if f == nil {
		return &facts{}
	}
	return f
}

// merged adds carried facts to those of a record, which come later.
func merged(carried, own *facts) *facts {
	if carried == nil {
		if own != nil && own.empty() {
			return nil
		}
		return own
	}
	if own == nil {
		return carried
	}
	both := *own
	set(&both.AgentID, carried.AgentID)
	both.Inputs = append(carried.Inputs, own.Inputs...)
	return &both
}

func (f *facts) empty() bool {
	data, err := json.Marshal(f)
	return err == nil && string(data) == "{}"
}

// commit drafts and writes what a person asked for. If it cannot be stored it did not
// happen.
func (a *actor) commit(drafts ...draft) error {
	if err := a.write(); err != nil {
		return err
	}
	before, carried := a.core.clone(), a.carry
	a.draft(drafts...)
	if err := a.write(); err != nil {
		if a.blocked != nil {
			a.core, a.carry, a.batch, a.blocked = before, carried, nil, nil
		}
		return err
	}
	return nil
}

// errLost ends an actor whose log another server has written to.
var errLost = errors.New("server: another server writes the log of this session")
