package serveragent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/internal/agentkit"
	"github.com/seed7221b0f9/parley/server/api"
)

// maxEvents is how many events wait for the reader before the server does.
const maxEvents = 10_000

// Session is a view of a session of a server. Several clients can have a view of the same
// session.
type Session struct {
	p     *Provider
	id    string
	modes []string
	mode  string              // when it was attached
	past  *event.Conversation // set before the first event
	stop  context.CancelFunc
	done  chan struct{} // closed when the last event is queued

	out     *agentkit.Box     // its mutex guards what follows
	prompts map[string]string // the caller's ids by those of the server
	sending int
	kinds   map[string]string // of open requests
	closed  bool
}

var _ agent.ModeSetter = (*Session)(nil)

// attach begins to look at a session. It returns when the server has said where it is.
func (p *Provider) attach(ctx context.Context, id string, modes []string, mode string) (agent.Session, error) {
	follow, stop := context.WithCancel(context.Background())
	s := &Session{p: p, id: id, modes: modes, mode: mode, stop: stop, done: make(chan struct{}), prompts: map[string]string{}, kinds: map[string]string{}}
	s.out = agentkit.New()
	attached := make(chan struct{})
	go s.follow(follow, attached)
	select {
	case <-attached:
		return s, nil
	case <-s.done:
		return nil, errors.Join(translate(s.out.Err), s.Close())
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), s.Close())
	}
}

// follow queues what the server says until the end.
func (s *Session) follow(ctx context.Context, attached chan struct{}) {
	defer close(s.done)
	var failed error
	first := true
	for ev, err := range s.p.Client.Follow(ctx, s.id, nil) {
		if err != nil {
			failed = err
			break
		}
		if ev.Attached != nil {
			if first {
				first = false
				if failed = s.join(ev.Attached); failed != nil {
					break
				}
				close(attached)
			}
			continue
		}
		s.put(ev.Events)
	}
	s.out.Mu.Lock()
	defer s.out.Mu.Unlock()
	if s.out.Over = true; !s.closed {
		s.out.Err = fmt.Errorf("%w: %w", agent.ErrClosed, failed)
	}
	s.out.Changed.Broadcast()
}

// put queues events. The id of a prompt is known when the server has accepted it, so what
// follows waits for that.
func (s *Session) put(events []event.Event) {
	s.out.Mu.Lock()
	defer s.out.Mu.Unlock()
	for (s.sending > 0 || len(s.out.Queue) > maxEvents) && !s.closed {
		s.out.Changed.Wait()
	}
	for _, ev := range events {
		switch ev := ev.(type) {
		case *event.UserMessage:
			if own := s.prompts[ev.UUID]; own != "" {
				ev.UUID = own
			}
		case *event.TurnStart:
			if own := s.prompts[ev.PromptID]; own != "" {
				ev.PromptID = own
			}
		case *event.QueueChanged:
			for i, item := range ev.Items {
				ev.Items[i].ID = cmp.Or(s.prompts[item.ID], item.ID)
			}
		case *event.PermissionRequest:
			s.kinds[ev.RequestID] = ev.Kind
		case *event.QuestionRequest:
			s.kinds[ev.RequestID] = ev.Kind
		case *event.PermissionResolved:
			delete(s.kinds, ev.RequestID)
		case *event.QuestionResolved:
			delete(s.kinds, ev.RequestID)
		}
		s.out.Queue = append(s.out.Queue, ev)
	}
	s.out.Changed.Broadcast()
}

// ID returns the id that the session has at the server, under which other clients find it as
// well.
func (s *Session) ID() string { return s.id }

// Events returns an iterator over what happens from its start on. It can be used once.
func (s *Session) Events(ctx context.Context) iter.Seq2[event.Event, error] { return s.out.Events(ctx) }

func (s *Session) alive() error {
	s.out.Mu.Lock()
	defer s.out.Mu.Unlock()
	if s.closed || s.out.Over {
		return agent.ErrClosed
	}
	return nil
}

// Send gives the server an input for the session, which the server queues while a turn runs.
func (s *Session) Send(ctx context.Context, in agent.Input) error {
	if err := s.alive(); err != nil {
		return err
	}
	if (in.Text == "") == (len(in.Content) == 0) {
		return fmt.Errorf("%w: an input has either text or content", agent.ErrInvalid)
	}
	s.out.Mu.Lock()
	s.sending++
	s.out.Mu.Unlock()
	var r api.Accepted
	key := api.Idempotency{Key: client.Key()}
	var err error
	if in.Text != "" {
		err = s.p.call(ctx, "session.query", api.QueryParams{Idempotency: key, SessionID: s.id, Text: in.Text, Priority: in.Priority}, &r)
	} else {
		var blocks []event.JSON
		for _, b := range in.Content {
			blocks = append(blocks, event.NewJSON(string(b)))
		}
		err = s.p.call(ctx, "session.queryWithContent", api.QueryWithContentParams{Idempotency: key, SessionID: s.id, Content: blocks, Priority: in.Priority}, &r)
	}
	s.out.Mu.Lock()
	defer s.out.Mu.Unlock()
	s.sending--
	if err == nil && r.TurnID != "" {
		s.prompts[r.TurnID] = in.UUID
	}
	s.out.Changed.Broadcast()
	return err
}

// Interrupt stops the turn that is running at the server, and reports which inputs were
// dropped.
func (s *Session) Interrupt(ctx context.Context) (agent.Interrupted, error) {
	if err := s.alive(); err != nil {
		return agent.Interrupted{}, err
	}
	var r api.InterruptResult
	err := s.p.call(ctx, "session.interrupt", api.SessionRef{SessionID: s.id}, &r)
	return agent.Interrupted{Dropped: r.Dropped, StillQueued: r.StillQueued}, err
}

// Answer answers an open request of the session, unless the answer of another client came
// first.
func (s *Session) Answer(ctx context.Context, requestID string, a agent.Answer) error {
	if err := s.alive(); err != nil {
		return err
	}
	s.out.Mu.Lock()
	kind, open := s.kinds[requestID]
	s.out.Mu.Unlock()
	if !open {
		return fmt.Errorf("%w: %s", agent.ErrNotOpen, requestID)
	}
	key := api.Idempotency{Key: client.Key()}
	behavior := map[bool]string{true: "allow", false: "deny"}
	switch a := a.(type) {
	case *agent.PermissionAnswer:
		if kind == event.PermissionTool {
			return s.p.call(ctx, "permission.respond", api.PermissionRespondParams{
				Idempotency: key, SessionID: s.id, RequestID: requestID, Behavior: behavior[a.Allow], Choice: a.Choice, Scope: a.Scope,
				UpdatedInput: event.NewJSON(string(a.UpdatedInput)), UpdatedPermissions: event.NewJSON(string(a.UpdatedPermissions)), Reason: a.Message, Interrupt: a.Interrupt,
			}, nil)
		}
	case *agent.PlanAnswer:
		if kind == event.PermissionPlan {
			return s.p.call(ctx, "permission.respond", api.PermissionRespondParams{
				Idempotency: key, SessionID: s.id, RequestID: requestID, Behavior: behavior[a.Approve], Reason: a.Message, Interrupt: a.Interrupt,
			}, nil)
		}
	case *agent.QuestionAnswer:
		if kind == event.QuestionAsk {
			action := map[bool]string{true: "decline", false: "accept"}[a.Declined]
			return s.respond(ctx, key, requestID, action, a.Answers)
		}
	case *agent.ElicitationAnswer:
		if kind == event.QuestionElicitation {
			return s.respond(ctx, key, requestID, a.Action, a.Content)
		}
	}
	return fmt.Errorf("%w: a %T does not answer a request of the kind %s", agent.ErrInvalid, a, kind)
}

func (s *Session) respond(ctx context.Context, key api.Idempotency, id, action string, answers json.RawMessage) error {
	return s.p.call(ctx, "question.respond", api.QuestionRespondParams{Idempotency: key, SessionID: s.id, RequestID: id, Action: action, Answers: event.NewJSON(string(answers))}, nil)
}

// Modes returns the permission modes that the server reported. There are none for a session whose
// agent has not run since the server was started.
func (s *Session) Modes() []string { return slices.Clone(s.modes) }

// Mode returns the permission mode that the session had when it was opened or resumed; empty means
// the default. Later changes are events.
func (s *Session) Mode() string { return s.mode }

// SetMode changes the permission mode of the session at the server, for all clients that look
// at it.
func (s *Session) SetMode(ctx context.Context, mode string) error {
	if err := s.alive(); err != nil {
		return err
	}
	return s.p.call(ctx, "session.setPermissionMode", api.SetPermissionModeParams{SessionID: s.id, Mode: mode}, nil)
}

// Close ends this view and returns when its goroutine is gone. The session lives on at the
// server.
func (s *Session) Close() error {
	s.out.Mu.Lock()
	s.closed = true
	s.out.Changed.Broadcast()
	s.out.Mu.Unlock()
	s.stop()
	<-s.done
	return nil
}
