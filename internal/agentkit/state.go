package agentkit

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

// maxOpen is the maximum number of open requests. Further requests cannot be answered.
const maxOpen = 1000

// Prompt is a request of the agent that a person has to answer.
type Prompt struct {
	ID        string
	Kind      string // of the event
	ToolUseID string

	ctx       context.Context // ends when the agent withdraws it; nil for never
	handle    Handler         // nil accepts each answer of the right kind
	release   func() bool     // stops watching ctx, if any
	answered  bool
	answer    chan agent.Answer // gets the answer
	withdrawn chan struct{}     // closed when it is withdrawn
}

// Handler gives an answer to the agent and returns the events of the answer. If it fails, the request
// stays open.
type Handler func(ctx context.Context, r *Prompt, a agent.Answer) ([]event.Event, error)

// state implements the decisions about the events, the requests and the end of a session. It never blocks
// and takes no lock.
type state struct {
	limit   int
	queue   []queued // the oldest first
	open    map[string]*Prompt
	asked   map[string]unresolved  // requests without a resolving event so far; may be nil
	past    map[string]event.Event // unresolved requests of an earlier process; may be nil
	line    uint64                 // the line whose events are being added
	held    int                    // senders that the reader of the agent waits for
	used    bool                   // the events have a consumer
	stopped bool                   // by Stop
	over    bool                   // by End; no event follows
	err     error
}

// unresolved is a request without an event that resolves it.
type unresolved struct {
	header    event.Header
	toolUseID string
	question  bool
}

// queued is an event in the queue, or without an event the end of a line.
type queued struct {
	event event.Event
	line  uint64 // 0 if it comes from no line
}

// alive returns agent.ErrClosed after Stop or End.
func (st *state) alive() error {
	if st.stopped || st.over {
		return agent.ErrClosed
	}
	return nil
}

// ready reports whether the reader of the agent may continue: there is room and no prompt is being sent,
// or the session ends.
func (st *state) ready() bool {
	return st.held == 0 && len(st.queue) <= st.limit || st.alive() != nil
}

// push queues events. Events that ask a person open a request; events that resolve one close it.
func (st *state) push(events []event.Event, observe func(event.Event)) {
	if st.over {
		return
	}
	for _, ev := range events {
		if st.repeats(ev) {
			continue
		}
		if observe != nil {
			observe(ev)
		}
		if r := asked(ev); r != nil {
			st.add(r)
		}
		st.close(event.ResolvedID(ev))
		delete(st.past, event.ResolvedID(ev))
		st.queue = append(st.queue, queued{ev, st.line})
	}
}

// pushPast queues events of an earlier process; their requests are asked again.
func (st *state) pushPast(events []event.Event, observe func(event.Event)) {
	for _, ev := range events {
		if st.repeats(ev) {
			continue
		}
		if observe != nil {
			observe(ev)
		}
		st.queue = append(st.queue, queued{ev, st.line})
		st.keepPast(ev)
	}
}

// keepPast keeps the event of a request until it is resolved.
func (st *state) keepPast(ev event.Event) {
	if r := asked(ev); r != nil && len(st.past) < maxOpen {
		if st.past == nil {
			st.past = map[string]event.Event{}
		}
		st.past[r.ID] = ev
	}
	delete(st.past, event.ResolvedID(ev))
}

// endLine marks the end of a line. Consecutive lines without events share one mark.
func (st *state) endLine(line uint64) {
	if n := len(st.queue); n > 0 && st.queue[n-1].event == nil && (n == 1 || st.queue[n-2].line != st.queue[n-1].line) {
		st.queue[n-1].line = line
		return
	}
	st.queue = append(st.queue, queued{line: line})
}

// add opens a request, unless it is open already or the limit is reached.
func (st *state) add(r *Prompt) {
	if old := st.open[r.ID]; len(st.open) < maxOpen && old == nil || old != nil && old.answered {
		r.answer, r.withdrawn = make(chan agent.Answer, 1), make(chan struct{})
		st.open[r.ID] = r
	}
}

// close removes a request.
func (st *state) close(id string) {
	if r := st.open[id]; r != nil {
		delete(st.open, id)
		if r.release != nil {
			r.release()
		}
	}
}

// pop returns the oldest event.
func (st *state) pop() (event.Event, bool) {
	for len(st.queue) > 0 {
		if q := st.popQueued(); q.event != nil {
			return q.event, true
		}
	}
	return nil, false
}

func (st *state) popQueued() queued {
	q := st.queue[0]
	st.queue[0] = queued{}
	st.queue = st.queue[1:]
	return q
}

// popBatch returns the events of the oldest line, or those before it that come from none.
func (st *state) popBatch() (b agent.Batch, ok bool) {
	if len(st.queue) == 0 {
		return b, false
	}
	b.Line = st.queue[0].line
	for len(st.queue) > 0 && st.queue[0].line == b.Line {
		q := st.popQueued()
		if q.event == nil {
			break
		}
		b.Events = append(b.Events, q.event)
	}
	return b, true
}

// request returns the open request for an answer.
func (st *state) request(id string, a agent.Answer) (*Prompt, error) {
	r := st.open[id]
	switch {
	case st.alive() != nil:
		return nil, agent.ErrClosed
	case r == nil || r.answered || r.expired():
		return nil, fmt.Errorf("%w: %s", agent.ErrNotOpen, id)
	case !fits(r.Kind, a):
		return nil, fmt.Errorf("%w: a %T does not answer a request of the kind %s", agent.ErrInvalid, a, r.Kind)
	}
	return r, nil
}

// expired reports whether the agent has withdrawn the request.
func (r *Prompt) expired() bool { return r.ctx != nil && r.ctx.Err() != nil }

// settle records the answer to a request.
func (r *Prompt) settle(a agent.Answer) {
	r.answered = true
	r.answer <- a
}

// withdraw closes the requests that match and have no answer, and returns them in the order of their ids.
func (st *state) withdraw(match func(*Prompt) bool) []*Prompt {
	if len(st.open) == 0 {
		return nil
	}
	var list []*Prompt
	for _, id := range slices.Sorted(maps.Keys(st.open)) {
		if r := st.open[id]; !r.answered && match(r) {
			st.close(id)
			close(r.withdrawn)
			list = append(list, r)
		}
	}
	return list
}

// stop begins the end of the session with err, once.
func (st *state) stop(err error) bool {
	if st.alive() != nil {
		return false
	}
	st.stopped, st.err = true, err
	return true
}

// end ends the events, once. The error of stop counts before err.
func (st *state) end(err error) bool {
	if st.over {
		return false
	}
	if st.over = true; !st.stopped {
		st.err = err
	}
	return true
}

// asked returns the request in an event that asks a person, or nil.
func asked(ev event.Event) *Prompt {
	switch ev := ev.(type) {
	case *event.PermissionRequest:
		return &Prompt{ID: ev.RequestID, Kind: ev.Kind, ToolUseID: ev.ToolUseID}
	case *event.QuestionRequest:
		return &Prompt{ID: ev.RequestID, Kind: ev.Kind, ToolUseID: ev.ToolUseID}
	}
	return nil
}

// fits reports whether an answer has the kind of a request.
func fits(kind string, a agent.Answer) bool {
	switch a.(type) {
	case *agent.PermissionAnswer:
		return kind == event.PermissionTool || kind == event.PermissionProfile
	case *agent.PlanAnswer:
		return kind == event.PermissionPlan
	case *agent.QuestionAnswer:
		return kind == event.QuestionAsk
	case *agent.ElicitationAnswer:
		return kind == event.QuestionElicitation
	}
	return false
}
