package codexagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codexevent"
	"github.com/seed7221b0f9/parley/codex/item"
)

// Answer answers the open request of the server with this id. The type of the answer must match the
// kind of the request.
func (s *Session) Answer(ctx context.Context, requestID string, a agent.Answer) error {
	if err := s.kit.Check(requestID, a); err != nil {
		return err
	}
	if p, ok := a.(*agent.PermissionAnswer); ok && p.Allow && (p.UpdatedInput != nil || p.UpdatedPermissions != nil) {
		return fmt.Errorf("%w: Codex does not support a changed input", agent.ErrUnsupported)
	}
	if p, ok := a.(*agent.PermissionAnswer); ok && !p.Allow {
		s.kit.Do(func() { s.conv.Explain(requestID, p.Message) })
	}
	return s.kit.Answer(ctx, requestID, a)
}

// wait waits for the answer to a request of the server. A request is opened when its line is
// observed, before any callback runs. A request of an earlier process is opened again.
func (s *Session) wait(ctx context.Context, id item.JSON) (agent.Answer, error) {
	r := s.kit.Request(codexevent.RequestID(id))
	if r == nil {
		r = s.kit.AskAgain(codexevent.RequestID(id))
	}
	if r == nil {
		return nil, agent.ErrNotOpen
	}
	return s.kit.Wait(ctx, r)
}

func (s *Session) approve(ctx context.Context, a *codex.Approval) (codex.Decision, error) {
	answer, err := s.wait(ctx, a.Request.Head().ID)
	p, ok := answer.(*agent.PermissionAnswer)
	if err != nil || !ok {
		return codex.Decline, err
	}
	return decide(p, a), nil
}

// decide converts an answer to a decision: the selected choice, or else its scope.
func decide(p *agent.PermissionAnswer, a *codex.Approval) codex.Decision {
	switch {
	case !p.Allow && p.Interrupt:
		return codex.Cancel
	case !p.Allow:
		return codex.Decline
	}
	switch p.Choice {
	case "acceptForSession", "session":
		return codex.AcceptForSession
	case "acceptWithExecpolicyAmendment":
		return codex.AcceptWithAmendment(a.Amendment)
	case "always":
		return codex.AcceptAlways
	case "":
	default:
		return codex.Accept
	}
	switch {
	case p.Scope == event.ScopeSession:
		return codex.AcceptForSession
	case p.Scope == event.ScopeAlways && a.Kind == codex.ApproveMCPTool:
		return codex.AcceptAlways
	case p.Scope == event.ScopeAlways && len(a.Amendment) > 0:
		return codex.AcceptWithAmendment(a.Amendment)
	}
	return codex.Accept
}

func (s *Session) ask(ctx context.Context, q *item.UserInputRequest) (map[string][]string, error) {
	answer, err := s.wait(ctx, q.ID)
	a, ok := answer.(*agent.QuestionAnswer)
	if err != nil || !ok {
		return nil, errors.Join(err, agent.ErrNotOpen)
	}
	if a.Declined {
		return nil, errors.New("the user does not want to answer")
	}
	var byID map[string]json.RawMessage
	if err := json.Unmarshal(a.Joined(), &byID); err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, one := range q.Questions {
		raw, ok := byID[one.ID]
		if !ok {
			raw = byID[one.Question]
		}
		var list []string
		var text string
		if json.Unmarshal(raw, &text) == nil {
			list = []string{text}
		} else {
			_ = json.Unmarshal(raw, &list) // any other type is not an answer
		}
		if list != nil {
			out[one.ID] = list
		}
	}
	return out, nil
}

func (s *Session) elicit(ctx context.Context, e *item.ElicitationRequest) (codex.Elicitation, error) {
	answer, err := s.wait(ctx, e.ID)
	a, ok := answer.(*agent.ElicitationAnswer)
	if err != nil || !ok {
		return codex.Elicitation{}, err
	}
	return codex.Elicitation{Action: a.Action, Content: item.JSON(a.Content)}, nil
}
