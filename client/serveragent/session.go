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

// Session is a view of a session of a server. Several clients can have a view of the same
// session.
type Session struct {
	p     *Provider
	id    string
	modes []string
	mode  string              // at the time of attaching
	past  *event.Conversation // set before the first event
	stop  context.CancelFunc

	kit     *agentkit.Session // its methods guard the fields below
	prompts map[string]string // the caller's ids by those of the server
	head    event.Header      // of the agent at the server
}

var _ agent.ModeSetter = (*Session)(nil)

func newSession(p *Provider, id string, modes []string, mode string, stop context.CancelFunc) *Session {
	s := &Session{p: p, id: id, modes: modes, mode: mode, stop: stop, prompts: map[string]string{}}
	s.kit = agentkit.New(agentkit.Options{Observe: s.rename, Cancel: s.unknown})
	return s
}

// attach opens a view of a session. It returns when the server has reported its position.
func (p *Provider) attach(ctx context.Context, id string, modes []string, mode string) (agent.Session, error) {
	follow, stop := context.WithCancel(context.Background())
	s := newSession(p, id, modes, mode, stop)
	attached := make(chan struct{})
	go s.follow(follow, attached)
	select {
	case <-attached:
		return s, nil
	case <-s.kit.Done():
		return nil, errors.Join(translate(s.kit.Err()), s.Close())
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), s.Close())
	}
}

// follow queues the server's events until the end.
func (s *Session) follow(ctx context.Context, attached chan struct{}) {
	var failed error
	first := true
	for ev, err := range s.p.Client.Follow(ctx, s.id, nil) {
		if err != nil {
			failed = err
			break
		}
		if ev.Attached != nil {
			if failed = s.join(ev.Attached, first); failed != nil {
				break
			}
			if first {
				first = false
				close(attached)
			}
			continue
		}
		s.kit.Add(func() []event.Event { return ev.Events })
	}
	s.kit.End(fmt.Errorf("%w: %w", agent.ErrClosed, failed), nil)
}

// unknown returns the event of a request whose answer this view does not see.
func (s *Session) unknown(r *agentkit.Prompt) []event.Event {
	question := r.Kind == event.QuestionAsk || r.Kind == event.QuestionElicitation
	return []event.Event{event.Resolve(s.head, question, r.ID, r.ToolUseID, event.Resolution{Behavior: event.ResolvedUnknown})}
}

// rename replaces the server's id of a prompt by the caller's.
func (s *Session) rename(ev event.Event) {
	switch ev := ev.(type) {
	case *event.UserMessage:
		ev.UUID = cmp.Or(s.prompts[ev.UUID], ev.UUID)
	case *event.TurnStart:
		ev.PromptID = cmp.Or(s.prompts[ev.PromptID], ev.PromptID)
	case *event.QueueChanged:
		for i, item := range ev.Items {
			ev.Items[i].ID = cmp.Or(s.prompts[item.ID], item.ID)
		}
	}
}

// ID returns the server's id of the session, which other clients use as well.
func (s *Session) ID() string { return s.id }

// Events returns an iterator over the events from its start on. It can be used once.
func (s *Session) Events(ctx context.Context) iter.Seq2[event.Event, error] { return s.kit.Events(ctx) }

// Send sends an input to the server, which queues it during a turn.
func (s *Session) Send(ctx context.Context, in agent.Input) error {
	if err := cmp.Or(s.kit.Alive(), agentkit.CheckInput(in)); err != nil {
		return err
	}
	var r api.Accepted
	key := api.Idempotency{Key: client.Key()}
	return s.kit.Send(func() error {
		if in.Text != "" {
			return s.p.call(ctx, "session.query", api.QueryParams{Idempotency: key, SessionID: s.id, Text: in.Text, Priority: in.Priority}, &r)
		}
		var blocks []event.JSON
		for _, b := range in.Content {
			blocks = append(blocks, event.NewJSON(string(b)))
		}
		return s.p.call(ctx, "session.queryWithContent", api.QueryWithContentParams{Idempotency: key, SessionID: s.id, Content: blocks, Priority: in.Priority}, &r)
	}, func() []event.Event {
		if r.TurnID != "" {
			s.prompts[r.TurnID] = in.UUID
		}
		return nil
	})
}

// Interrupt stops the running turn at the server, and reports the dropped inputs.
func (s *Session) Interrupt(ctx context.Context) (agent.Interrupted, error) {
	if err := s.kit.Alive(); err != nil {
		return agent.Interrupted{}, err
	}
	var r api.InterruptResult
	err := s.p.call(ctx, "session.interrupt", api.SessionRef{SessionID: s.id}, &r)
	return agent.Interrupted{Dropped: r.Dropped, StillQueued: r.StillQueued}, err
}

// Answer answers an open request of the session, unless another client was faster.
func (s *Session) Answer(ctx context.Context, requestID string, a agent.Answer) error {
	if err := s.kit.Check(requestID, a); err != nil {
		return err
	}
	key := api.Idempotency{Key: client.Key()}
	behavior := map[bool]string{true: "allow", false: "deny"}
	switch a := a.(type) {
	case *agent.PermissionAnswer:
		return s.p.call(ctx, "permission.respond", api.PermissionRespondParams{
			Idempotency: key, SessionID: s.id, RequestID: requestID, Behavior: behavior[a.Allow], Choice: a.Choice, Scope: a.Scope,
			UpdatedInput: event.NewJSON(string(a.UpdatedInput)), UpdatedPermissions: event.NewJSON(string(a.UpdatedPermissions)), Reason: a.Message, Interrupt: a.Interrupt,
		}, nil)
	case *agent.PlanAnswer:
		p := api.PermissionRespondParams{Idempotency: key, SessionID: s.id, RequestID: requestID, Behavior: behavior[a.Approve], Reason: a.Message, Interrupt: a.Interrupt}
		if a.Plan != "" {
			p.UpdatedInput = event.Encoded(map[string]string{"plan": a.Plan})
		}
		if a.Mode != "" {
			p.UpdatedPermissions = event.Encoded([]map[string]string{{"type": "setMode", "mode": a.Mode, "destination": "session"}})
		}
		return s.p.call(ctx, "permission.respond", p, nil)
	case *agent.QuestionAnswer:
		return s.respond(ctx, key, requestID, map[bool]string{true: "decline", false: "accept"}[a.Declined], a.Joined())
	case *agent.ElicitationAnswer:
		return s.respond(ctx, key, requestID, a.Action, a.Content)
	}
	return agent.ErrInvalid
}

func (s *Session) respond(ctx context.Context, key api.Idempotency, id, action string, answers json.RawMessage) error {
	return s.p.call(ctx, "question.respond", api.QuestionRespondParams{Idempotency: key, SessionID: s.id, RequestID: id, Action: action, Answers: event.NewJSON(string(answers))}, nil)
}

// Modes returns the permission modes that the server reported. The list is empty if the session's
// agent has not run since the start of the server.
func (s *Session) Modes() []string { return slices.Clone(s.modes) }

// Mode returns the permission mode of the session when it was opened or resumed; empty means the
// default. Later changes are events.
func (s *Session) Mode() string { return s.mode }

// SetMode changes the permission mode of the session at the server, for all its clients.
func (s *Session) SetMode(ctx context.Context, mode string) error {
	if err := s.kit.Alive(); err != nil {
		return err
	}
	return s.p.call(ctx, "session.setPermissionMode", api.SetPermissionModeParams{SessionID: s.id, Mode: mode}, nil)
}

// Close ends this view and returns when its goroutine has ended. The session continues at the
// server.
func (s *Session) Close() error {
	s.kit.Stop(nil)
	s.stop()
	<-s.kit.Done()
	return nil
}
