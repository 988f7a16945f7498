package claude

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/seed7221b0f9/parley/claude/message"
)

// keptOrphans is how many messages that belong to no turn are kept for the next
// caller of Messages.
const keptOrphans = 1000

// router takes a client's messages to the turns that they belong to and to those
// who range over all of them. The reader calls deliver and finish.
type router struct {
	changed func()      // called when the CLI is through with a turn
	closed  func() bool // whether the user of the session has ended it; nil is not known
	onStall func(*Turn) // called with a turn that was given up

	mu    sync.Mutex
	state routerState
	drain sync.WaitGroup
}

// routerState is what changes in a router, and it changes only inside update.
type routerState struct {
	waiting  []*Turn // sent, not begun, in order
	current  []*Turn // begun, without a result; several when the CLI merged them
	past     pastIDs // what belongs to turns that are over
	readers  []*lineQueue
	orphans  []entry // of no turn, and not returned yet
	lost     int     // orphans that were too many
	draining map[*Turn]bool
	named    bool                   // the CLI names the prompts that a turn is for
	limit    *message.RateLimitInfo // the last one of the stream
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
	left := false
	r.update(func(st *routerState) {
		if m, ok := e.msg.(*message.SessionStateChanged); !ok || !m.SDKHostOnly {
			warning = st.distribute(e)
		}
		before := len(st.current) + len(st.waiting)
		st.after(e.msg)
		left = len(st.current)+len(st.waiting) < before
	})
	if left {
		r.tell()
	}
	return warning
}

// tell says that the CLI is through with a turn.
func (r *router) tell() {
	if r.changed != nil {
		r.changed()
	}
}

// distribute gives a message to those who range and to its turns.
func (st *routerState) distribute(e entry) (warning string) {
	for _, box := range st.readers {
		box.put(e)
	}
	turns := st.turnsOf(e)
	for _, t := range turns {
		if !t.over() {
			t.box.put(e)
		}
	}
	if len(turns) == 0 && len(st.readers) == 0 {
		warning = st.keep(e)
	}
	return warning
}

// keep keeps a message for the next caller of Messages; the first time that one
// has to go for it is worth a warning.
func (st *routerState) keep(e entry) (warning string) {
	if len(st.orphans) == keptOrphans {
		st.orphans = slices.Delete(st.orphans, 0, 1)
		if st.lost++; st.lost == 1 {
			warning = "claude: messages that belong to no turn are being dropped, because no caller ranges over Client.Messages"
		}
	}
	st.orphans = append(st.orphans, e)
	return warning
}

// turnsOf are the turns that a message belongs to; it begins turns.
func (st *routerState) turnsOf(e entry) []*Turn {
	switch m := e.msg.(type) {
	case *message.CommandLifecycle:
		st.named = true
		if t := st.find(m.CommandUUID); t != nil {
			st.command(t, m.State)
			return []*Turn{t}
		}
		return nil
	case *message.Init:
		st.settle()
		var turns []*Turn
		for _, uuid := range m.UserMessageUUIDs {
			st.named = true
			if t := st.find(uuid); t != nil {
				st.begin(t)
				turns = append(turns, t)
			}
		}
		merge(turns)
		if len(m.UserMessageUUIDs) == 0 && st.named {
			return nil // a turn that the CLI began by itself
		}
	case *message.Result:
		return st.endedBy(m)
	}
	if st.past.has(e) {
		return nil
	}
	if len(st.current) == 0 && !st.named && opensTurn(e.msg) && len(st.waiting) > 0 {
		st.begin(st.waiting[0]) // a CLI that names no prompts answers in order
	}
	return slices.Clone(st.current)
}

// opensTurn reports whether a message shows that a turn is under way. A nil
// message is one that was not decoded: an answer, or a part of one.
func opensTurn(m message.Message) bool {
	switch m.(type) {
	case nil, *message.Assistant, *message.StreamEvent, *message.User, *message.Init, *message.Result:
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

// merge notes that the CLI answers several prompts as one, the first of them.
func merge(turns []*Turn) {
	for i, t := range turns {
		if i > 0 && t.mergedInto == "" {
			t.mergedInto = turns[0].ID
		}
	}
}

func (st *routerState) begin(t *Turn) {
	if i := slices.Index(st.waiting, t); i >= 0 {
		st.waiting = slices.Delete(st.waiting, i, i+1)
		st.current = append(st.current, t)
		t.state = message.CommandStarted
	}
}

// command notes what the CLI says of a prompt. One that was taken into a turn
// which was then interrupted may go back into the queue.
func (st *routerState) command(t *Turn, state message.CommandState) {
	if state == message.CommandStarted {
		st.begin(t)
	}
	if i := slices.Index(st.current, t); i >= 0 && state == message.CommandQueued {
		st.current = slices.Delete(st.current, i, i+1)
		st.waiting = slices.Insert(st.waiting, 0, t)
	}
	t.state = state
}

// settle ends the turns that the CLI is through with and that got no result.
func (st *routerState) settle() {
	for _, t := range slices.Concat(st.current, st.waiting) {
		switch t.state {
		case message.CommandCompleted:
			st.end(t, nil, ErrNoResult)
		case message.CommandCancelled:
			st.end(t, nil, ErrCancelled)
		}
	}
}

// endedBy are the turns whose result this is.
func (st *routerState) endedBy(m *message.Result) (turns []*Turn) {
	for _, t := range slices.Concat(st.current, st.waiting) {
		if namesPrompt(m, t.ID) {
			turns = append(turns, t)
		}
	}
	if turns != nil || m.Origin != nil {
		return turns
	}
	if m.UserMessageUUID != "" || len(m.UserMessageUUIDs) > 0 {
		return nil // of another client
	}
	if len(st.current) == 0 && len(st.waiting) > 0 && !st.named {
		return st.waiting[:1:1]
	}
	return slices.Clone(st.current)
}

// after changes the state after a message: a result ends turns.
func (st *routerState) after(m message.Message) {
	switch m := m.(type) {
	case *message.Result:
		turns := st.endedBy(m)
		merge(turns)
		for _, t := range turns {
			t.state = message.CommandCompleted
			if interrupted(m) {
				t.state = message.CommandCancelled // as the CLI says after the result
			}
			st.end(t, m, resultError(m, st.limit))
		}
		if len(turns) > 0 && m.IsError {
			st.past.turns(turns)
		}
		st.past.turnEnded()
	case *message.CommandLifecycle:
		if t := st.find(m.CommandUUID); t != nil && m.State == message.CommandCancelled && slices.Contains(st.waiting, t) {
			st.end(t, nil, ErrCancelled)
		}
	case *message.SessionStateChanged:
		if m.State == message.StateIdle {
			st.settle()
		}
	case *message.RateLimitEvent:
		st.limit = &m.RateLimitInfo
	}
}

// end ends a turn that the CLI is through with.
func (st *routerState) end(t *Turn, result *message.Result, err error) {
	remove := func(x *Turn) bool { return x == t }
	st.current = slices.DeleteFunc(st.current, remove)
	st.waiting = slices.DeleteFunc(st.waiting, remove)
	t.finish(result, err)
	select {
	case <-t.left:
	default:
		close(t.left)
	}
}

// finish ends everything that is still open with err. A turn that is open when the CLI ends well
// by itself has no result.
func (r *router) finish(err error) {
	cause := cmp.Or(err, errEnded)
	if err == nil && r.closed != nil && !r.closed() {
		cause = ErrNoResult
	}
	r.update(func(st *routerState) {
		st.ended, st.err = true, err
		for _, box := range st.readers {
			box.end(err)
		}
		for _, t := range slices.Concat(st.current, st.waiting) {
			st.end(t, nil, cause)
		}
	})
}

// buffered counts the bytes that hold up the reader: those of the callers that range, and those
// of unread turns only while no caller ranges.
func (r *router) buffered() (n int64) {
	r.update(func(st *routerState) {
		boxes := slices.Clone(st.readers)
		for _, t := range st.current {
			if !t.waited.Load() && !t.over() {
				boxes = append(boxes, t.box)
			}
		}
		n = held(boxes)
	})
	return n
}

func held(boxes []*lineQueue) int64 {
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
	r.tell()
}

// cancelled ends the turns of prompts that the CLI has taken out of its queue.
// One that has begun ends with its result.
func (r *router) cancelled(uuids []string) {
	r.update(func(st *routerState) {
		for _, t := range slices.Clone(st.waiting) {
			if slices.Contains(uuids, t.ID) {
				t.state = message.CommandCancelled
				st.end(t, nil, ErrCancelled)
			}
		}
	})
	if len(uuids) > 0 {
		r.tell()
	}
}

// unfinished counts the turns that the CLI is not through with.
func (r *router) unfinished() (n int) {
	r.update(func(st *routerState) { n = len(st.current) + len(st.waiting) })
	return n
}

// queued counts the turns that have not begun.
func (r *router) queued() (n int) {
	r.update(func(st *routerState) { n = len(st.waiting) })
	return n
}

// awaited reports whether there are turns that have not ended.
func (r *router) awaited() (yes bool) {
	r.update(func(st *routerState) {
		yes = slices.ContainsFunc(slices.Concat(st.current, st.waiting), func(t *Turn) bool { return !t.over() })
	})
	return yes
}

// stalled gives up the turns that run, or else the one that should. They stay
// where they are until the CLI is through with them: what still comes of them
// must not be taken for another's.
func (r *router) stalled(err *StalledError) {
	var turns []*Turn
	r.update(func(st *routerState) {
		turns = slices.DeleteFunc(slices.Clone(st.current), (*Turn).over)
		if len(turns) == 0 && len(st.current) == 0 && len(st.waiting) > 0 && !st.waiting[0].over() {
			turns = []*Turn{st.waiting[0]}
		}
		for _, t := range turns {
			t.finish(nil, err)
		}
	})
	for _, t := range turns {
		r.onStall(t)
	}
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

func (r *router) subscribe(box *lineQueue) {
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

func (r *router) unsubscribe(box *lineQueue) {
	r.update(func(st *routerState) {
		st.readers = slices.DeleteFunc(st.readers, func(x *lineQueue) bool { return x == box })
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
		if yes = !t.gone() && !st.draining[t]; yes {
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
		case <-t.left:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (r *router) waitDrains() { r.drain.Wait() }

// namesPrompt reports whether the result answers the prompt with the given uuid.
func namesPrompt(m *message.Result, uuid string) bool {
	return m.UserMessageUUID == uuid || slices.Contains(m.UserMessageUUIDs, uuid)
}
