package acpagent

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// ask is a request of the agent that waits for a person.
type ask struct {
	kind    string // of the event
	tool    string
	options []acp.PermissionOption
	answer  chan any // gets the result for the agent; closed when it is withdrawn
}

// handle answers a request of the agent: those to a person, and none else.
func (s *Session) handle(ctx context.Context, m *jsonrpc.Message) (any, error) {
	var a *ask
	switch m.Method {
	case acp.MethodSessionRequestPermission:
		var r acp.RequestPermissionRequest
		if err := json.Unmarshal([]byte(m.Params), &r); err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
		}
		a = &ask{tool: string(r.ToolCall.ToolCallID), options: r.Options}
		return s.wait(ctx, a, func(id string) []event.Event { return s.conv.Ask(id, &r) })
	case acp.MethodElicitationCreate:
		var r acp.CreateElicitationRequest
		if err := json.Unmarshal([]byte(m.Params), &r); err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
		}
		return s.wait(ctx, &ask{}, func(id string) []event.Event { return s.conv.Elicit(id, &r) })
	}
	return nil, jsonrpc.MethodNotFound(m.Method)
}

// cancelled is the answer to a request that was withdrawn.
func (a *ask) cancelled() any {
	if a.kind == event.QuestionElicitation {
		return map[string]string{"action": "cancel"}
	}
	return &acp.RequestPermissionResponse{Outcome: acp.RequestPermissionOutcome{Outcome: acp.RequestPermissionOutcomeIsCancelled}}
}

// wait opens a request and waits for its answer.
func (s *Session) wait(ctx context.Context, a *ask, open func(id string) []event.Event) (any, error) {
	a.answer = make(chan any, 1)
	s.out.Mu.Lock()
	s.asked++
	id := "request-" + strconv.Itoa(s.asked)
	if s.out.Over || s.closed {
		s.out.Mu.Unlock()
		return nil, jsonrpc.ErrClosed
	}
	s.asks[id] = a
	events := open(id)
	for _, ev := range events {
		switch ev := ev.(type) {
		case *event.PermissionRequest:
			a.kind = ev.Kind
		case *event.QuestionRequest:
			a.kind = ev.Kind
		}
	}
	s.out.Queue = append(s.out.Queue, events...)
	s.out.Changed.Broadcast()
	s.out.Mu.Unlock()
	select {
	case result, ok := <-a.answer:
		if !ok {
			return a.cancelled(), nil
		}
		return result, nil
	case <-ctx.Done():
		s.withdrawOne(id)
		return nil, context.Cause(ctx)
	}
}

// withdraw resolves all open requests as cancelled.
func (s *Session) withdraw() {
	s.out.Mu.Lock()
	var ids []string
	for id := range s.asks {
		ids = append(ids, id)
	}
	s.out.Mu.Unlock()
	for _, id := range ids {
		s.withdrawOne(id)
	}
}

func (s *Session) withdrawOne(id string) {
	s.out.Mu.Lock()
	defer s.out.Mu.Unlock()
	a := s.asks[id]
	if a == nil {
		return
	}
	delete(s.asks, id)
	close(a.answer)
	s.resolve(id, a, event.ResolvedCancelled, "", "cancel", "")
}

// resolve queues the event that a request is resolved.
func (s *Session) resolve(id string, a *ask, behavior, scope, action string, content event.JSON) {
	if a.kind == event.QuestionElicitation {
		s.out.Queue = append(s.out.Queue, s.conv.Answered(id, action, content)...)
	} else {
		s.out.Queue = append(s.out.Queue, s.conv.Resolve(id, a.tool, behavior, scope, "")...)
	}
	s.out.Changed.Broadcast()
}

// Answer answers an open request of the agent, which its id names, with the type that its kind
// needs.
func (s *Session) Answer(ctx context.Context, requestID string, answer agent.Answer) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.out.Mu.Lock()
	defer s.out.Mu.Unlock()
	a := s.asks[requestID]
	switch {
	case s.closed || s.out.Over:
		return agent.ErrClosed
	case a == nil:
		return fmt.Errorf("%w: %s", agent.ErrNotOpen, requestID)
	}
	switch v := answer.(type) {
	case *agent.PermissionAnswer:
		if a.kind != event.PermissionTool {
			break
		}
		return s.choose(requestID, a, v.Allow, v.Choice, v.Scope)
	case *agent.PlanAnswer:
		if a.kind != event.PermissionPlan {
			break
		}
		return s.choose(requestID, a, v.Approve, "", "")
	case *agent.ElicitationAnswer:
		if a.kind != event.QuestionElicitation {
			break
		}
		result := map[string]any{"action": v.Action}
		if len(v.Content) > 0 && v.Action == "accept" {
			result["content"] = v.Content
		}
		delete(s.asks, requestID)
		a.answer <- result
		s.resolve(requestID, a, "", "", v.Action, event.NewJSON(string(v.Content)))
		return nil
	}
	return fmt.Errorf("%w: a %T does not answer a request of the kind %s", agent.ErrInvalid, answer, a.kind)
}

// choose picks the option that an answer means. A refusal that the agent does not offer is
// a cancellation.
func (s *Session) choose(id string, a *ask, allow bool, choice, scope string) error {
	kind := acp.PermissionOptionKindRejectOnce
	behavior := event.ResolvedDeny
	if allow {
		kind, behavior = acp.PermissionOptionKindAllowOnce, event.ResolvedAllow
		if scope == event.ScopeAlways || scope == event.ScopeSession {
			kind = acp.PermissionOptionKindAllowAlways
		}
	}
	picked := acp.PermissionOptionID("")
	for _, o := range a.options {
		if picked == "" && (choice != "" && string(o.OptionID) == choice || choice == "" && o.Kind == kind) {
			picked = o.OptionID
		}
	}
	outcome := acp.RequestPermissionOutcome{Outcome: acp.RequestPermissionOutcomeIsSelected, Value: &acp.SelectedPermissionOutcome{OptionID: picked}}
	if picked == "" {
		if allow || choice != "" {
			return fmt.Errorf("%w: the agent offers no such option", agent.ErrInvalid)
		}
		outcome = acp.RequestPermissionOutcome{Outcome: acp.RequestPermissionOutcomeIsCancelled}
	}
	delete(s.asks, id)
	a.answer <- &acp.RequestPermissionResponse{Outcome: outcome}
	s.resolve(id, a, behavior, scope, "", "")
	return nil
}
