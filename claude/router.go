package claude

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/seed7221b0f9/parley/claude/message"
)

// keptOrphans is the maximum number of messages outside of turns that are kept for the next
// caller of Messages.
const keptOrphans = 1000

// router delivers a client's messages to their turns and to the callers that range over all
// messages. The reader calls deliver and finish.
type router struct {
	changed func()      // called when the CLI has finished a turn
	closed  func() bool // reports whether the caller has closed the session; nil if unknown
	onStall func(*Turn) // called with an abandoned turn

	mu    sync.Mutex
	state routerState
	drain sync.WaitGroup
}

// routerState is the mutable state of a router. It changes only inside update.
type routerState struct {
	waiting  []*Turn // sent, not begun, in order
	current  []*Turn // begun, without a result; several if the CLI merged them
	past     pastIDs // ids of past turns
	readers  []*lineQueue
	orphans  []entry // messages of no turn that were not returned yet
	lost     int     // number of dropped orphans
	draining map[*Turn]bool
	named    bool                   // the CLI names the prompts of a turn
	limit    *message.RateLimitInfo // the last one in the stream
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

// deliver delivers a message to all its receivers.
func (r *router) deliver(e entry) (warning string) {
	left := false
	r.update(func(st *routerState) {
		if m, ok := e.msg().(*message.SessionStateChanged); !ok || !m.SDKHostOnly {
			warning = st.distribute(e)
		}
		before := len(st.current) + len(st.waiting)
		st.after(e.msg())
		left = len(st.current)+len(st.waiting) < before
	})
	if left {
		r.tell()
	}
	return warning
}

// tell reports that the CLI has finished a turn.
func (r *router) tell() {
	if r.changed != nil {
		r.changed()
	}
}

// distribute delivers a message to ranging callers and to its turns.
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

// keep keeps a message for the next caller of Messages. It returns a warning the first time that
// it drops a message.
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

// turnsOf returns the turns that a message belongs to; it also begins turns.
func (st *routerState) turnsOf(e entry) []*Turn {
	switch m := e.msg().(type) {
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
	if len(st.current) == 0 && !st.named && opensTurn(e.msg()) && len(st.waiting) > 0 {
		st.begin(st.waiting[0]) // a CLI that never names prompts answers in order
	}
	return slices.Clone(st.current)
}

// opensTurn reports whether a message shows that a turn is running. A nil message means an
// undecoded answer, or a part of one.
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

// merge records that the CLI answers several prompts as one turn, that of the first.
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

// command processes the CLI's report about a prompt. A prompt of an interrupted turn may return
// to the queue.
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

// settle ends the turns that the CLI has finished without a result.
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

// endedBy returns the turns that this result ends.
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

// after updates the state after a message: a result ends turns.
func (st *routerState) after(m message.Message) {
	switch m := m.(type) {
	case *message.Result:
		turns := st.endedBy(m)
		merge(turns)
		for _, t := range turns {
			t.state = message.CommandCompleted
			if interrupted(m) {
				t.state = message.CommandCancelled // as the CLI reports after the result
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

// end ends a turn that the CLI has finished.
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

// finish ends all open turns and ranges with err. A turn that is open when the CLI exits with
// success ends with ErrNoResult.
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

// buffered counts the bytes that can block the reader: those of ranging callers, and those of
// unread turns only while no caller ranges.
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
			ranged = max(ranged, b.size())
		} else {
			idle = max(idle, b.size())
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

// cancelled ends the turns of prompts that the CLI has removed from its queue. A turn that has
// begun ends with its result.
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

// unfinished counts the turns that the CLI has not finished.
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

// stalled ends the running turns, or else the next one, with an error. They keep their place
// until the CLI has finished them, so that their later messages do not go to another turn.
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

// othersRun reports whether turns other than t are running.
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

// tap passes a line that is not a message to the readers of all lines.
func (r *router) tap(e entry) {
	r.update(func(st *routerState) {
		for _, box := range st.readers {
			if box.whole {
				box.put(e)
			}
		}
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

// abandon marks a turn as being drained. It returns false if the turn has ended.
func (r *router) abandon(t *Turn) (yes bool) {
	r.update(func(st *routerState) {
		if yes = !t.finished() && !st.draining[t]; yes {
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
