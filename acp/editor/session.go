package editor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

// session is a session that a client has opened. If its agent dies, it is started again.
type session struct {
	srv  *server
	id   string
	opts agent.Options

	mu       sync.Mutex
	live     agent.Session // nil after the agent has ended
	agentID  string        // the agent's session id, for resuming
	loop     chan struct{} // closed when all events of live were processed
	mapper   *Mapper
	config   config
	queue    []*prompt // unanswered prompts; the first one is running
	turnBy   string    // the origin of the running turn; "" between turns
	turnOf   string    // the prompt of the running turn
	shared   shared
	followUp followUp // whether the agent will report the end of a task
	asks     map[string]context.CancelFunc
	titled   bool // it has a title, or must not get one
	closed   bool
}

func newSession(s *server, id string, o agent.Options) *session {
	return &session{
		srv: s, id: id, opts: o, agentID: id, asks: map[string]context.CancelFunc{},
		mapper: &Mapper{Session: id, Dir: o.Dir, Features: s.features()},
	}
}

// attach starts showing the events of an agent.
func (s *session) attach(live agent.Session) {
	loop := make(chan struct{})
	s.mu.Lock()
	s.live, s.loop = live, loop
	s.config.read(live, s.opts)
	s.mu.Unlock()
	s.srv.work.Go(func() {
		defer close(loop)
		s.follow(live)
	})
}

// follow shows the events of an agent until it has ended.
func (s *session) follow(live agent.Session) {
	var failed error
	for ev, err := range live.Events(context.Background()) {
		if err != nil {
			failed = err
			break
		}
		s.event(live, ev)
	}
	s.mu.Lock()
	if s.live == live {
		s.live = nil
		s.agentID = live.ID()
	}
	closed := s.closed
	var all []*prompt // prompts that are sent later detect the end themselves
	for _, p := range s.queue {
		if p.accepted {
			all = append(all, p)
		}
	}
	for id, cancel := range s.asks {
		cancel()
		delete(s.asks, id)
	}
	s.turnBy, s.turnOf, s.followUp = "", "", followUpNone
	ended := slices.Clone(s.mapper.endChildren())
	s.mapper = &Mapper{Session: s.id, Dir: s.opts.Dir, Features: s.mapper.Features, usage: s.mapper.usage, notices: s.mapper.notices}
	s.mu.Unlock()
	for _, u := range ended {
		s.send(u)
	}
	if err := live.Close(); err != nil && failed == nil {
		failed = err
	}
	for _, p := range all {
		if closed {
			p.finish(outcome{reason: acp.StopReasonCancelled})
		} else {
			p.orphaned(failed)
		}
	}
}

// event shows one event and updates the session.
func (s *session) event(live agent.Session, ev event.Event) {
	s.srv.idle.stir()
	s.mu.Lock()
	s.mapper.foreign = s.shared.event(ev)
	s.startedBy(ev)
	before, _ := s.mapper.Background()
	updates := slices.Clone(s.mapper.Event(ev))
	after, _ := s.mapper.Background()
	s.followUp.event(ev, after < before)
	for _, u := range s.config.event(ev, s.mapper.Features) {
		updates = append(updates, Update{SessionUpdate: u})
	}
	if len(s.queue) > 0 && s.queue[0].sent && slices.ContainsFunc(updates, isWork) {
		s.queue[0].shown = true
	}
	s.mu.Unlock()
	for _, u := range updates {
		s.send(u)
	}
	switch ev := ev.(type) {
	case *event.TurnStart:
		s.begun(ev)
	case *event.ResultMessage:
		s.ended(ev)
	case *event.SessionState, *event.QueueChanged:
		s.stateChanged(ev)
	case *event.TaskNotification, *event.TaskUpdated:
		s.settle(false)
	case *event.PermissionRequest:
		s.ask(ev.RequestID, func(ctx context.Context) { s.permission(ctx, live, ev) })
	case *event.QuestionRequest:
		s.ask(ev.RequestID, func(ctx context.Context) { s.question(ctx, live, ev) })
	case *event.PermissionResolved:
		s.resolved(ev.RequestID)
	case *event.QuestionResolved:
		s.resolved(ev.RequestID)
	}
}

// send sends an update. It ignores errors, because a closed connection is handled elsewhere.
func (s *session) send(u Update) {
	if err := s.srv.update(s.srv.ctx, cmp.Or(u.Subagent, s.id), u.SessionUpdate); err != nil && s.srv.ctx.Err() == nil {
		s.srv.opts.Logger.Debug("acp: an update was not sent", "session", s.id, "err", err)
	}
}

// ask sends a question to the client and waits until it is answered or withdrawn.
func (s *session) ask(requestID string, f func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(s.srv.ctx)
	s.mu.Lock()
	if s.asks[requestID] != nil {
		s.mu.Unlock()
		cancel()
		return // the client already has the request; updates of its call add the details
	}
	s.asks[requestID] = cancel
	s.mu.Unlock()
	s.state2("requires_action", "")
	s.srv.work.Go(func() {
		defer s.resolved(requestID)
		f(ctx)
	})
}

func (s *session) resolved(requestID string) {
	s.mu.Lock()
	cancel := s.asks[requestID]
	delete(s.asks, requestID)
	idle := len(s.asks) == 0
	s.mu.Unlock()
	if cancel != nil {
		cancel()
		if idle {
			s.state2("running", "")
		}
	}
}

// announce sends the commands of a new session.
func (s *session) announce() {
	s.mu.Lock()
	live := s.live
	s.mu.Unlock()
	catalog, ok := live.(agent.Catalog)
	if !ok {
		return
	}
	list, err := catalog.Commands(s.srv.ctx)
	if err != nil {
		return
	}
	s.mu.Lock()
	u, changed := s.config.setCommands(list)
	s.mu.Unlock()
	if changed {
		s.send(Update{SessionUpdate: u})
	}
}

// agentOf returns the session's agent, and starts it again if it has ended.
func (s *session) agentOf(ctx context.Context) (agent.Session, error) {
	s.mu.Lock()
	live, loop, id, closed := s.live, s.loop, s.agentID, s.closed
	s.mu.Unlock()
	switch {
	case closed:
		return nil, notFound(s.id)
	case live != nil:
		return live, nil
	}
	<-loop
	resumer, ok := s.srv.opts.Provider.(agent.Resumer)
	if !ok {
		return nil, fmt.Errorf("%w: the agent has ended, and its sessions cannot be continued", agent.ErrUnsupported)
	}
	live, err := resumer.Resume(ctx, id, s.opts)
	if errors.Is(err, agent.ErrNotFound) { // the agent has died before its first turn, so nothing is lost
		o := s.opts
		o.ID = id
		live, err = s.srv.opts.Provider.Open(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	closed = s.closed
	s.mu.Unlock()
	if closed {
		return nil, errors.Join(notFound(s.id), live.Close())
	}
	s.attach(live)
	s.restore(ctx, live)
	return live, nil
}

// restore applies the client's settings to a restarted agent.
func (s *session) restore(ctx context.Context, live agent.Session) {
	s.mu.Lock()
	mode := s.config.mode
	s.mu.Unlock()
	if setter, ok := live.(agent.ModeSetter); ok && mode != "" && mode != "default" {
		if err := setter.SetMode(ctx, mode); err != nil {
			s.srv.opts.Logger.Warn("acp: the mode was not restored", "mode", mode, "err", err)
		}
	}
}

// close ends the agent and answers open requests. It returns when the agent has exited.
func (s *session) close() {
	s.mu.Lock()
	s.closed = true
	live, loop, all := s.live, s.loop, s.queue
	s.mu.Unlock()
	for _, p := range all {
		p.finish(outcome{reason: acp.StopReasonCancelled})
	}
	if live != nil {
		if err := live.Close(); err != nil {
			s.srv.opts.Logger.Debug("acp: closing an agent", "session", s.id, "err", err)
		}
	}
	if loop != nil {
		<-loop
	}
}
