package editor

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// joins reports whether sessions run elsewhere, so that others can use them too.
func (s *server) joins() bool {
	p, ok := s.opts.Provider.(interface{ Joins() bool })
	return ok && p.Joins()
}

// join opens a view of a session that runs elsewhere and may be in the middle of a turn. The replay ends at the
// first event of the view, so that a running answer is shown once. A session in which this client already waits
// for an answer stays open as it is.
func (s *server) join(ctx context.Context, resumer agent.Resumer, r *sessionRequest, o agent.Options, replay bool) (*session, error) {
	if one := s.session(r.id); one != nil {
		if one.waits() || !replay {
			return one, nil
		}
		s.end(r.id)
	}
	live, err := resumer.Resume(ctx, r.id, o)
	if err != nil {
		return nil, missing(r.id, err)
	}
	m := &Mapper{Session: r.id, Dir: o.Dir, Features: s.features(), Replay: true}
	if joined, ok := live.(agent.Joined); ok && joined.Past() != nil {
		for ev := range joined.Past().Events() {
			for _, u := range m.Event(ev) {
				if err := s.updateIf(ctx, replay, r.id, u); err != nil {
					return nil, errors.Join(err, live.Close())
				}
			}
		}
	}
	for _, u := range m.live() {
		if err := s.updateIf(ctx, replay, r.id, u); err != nil {
			return nil, errors.Join(err, live.Close())
		}
	}
	return s.addMapped(r.id, live, o, m)
}

// updateIf sends the update if it belongs to a replay.
func (s *server) updateIf(ctx context.Context, replay bool, id string, u Update) error {
	if !replay {
		return nil
	}
	return s.update(ctx, cmp.Or(u.Subagent, id), u.SessionUpdate)
}

// live ends the replay: later events continue it. Calls without an end are running.
func (m *Mapper) live() []Update {
	m.Replay, m.out = false, m.out[:0]
	for _, id := range m.order {
		m.running(m.tools[id])
	}
	return m.out
}

// waits reports whether a prompt of this client is unanswered.
func (s *session) waits() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue) > 0
}

// abandoned reports whether the client has disconnected and the session continues elsewhere.
func (s *session) abandoned() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shared.on && s.srv.conn.Err() != nil
}

// shared is the state of a session that other clients also use.
type shared struct {
	on   bool
	busy bool            // a turn of any client is running
	mine map[string]bool // prompts of this client that have no event yet
}

// sent records a prompt of this client, which the client itself displays. The caller holds the lock.
func (s *shared) sent(uuid string) {
	if !s.on {
		return
	}
	if s.mine == nil {
		s.mine = map[string]bool{}
	}
	s.mine[uuid] = true
}

// event records an event. It reports whether the event is a prompt of another client.
func (s *shared) event(ev event.Event) (foreign bool) {
	switch ev := ev.(type) {
	case *event.TurnStart:
		s.busy = true
	case *event.ResultMessage:
		s.busy = false
	case *event.SessionState:
		s.busy = ev.State == "running" || ev.State == "requires_action"
	case *event.UserMessage:
		if !s.on || s.mine[ev.UUID] {
			delete(s.mine, ev.UUID)
			return false
		}
		return true
	}
	return false
}

// startedBy records the prompt of the turn that an event begins. The caller holds the lock.
func (s *session) startedBy(ev event.Event) {
	var id string
	switch ev := ev.(type) {
	case *event.TurnStart:
		id = ev.PromptID
	case *event.UserMessage:
		id = ev.UUID
	}
	for _, p := range s.queue {
		p.begun = p.begun || id != "" && p.uuid == id
	}
}

// stateChanged ends prompts that can get no answer: the agent exited in their turn, or another client
// removed them from the queue.
func (s *session) stateChanged(ev event.Event) {
	s.mu.Lock()
	if !s.shared.on {
		s.mu.Unlock()
		return
	}
	var over []*prompt
	var o outcome
	switch ev := ev.(type) {
	case *event.SessionState:
		if slices.Contains([]string{"interrupted", "failed", "ended", "expired"}, ev.State) {
			over = s.accepted()
			o.err = &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "Internal error: the agent has ended in this turn; the next prompt continues the session"}
		}
	case *event.QueueChanged:
		for _, p := range s.accepted() {
			s.queued(p, slices.ContainsFunc(ev.Items, func(item event.QueueItem) bool { return item.ID == p.uuid }))
		}
	}
	s.mu.Unlock()
	for _, p := range over {
		p.finish(o)
	}
}

// accepted returns the prompts that the agent has accepted. The caller holds the lock.
func (s *session) accepted() (list []*prompt) {
	for _, p := range s.queue {
		if p.accepted {
			list = append(list, p)
		}
	}
	return list
}

// startWait is the time within which a prompt that has left the queue must begin its turn;
// otherwise it was removed.
const startWait = 5 * time.Second

// queued records whether a prompt is in the session's queue. The caller holds the lock.
func (s *session) queued(p *prompt, there bool) {
	left := p.waiting && !there && !p.begun
	p.waiting = there
	if left {
		p.removed = time.AfterFunc(startWait, func() {
			s.mu.Lock()
			begun := p.begun || p.waiting
			s.mu.Unlock()
			if !begun {
				p.finish(outcome{reason: acp.StopReasonCancelled})
			}
		})
	}
}

// stopTurn interrupts the turn of another client.
func (s *session) stopTurn(live agent.Session) {
	ctx, cancel := context.WithTimeout(s.srv.ctx, defaultCancelWait)
	defer cancel()
	if _, err := live.Interrupt(ctx); err != nil {
		s.srv.opts.Logger.Debug("acp: interrupting", "err", err)
	}
}
