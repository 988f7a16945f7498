package claude

import (
	"context"
	"slices"
	"sync"
)

// keptOrphans is how many messages that belong to no turn are kept for the next
// caller of Messages.
const keptOrphans = 1000

// router takes a client's messages to the turns that they belong to and to those
// who range over all of them. The reader calls deliver and finish.
type router struct {
	mu    sync.Mutex
	state routerState
	drain sync.WaitGroup
}

// routerState is what changes in a router, and it changes only inside update.
type routerState struct {
	waiting  []*Turn // sent, not begun, in order
	current  []*Turn // begun, without a result; several when the CLI merged them
	readers  []*mailbox
	orphans  []entry // of no turn, seen by nobody
	lost     int     // orphans that were too many
	draining map[*Turn]bool
	named    bool // the CLI names the prompts that a turn is for
	ended    bool
	err      error
}

func newRouter() *router {
	r := &router{}
	r.state.draining = map[*Turn]bool{}
	return r
}

func (r *router) update(f func(st *routerState)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.state)
}

// deliver takes a message to everybody it is for.
func (r *router) deliver(e entry) (warning string) {
	r.update(func(st *routerState) {
		for _, box := range st.readers {
			box.put(e)
		}
		turns := st.turnsOf(e.msg)
		for _, t := range turns {
			t.box.put(e)
		}
		if len(turns) == 0 && len(st.readers) == 0 {
			warning = st.keep(e)
		}
		st.after(e.msg)
	})
	return warning
}

// keep keeps a message for the next caller of Messages; the first time that one
// has to go for it is worth a warning.
func (st *routerState) keep(e entry) (warning string) {
	if len(st.orphans) == keptOrphans {
		st.orphans = slices.Delete(st.orphans, 0, 1)
		if st.lost++; st.lost == 1 {
			warning = "claude: messages that belong to no turn are being dropped, nobody ranges over Client.Messages"
		}
	}
	st.orphans = append(st.orphans, e)
	return warning
}

// turnsOf are the turns that a message belongs to; it begins turns.
func (st *routerState) turnsOf(m Message) []*Turn {
	switch m := m.(type) {
	case *CommandLifecycleMessage:
		st.named = true
		if t := st.find(m.CommandUUID); t != nil {
			if m.State == CommandStarted {
				st.begin(t)
			}
			return []*Turn{t}
		}
		return nil
	case *InitMessage:
		for _, uuid := range m.UserMessageUUIDs {
			st.named = true
			if t := st.find(uuid); t != nil {
				st.begin(t)
			}
		}
		if len(m.UserMessageUUIDs) == 0 && st.named {
			return nil // a turn that the CLI began by itself
		}
	case *ResultMessage:
		return st.endedBy(m)
	}
	if len(st.current) == 0 && !st.named && opensTurn(m) && len(st.waiting) > 0 {
		st.begin(st.waiting[0]) // a CLI that names nobody answers in order
	}
	return slices.Clone(st.current)
}

// opensTurn reports whether a message shows that a turn is under way. A nil
// message is one that was not decoded: an answer, or a part of one.
func opensTurn(m Message) bool {
	switch m.(type) {
	case nil, *AssistantMessage, *StreamEventMessage, *UserMessage, *InitMessage, *ResultMessage:
		return true
	}
	return false
}

func (st *routerState) find(uuid string) *Turn {
	for _, t := range slices.Concat(st.current, st.waiting) {
		if t.ID == uuid {
			return t
		}
	}
	return nil
}

func (st *routerState) begin(t *Turn) {
	if i := slices.Index(st.waiting, t); i >= 0 {
		st.waiting = slices.Delete(st.waiting, i, i+1)
		st.current = append(st.current, t)
	}
}

// endedBy are the turns whose result this is.
func (st *routerState) endedBy(m *ResultMessage) (turns []*Turn) {
	for _, t := range slices.Concat(st.current, st.waiting) {
		if m.names(t.ID) {
			turns = append(turns, t)
		}
	}
	if turns != nil || m.Origin != nil {
		return turns
	}
	if m.UserMessageUUID != "" || len(m.UserMessageUUIDs) > 0 {
		return nil // somebody else's
	}
	if len(st.current) == 0 && len(st.waiting) > 0 && !st.named {
		return st.waiting[:1:1]
	}
	return slices.Clone(st.current)
}

// after changes the state behind a message: a result ends turns.
func (st *routerState) after(m Message) {
	switch m := m.(type) {
	case *ResultMessage:
		for _, t := range st.endedBy(m) {
			st.end(t, m, nil)
		}
	case *CommandLifecycleMessage:
		if t := st.find(m.CommandUUID); t != nil && m.State == CommandCancelled {
			st.end(t, nil, ErrCancelled)
		}
	}
}

func (st *routerState) end(t *Turn, result *ResultMessage, err error) {
	remove := func(x *Turn) bool { return x == t }
	st.current = slices.DeleteFunc(st.current, remove)
	st.waiting = slices.DeleteFunc(st.waiting, remove)
	if t.over() {
		return
	}
	t.result, t.err = result, err
	t.box.end(err)
	close(t.ended)
}

// finish ends everything that is still open with err.
func (r *router) finish(err error) {
	r.update(func(st *routerState) {
		st.ended, st.err = true, err
		for _, box := range st.readers {
			box.end(err)
		}
		cause := err
		if cause == nil {
			cause = errEnded
		}
		for _, t := range slices.Concat(st.current, st.waiting) {
			st.end(t, nil, cause)
		}
	})
}

// buffered counts the bytes that hold up the reader: those of whoever ranges,
// and of turns that nobody has looked at only while nobody ranges.
func (r *router) buffered() (n int64) {
	r.update(func(st *routerState) {
		boxes := slices.Clone(st.readers)
		for _, t := range st.current {
			if !t.waited.Load() {
				boxes = append(boxes, t.box)
			}
		}
		n = held(boxes)
	})
	return n
}

func held(boxes []*mailbox) int64 {
	var ranged, idle int64
	somebody := false
	for _, b := range boxes {
		if b.ranged.Load() {
			somebody = true
			ranged = max(ranged, b.bytes.Load())
		} else {
			idle = max(idle, b.bytes.Load())
		}
	}
	if somebody {
		return ranged
	}
	return idle
}

func (r *router) open(t *Turn) (err error) {
	r.update(func(st *routerState) {
		if st.ended {
			if err = st.err; err == nil {
				err = errEnded
			}
			return
		}
		st.waiting = append(st.waiting, t)
	})
	return err
}

func (r *router) drop(t *Turn, err error) {
	r.update(func(st *routerState) { st.end(t, nil, err) })
}

func (r *router) running(t *Turn) (yes bool) {
	r.update(func(st *routerState) { yes = slices.Contains(st.current, t) })
	return yes
}

// othersRun reports whether turns are running and t is none of them.
func (r *router) othersRun(t *Turn) (yes bool) {
	r.update(func(st *routerState) { yes = len(st.current) > 0 && !slices.Contains(st.current, t) })
	return yes
}

func (r *router) subscribe(box *mailbox) {
	r.update(func(st *routerState) {
		for _, e := range st.orphans {
			box.put(e)
		}
		st.orphans = nil
		if st.ended {
			box.end(st.err)
			return
		}
		st.readers = append(st.readers, box)
	})
}

func (r *router) unsubscribe(box *mailbox) {
	r.update(func(st *routerState) {
		st.readers = slices.DeleteFunc(st.readers, func(x *mailbox) bool { return x == box })
	})
	box.drop()
}

func (r *router) outcome() (err error) {
	r.update(func(st *routerState) { err = st.err })
	return err
}

// abandon notes that a turn is being drained; false if it has ended.
func (r *router) abandon(t *Turn) (yes bool) {
	r.update(func(st *routerState) {
		if yes = !t.over(); yes {
			st.draining[t] = true
			r.drain.Add(1)
		}
	})
	return yes
}

func (r *router) forget(t *Turn) {
	r.update(func(st *routerState) { delete(st.draining, t) })
	r.drain.Done()
}

// drained waits for the turns that are being drained.
func (r *router) drained(ctx context.Context) error {
	var turns []*Turn
	r.update(func(st *routerState) {
		for t := range st.draining {
			turns = append(turns, t)
		}
	})
	for _, t := range turns {
		select {
		case <-t.ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (r *router) waitDrains() { r.drain.Wait() }
