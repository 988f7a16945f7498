package acpagent

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/agentkit"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// handle answers the requests of the agent: to a person, and for files and terminals.
func (s *Session) handle(ctx context.Context, m *jsonrpc.Message) (any, error) {
	switch m.Method {
	case acp.MethodSessionRequestPermission:
		var r acp.RequestPermissionRequest
		if err := json.Unmarshal([]byte(m.Params), &r); err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
		}
		if s.hosted != nil {
			return s.waitHosted(ctx, m)
		}
		return s.wait(ctx, r.Options, func(id string) []event.Event { return s.conv.Ask(id, &r) })
	case acp.MethodElicitationCreate:
		var r acp.CreateElicitationRequest
		if err := json.Unmarshal([]byte(m.Params), &r); err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
		}
		if s.hosted != nil {
			return s.waitHosted(ctx, m)
		}
		return s.wait(ctx, nil, func(id string) []event.Event { return s.conv.Elicit(id, &r) })
	}
	if s.isLocal() {
		return s.serve(ctx, m)
	}
	return nil, jsonrpc.MethodNotFound(m.Method)
}

// wait opens a request and waits for its answer.
func (s *Session) wait(ctx context.Context, options []acp.PermissionOption, open func(id string) []event.Event) (any, error) {
	var result any
	r, err := s.kit.Open(ctx, func() []event.Event {
		return open(s.nextRequest())
	}, func(_ context.Context, r *agentkit.Prompt, a agent.Answer) (events []event.Event, err error) {
		result, events, err = s.respond(r, options, a)
		return events, err
	})
	if err != nil {
		return nil, jsonrpc.ErrClosed
	}
	_, err = s.kit.Wait(ctx, r)
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return cancelled(r.Kind == event.QuestionElicitation), nil
}

// cancelled returns the answer to a cancelled request.
func cancelled(elicitation bool) any {
	if elicitation {
		return map[string]string{"action": "cancel"}
	}
	return &acp.RequestPermissionResponse{Outcome: acp.RequestPermissionOutcome{Outcome: acp.RequestPermissionOutcomeIsCancelled}}
}

// resolve returns the event for a resolved request. The behavior of an elicitation is its action.
func (s *Session) resolve(r *agentkit.Prompt, end resolution, content event.JSON) []event.Event {
	if r.Kind == event.QuestionElicitation {
		return s.conv.Answered(r.ID, end.behavior, content)
	}
	return s.conv.Resolve(r.ID, r.ToolUseID, end.behavior, end.scope, end.why)
}

// Answer answers the open request with this id. The type of the answer must fit the kind of the
// request.
func (s *Session) Answer(ctx context.Context, requestID string, answer agent.Answer) error {
	if err := s.checkHosted(requestID, answer); err != nil {
		return err
	}
	return s.kit.Answer(ctx, requestID, answer)
}

// respond returns the result for the agent and the events for an answer.
func (s *Session) respond(r *agentkit.Prompt, options []acp.PermissionOption, answer agent.Answer) (any, []event.Event, error) {
	result, end, err := reply(options, answer)
	if err != nil {
		return nil, nil, err
	}
	content := event.JSON("")
	if e, ok := answer.(*agent.ElicitationAnswer); ok {
		content = event.NewJSON(string(e.Content))
	}
	return result, s.resolve(r, end, content), nil
}

// reply returns the result for the agent for an answer.
func reply(options []acp.PermissionOption, answer agent.Answer) (any, resolution, error) {
	switch a := answer.(type) {
	case *agent.PermissionAnswer:
		return pick(options, a.Allow, a.Choice, a.Scope, a.Message)
	case *agent.PlanAnswer:
		if a.Plan != "" {
			return nil, resolution{}, fmt.Errorf("%w: the agent does not accept changed plans", agent.ErrInvalid)
		}
		return pick(options, a.Approve, "", "", a.Message)
	case *agent.ElicitationAnswer:
		result := map[string]any{"action": a.Action}
		if len(a.Content) > 0 && a.Action == "accept" {
			result["content"] = a.Content
		}
		return result, resolution{behavior: a.Action}, nil
	}
	return nil, resolution{}, agent.ErrInvalid
}

// pick returns the option that matches an answer. If the agent offers no way to refuse, a refusal
// becomes a cancellation.
func pick(options []acp.PermissionOption, allow bool, choice, scope, why string) (any, resolution, error) {
	kind := acp.PermissionOptionKindRejectOnce
	behavior := event.ResolvedDeny
	if allow {
		kind, behavior = acp.PermissionOptionKindAllowOnce, event.ResolvedAllow
		if scope == event.ScopeAlways || scope == event.ScopeSession {
			kind = acp.PermissionOptionKindAllowAlways
		}
	}
	picked := acp.PermissionOptionID("")
	for _, o := range options {
		if picked == "" && (choice != "" && string(o.OptionID) == choice || choice == "" && o.Kind == kind) {
			picked = o.OptionID
		}
	}
	outcome := acp.RequestPermissionOutcome{Outcome: acp.RequestPermissionOutcomeIsSelected, Value: &acp.SelectedPermissionOutcome{OptionID: picked}}
	if picked == "" {
		if allow || choice != "" {
			return nil, resolution{}, fmt.Errorf("%w: the agent offers no such option", agent.ErrInvalid)
		}
		outcome = acp.RequestPermissionOutcome{Outcome: acp.RequestPermissionOutcomeIsCancelled}
	}
	return &acp.RequestPermissionResponse{Outcome: outcome}, resolution{behavior, scope, why}, nil
}
