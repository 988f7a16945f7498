package claudeagent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/claude/tool"
	"github.com/seed7221b0f9/parley/internal/agentkit"
)

// permit opens a request for permission, a question or a plan; Answer answers it later.
func (s *Session) permit(ctx context.Context, p *claude.PermissionRequest) (claude.PermissionResult, error) {
	suggestions := p.Suggestions
	if p.SuppressAlwaysAllowRule {
		suggestions = nil
	}
	return nil, s.open(ctx, suggestions, p.RequestID, p.ToolUseID, p.Raw())
}

// elicit opens a request of an MCP server; Answer answers it later.
func (s *Session) elicit(ctx context.Context, e *claude.ElicitationRequest) (*claude.ElicitationResult, error) {
	return nil, s.open(ctx, nil, e.RequestID, "", e.Raw())
}

// open queues the event of a request, after the event of its tool use.
func (s *Session) open(ctx context.Context, suggestions []message.PermissionUpdate, id, toolUseID string, raw message.JSON) error {
	<-s.ready
	if s.hosted != nil {
		s.hosted.wait(ctx)
	}
	if toolUseID != "" {
		s.kit.Await(ctx, orderWait, func() bool { return s.tools[toolUseID] })
	}
	_, err := s.kit.Open(ctx, func() []event.Event {
		s.hosted.ask(id)
		return s.conv.Ask(id, raw)
	}, func(ctx context.Context, r *agentkit.Prompt, a agent.Answer) ([]event.Event, error) {
		response, err := s.answer(ctx, r.ID, suggestions, a)
		switch {
		case errors.Is(err, claude.ErrNotOpen):
			return nil, fmt.Errorf("%w: %s", agent.ErrNotOpen, r.ID)
		case err != nil && !errors.Is(err, agent.ErrUnsupported):
			return nil, fmt.Errorf("%w: %w", agent.ErrInvalid, err)
		case err != nil:
			return nil, err
		}
		return s.conv.Answer(r.ID, response, ""), nil
	})
	return cmp.Or(err, claude.ErrAnswerLater)
}

// Answer answers an open request of the CLI by its id. The answer must have the type of the
// request's kind.
func (s *Session) Answer(ctx context.Context, requestID string, a agent.Answer) error {
	s.awaitAsked(ctx, requestID)
	return s.kit.Answer(ctx, requestID, a)
}

// response is an answer in the form of the events.
type response struct {
	Behavior           string                     `json:"behavior,omitempty"`
	Message            string                     `json:"message,omitempty"`
	UpdatedInput       any                        `json:"updatedInput,omitempty"`
	UpdatedPermissions []message.PermissionUpdate `json:"updatedPermissions,omitempty"`
	Action             string                     `json:"action,omitempty"`
	Content            map[string]any             `json:"content,omitempty"`
}

// answer sends an answer to the CLI.
func (s *Session) answer(ctx context.Context, id string, suggestions []message.PermissionUpdate, a agent.Answer) (message.JSON, error) {
	var result claude.PermissionResult
	var said response
	var err error
	switch a := a.(type) {
	case *agent.PermissionAnswer:
		result, said, err = s.permission(suggestions, a)
	case *agent.PlanAnswer:
		result, said, err = s.plan(a)
	case *agent.QuestionAnswer:
		result, said, err = question(a)
	case *agent.ElicitationAnswer:
		return s.answerElicitation(ctx, id, a)
	}
	if err != nil {
		return "", err
	}
	if err := s.client.AnswerPermission(ctx, id, result); err != nil {
		return "", err
	}
	return encoded(said)
}

func encoded(r response) (message.JSON, error) {
	text, err := json.Marshal(r)
	return message.JSON(text), err
}

func (s *Session) permission(suggestions []message.PermissionUpdate, a *agent.PermissionAnswer) (claude.PermissionResult, response, error) {
	if !a.Allow {
		return &claude.Deny{Message: a.Message, Interrupt: a.Interrupt, Classification: claude.ClassifiedReject}, response{Behavior: "deny", Message: a.Message}, nil
	}
	if a.Choice != "" {
		return nil, response{}, fmt.Errorf("%w: the choice %q", agent.ErrUnsupported, a.Choice)
	}
	if a.Scope != "" && !slices.Contains([]string{event.ScopeOnce, event.ScopeSession, event.ScopeAlways}, a.Scope) {
		return nil, response{}, fmt.Errorf("%w: the scope %q", agent.ErrUnsupported, a.Scope)
	}
	updates, err := s.updates(suggestions, a)
	if err != nil {
		return nil, response{}, err
	}
	allow := &claude.Allow{UpdatedInput: message.JSON(a.UpdatedInput), UpdatedPermissions: updates, Classification: claude.ClassifiedTemporary}
	if len(updates) > 0 {
		allow.Classification = claude.ClassifiedPermanent
	}
	return allow, response{Behavior: "allow", UpdatedPermissions: updates}, nil
}

// updates returns the permission updates of an allow: those of the answer, or, with a scope,
// the rules that the CLI suggested. They must not change to a mode that the session does not
// have.
func (s *Session) updates(suggestions []message.PermissionUpdate, a *agent.PermissionAnswer) ([]message.PermissionUpdate, error) {
	var updates []message.PermissionUpdate
	if len(a.UpdatedPermissions) > 0 {
		if err := json.Unmarshal(a.UpdatedPermissions, &updates); err != nil {
			return nil, err
		}
	} else if a.Scope == event.ScopeSession || a.Scope == event.ScopeAlways {
		for _, u := range claude.RulesOnly(suggestions) {
			if a.Scope == event.ScopeSession {
				u = message.PermissionUpdate{Type: u.Type, Rules: u.Rules, Behavior: u.Behavior, Destination: message.DestinationSession}
			}
			updates = append(updates, u)
		}
		if len(updates) == 0 {
			return nil, fmt.Errorf("%w: the CLI suggests no rule for this; allow it once", agent.ErrUnsupported)
		}
	}
	for _, u := range updates {
		if u.Mode != "" && !slices.Contains(s.Modes(), string(u.Mode)) {
			return nil, fmt.Errorf("mode %q", u.Mode)
		}
	}
	return updates, nil
}

func (s *Session) plan(a *agent.PlanAnswer) (claude.PermissionResult, response, error) {
	if a.Mode != "" && !slices.Contains(s.Modes(), a.Mode) {
		return nil, response{}, fmt.Errorf("mode %q", a.Mode)
	}
	d := &claude.PlanDecision{Approve: a.Approve, Plan: a.Plan, Mode: message.PermissionMode(a.Mode), Message: a.Message, Interrupt: a.Interrupt}
	if a.Approve {
		return d, response{Behavior: "allow"}, nil
	}
	return d, response{Behavior: "deny", Message: a.Message}, nil
}

// question decodes an answer that consists of strings and lists of strings.
func question(a *agent.QuestionAnswer) (claude.PermissionResult, response, error) {
	if a.Declined {
		return &claude.QuestionAnswer{Declined: true, Message: a.Message}, response{Behavior: "deny", Message: a.Message}, nil
	}
	var byQuestion map[string]json.RawMessage
	if err := json.Unmarshal(a.Answers, &byQuestion); err != nil {
		return nil, response{}, err
	}
	answers := map[string]string{}
	result := &claude.QuestionAnswer{Answers: answers}
	for q, raw := range byQuestion {
		if string(raw) == "null" {
			result.Skip(q)
			continue
		}
		var one string
		var many []string
		if json.Unmarshal(raw, &one) != nil {
			if err := json.Unmarshal(raw, &many); err != nil {
				return nil, response{}, err
			}
			one = strings.Join(many, ", ")
		}
		answers[q] = one
	}
	input := map[string]any{"answers": answers}
	for q, note := range a.Notes {
		if result.Annotations == nil {
			result.Annotations = map[string]tool.QuestionAnnotation{}
		}
		result.Annotations[q] = tool.QuestionAnnotation{Notes: note}
		input["annotations"] = result.Annotations
	}
	return result, response{Behavior: "allow", UpdatedInput: input}, nil
}

func (s *Session) answerElicitation(ctx context.Context, id string, a *agent.ElicitationAnswer) (message.JSON, error) {
	result := &claude.ElicitationResult{Action: message.ElicitationAction(a.Action)}
	if len(a.Content) > 0 && a.Action == "accept" {
		if err := json.Unmarshal(a.Content, &result.Content); err != nil {
			return "", err
		}
	}
	if err := s.client.AnswerElicitation(ctx, id, result); err != nil {
		return "", err
	}
	return encoded(response{Action: a.Action, Content: result.Content})
}
