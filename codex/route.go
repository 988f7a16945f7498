package codex

import (
	"slices"

	"github.com/seed7221b0f9/parley/codex/item"
)

const (
	maxHeld    = 1000 // notifications of one thread with an unknown owner
	maxOrphans = 1000 // such threads
	maxBacklog = 1000 // notifications of a thread without a reader
	maxEarly   = 64   // notifications of a turn that another party started
)

// routes holds the state that routes notifications. It changes only inside Client.update.
type routes struct {
	threads map[string]*threadState
	held    map[string][]item.Notification // by the id of an unknown thread
	subs    []*mailbox                     // of Client.Notifications
	asks    map[item.JSON]*ask             // requests being answered
	opened  chan struct{}                  // closed and replaced when a thread is opened
	ended   bool
	endErr  error
}

// threadState is the state of one thread or subagent.
type threadState struct {
	id       string
	handle   *Thread // nil for a subagent
	track    tracker
	origin   *Origin // of a subagent; nil for a thread of the caller
	turns    map[string]*turnCore
	active   *turnCore
	waiting  []*Turn // prompts not yet sent
	sending  bool    // a request that starts a turn is pending
	expected *Turn   // the next turn that the server starts is this one
	subs     []*mailbox
	backlog  []item.Notification
	lost     int // number of dropped backlog entries
}

// Origin is the item that started a subagent, with its thread and turn. ItemID is empty if the
// server did not report it.
type Origin struct {
	ThreadID, TurnID, ItemID string
}

// delivery is an action to run after the state has changed.
type delivery struct {
	box *mailbox
	n   item.Notification
	do  func()
}

func (c *Client) update(f func(r *routes)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.routes)
}

// deliver runs the deliveries. It runs on the dispatching goroutine, in order, and without the
// lock: a slow reader blocks it.
func (c *Client) deliver(list []delivery) {
	for _, d := range list {
		if d.box != nil {
			d.box.push(d.n, c.stop)
		}
		if d.do != nil {
			d.do()
		}
	}
}

// route handles a notification of the server.
func (c *Client) route(n item.Notification) {
	var out []delivery
	c.update(func(r *routes) {
		for _, box := range r.subs {
			out = append(out, delivery{box: box, n: n})
		}
		if res, ok := n.(*item.RequestResolved); ok {
			if a := r.asks[res.RequestID]; a != nil {
				out = append(out, delivery{do: a.resolved})
			}
		}
		out = append(out, r.toThread(item.ThreadOf(n), n)...)
	})
	c.deliver(out)
}

// toThread passes a notification to its thread, or holds it until the thread is known.
func (r *routes) toThread(id string, n item.Notification) []delivery {
	if id == "" {
		return nil
	}
	if started, ok := n.(*item.ThreadStarted); ok && started.Thread.ParentThreadID != "" && r.threads[id] == nil {
		// A link without an item is better than no link; one with an item may follow.
		if r.threads[started.Thread.ParentThreadID] != nil {
			return append(r.link(id, &Origin{ThreadID: started.Thread.ParentThreadID}), r.toThread(id, n)...)
		}
	}
	t := r.threads[id]
	if t == nil {
		r.hold(id, n)
		return nil
	}
	return r.follow(t, n)
}

// hold stores a notification of an unknown thread: one that is being started, or a subagent.
// Notifications that are never claimed belong to another client.
func (r *routes) hold(id string, n item.Notification) {
	if _, ok := r.held[id]; !ok && len(r.held) >= maxOrphans {
		return
	}
	if len(r.held[id]) < maxHeld {
		r.held[id] = append(r.held[id], n)
	}
}

// follow passes a notification to a known thread.
func (r *routes) follow(t *threadState, n item.Notification) (out []delivery) {
	for _, o := range t.track.apply(n) {
		if cut, ok := o.(*item.ItemCut); ok {
			cut.ThreadID = t.id
		}
		if t.origin != nil {
			out = append(out, r.toOwner(t, o)...)
		} else {
			out = append(out, t.show(o)...)
		}
		out = append(out, r.links(t, o)...)
		out = append(out, r.askEnds(o)...)
	}
	return out
}

// toOwner passes a subagent's notification to the readers of its parent thread.
func (r *routes) toOwner(t *threadState, n item.Notification) (out []delivery) {
	turnID := ""
	for depth := 0; t.origin != nil && depth < maxOrphans; depth++ {
		turnID = t.origin.TurnID
		owner := r.threads[t.origin.ThreadID]
		if owner == nil {
			return nil
		}
		t = owner
	}
	if core := t.turns[turnID]; core != nil && !core.over {
		for _, box := range core.boxes {
			out = append(out, delivery{box: box, n: n})
		}
	}
	return append(out, t.toSubs(n, len(out) > 0)...)
}

// links finds the subagents in an item.
func (r *routes) links(t *threadState, n item.Notification) (out []delivery) {
	var i item.Item
	switch n := n.(type) {
	case *item.ItemStarted:
		i = n.Item
	case *item.ItemCompleted:
		i = n.Item
	}
	var ids []string
	switch i := i.(type) {
	case *item.CollabAgentToolCall:
		if i.Tool == "spawnAgent" || i.Tool == "resumeAgent" {
			ids = i.ReceiverThreadIDs
		}
	case *item.SubAgentActivity:
		ids = []string{i.AgentThreadID}
	}
	for _, id := range ids {
		if id != "" && id != t.id {
			out = append(out, r.link(id, &Origin{ThreadID: t.id, TurnID: n.Head().TurnID, ItemID: item.ItemOf(n)})...)
		}
	}
	return out
}

// link makes a thread a subagent and delivers its held notifications.
func (r *routes) link(id string, from *Origin) (out []delivery) {
	t := r.threads[id]
	switch {
	case t == nil:
		t = newThreadState(id)
		t.origin = from
		r.threads[id] = t
	case t.origin != nil && t.origin.ItemID == "":
		t.origin = from
	default:
		return nil // already known, or a thread of the caller
	}
	return r.release(t)
}

// release delivers the held notifications of a thread.
func (r *routes) release(t *threadState) (out []delivery) {
	held := r.held[t.id]
	delete(r.held, t.id)
	for _, n := range held {
		out = append(out, r.follow(t, n)...)
	}
	return out
}

// askEnds ends the callbacks of a turn that has ended.
func (r *routes) askEnds(n item.Notification) (out []delivery) {
	done, ok := n.(*item.TurnCompleted)
	if !ok {
		return nil
	}
	for _, a := range r.asks {
		if a.turnID == done.Turn.ID {
			out = append(out, delivery{do: a.resolved})
		}
	}
	return out
}

func newThreadState(id string) *threadState {
	return &threadState{id: id, turns: map[string]*turnCore{}}
}

// show passes a notification to the turn and the readers of its thread.
func (t *threadState) show(n item.Notification) (out []delivery) {
	core := t.turnOf(n)
	if core != nil {
		core.result.add(n)
		for _, box := range core.boxes {
			out = append(out, delivery{box: box, n: n})
		}
		if !core.own && len(core.early) < maxEarly {
			core.early = append(core.early, n)
		}
	}
	out = append(out, t.toSubs(n, len(out) > 0)...)
	if done, ok := n.(*item.TurnCompleted); ok {
		out = append(out, t.endTurn(core, done)...)
	}
	return out
}

// turnOf returns the turn of a notification, and creates one for a turn that was not started here.
func (t *threadState) turnOf(n item.Notification) *turnCore {
	id := item.TurnOf(n)
	if id == "" {
		return nil
	}
	core := t.turns[id]
	if _, ok := n.(*item.TurnStarted); !ok {
		return core
	}
	if core == nil && t.active != nil && t.active.awaited {
		// A review has another id at its start than in its response [review_inline].
		core = t.active
	}
	if core == nil {
		core = newTurnCore(t.id, id)
		t.turns[id] = core
		if t.expected != nil {
			core.own = true
			t.expected.join(core, false)
			t.expected, t.sending = nil, false
		}
	}
	core.awaited = false
	t.active = core
	return core
}

// toSubs passes a notification to the readers of the thread. Without any reader it is kept for the
// next one.
func (t *threadState) toSubs(n item.Notification, read bool) (out []delivery) {
	for _, box := range t.subs {
		out = append(out, delivery{box: box, n: n})
	}
	if len(t.subs) == 0 && !read {
		if len(t.backlog) >= maxBacklog {
			t.backlog = t.backlog[1:]
			t.lost++
		}
		t.backlog = append(t.backlog, n)
	}
	return out
}

// endTurn ends a turn and sends the next prompt.
func (t *threadState) endTurn(core *turnCore, done *item.TurnCompleted) (out []delivery) {
	if core == nil {
		core = t.turns[done.Turn.ID]
	}
	if core != nil {
		core.over = true
		out = append(out, delivery{do: func() { core.finish(nil) }})
		delete(t.turns, done.Turn.ID)
	}
	if t.active == core {
		t.active = nil
	}
	if t.handle != nil {
		out = append(out, delivery{do: t.handle.pump})
	}
	return out
}

// end ends every thread after the exit of the server.
func (r *routes) end(err error) (out []delivery) {
	r.ended, r.endErr = true, err
	for _, t := range r.threads {
		for _, n := range t.track.end() {
			n.Head().ThreadID = t.id
			if t.origin != nil {
				out = append(out, r.toOwner(t, n)...)
			} else {
				out = append(out, t.show(n)...)
			}
		}
	}
	for _, t := range r.threads {
		for _, core := range t.turns {
			core.over = true
			out = append(out, delivery{do: func() { core.finish(err) }})
		}
		for _, turn := range t.waiting {
			out = append(out, delivery{do: func() { turn.fail(err) }})
		}
		if turn := t.expected; turn != nil {
			out = append(out, delivery{do: func() { turn.fail(err) }})
		}
		t.active, t.waiting, t.expected = nil, nil, nil
		for _, box := range t.subs {
			out = append(out, delivery{do: func() { box.end(err) }})
		}
	}
	for _, box := range r.subs {
		out = append(out, delivery{do: func() { box.end(err) }})
	}
	return out
}

// unsubscribe removes a reader.
func unsubscribe(list *[]*mailbox, box *mailbox) {
	*list = slices.DeleteFunc(*list, func(b *mailbox) bool { return b == box })
}
