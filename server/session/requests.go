package session

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// Requests are the calls about open requests of agents.
type Requests struct{ *Sessions }

// respond answers a request once. The answer is written to the log before the agent gets it. From
// then on the call succeeds, whichever server owns the agent, unless the agent refuses the answer
// or ends.
func (s Requests) respond(ctx context.Context, id, requestID, key, by string, decide func(*core) (reply, error)) (api.RespondResult, error) {
	a, release, err := s.useAgent(ctx, id)
	if err != nil {
		return api.RespondResult{}, err
	}
	defer release()
	var r response
	err = a.call(ctx, func() (err error) {
		r, err = a.respond(requestID, key, by, decide)
		return err
	})
	if err != nil || r.session == nil {
		return r.result, err
	}
	// The answer is stored even if the caller disconnects.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.opts.CallTimeout)
	defer cancel()
	err = r.session.Answer(ctx, requestID, r.answer)
	if err == nil || r.unseen && errors.Is(err, agent.ErrNotOpen) { // answerAgain sends it, or has sent it
		return r.result, nil
	}
	ctx, cancel = a.bounded()
	defer cancel()
	lost := a.call(ctx, func() error { return a.answerLost(r, err) })
	if lost == nil || a.lostOwner.Load() { // the next owner sends it to the agent
		return r.result, nil
	}
	return api.RespondResult{}, lost
}

// response is an answer that was stored.
type response struct {
	result  api.RespondResult
	session agent.Session // the agent to send the answer to now, or nil
	request pendingPrompt
	answer  agent.Answer
	unseen  bool // the agent has not repeated the request since its adoption
}

// respond stores an answer. If this server does not reach the agent, the agent gets the answer after its adoption, by this
// or the next server.
func (a *actor) respond(requestID, key, by string, decide func(*core) (reply, error)) (r response, err error) {
	if k, ok := a.core.accepted(key); ok {
		r.result = api.RespondResult{Accepted: true, By: k.By, Seq: k.Seq}
		return r, nil
	}
	if a.core.State == LostHost {
		return r, errNotOwner()
	}
	rep, err := decide(&a.core)
	if err != nil {
		return r, err
	}
	r.answer = rep.answer
	r.request, _ = a.core.request(requestID)
	if requestID == a.core.Memory.Asked {
		err := a.recall(rep, key, by)
		r.result = api.RespondResult{Accepted: err == nil, By: by, Seq: a.seq}
		return r, err
	}
	if err := a.linked(); err != nil && a.machine() != "" {
		return r, err
	}
	if a.agent == nil && !a.away && a.left == nil {
		return r, Conflict("the agent that asked has ended")
	}
	if err := a.commit(a.core.answer(requestID, rep, key, by)...); err != nil {
		return r, err
	}
	if a.agent != nil {
		r.session, r.unseen = a.agent.session, a.unseen[requestID]
	}
	r.result = api.RespondResult{Accepted: true, By: by, Seq: a.seq}
	return r, nil
}

// answerLost records that a stored answer did not reach the agent. An agent that still runs gets it
// when it is adopted. If the agent has refused the answer, the request is open again.
func (a *actor) answerLost(r response, err error) error {
	if a.left != nil || a.away || a.lostLink() || a.lostOwner.Load() || a.agent != nil && a.agent.session != r.session {
		return nil
	}
	if ev := r.request.event(); ev != nil && a.agent != nil && (errors.Is(err, agent.ErrInvalid) || errors.Is(err, agent.ErrUnsupported)) {
		a.reopen(r.session, ev)
		return err
	}
	a.draft(draft{event: &event.Notice{Header: a.core.header(""), Severity: event.NoticeWarning, Code: "answer_lost",
		Text: "An answer did not reach the agent: " + FailureOf(err).Message}})
	_ = a.write() // kept and retried by tick
	return Conflict("the answer came too late: %s", FailureOf(err).Message)
}

// List returns the requests of one session or of all, oldest first.
func (s Requests) List(ctx context.Context, p api.PermissionListParams) (api.PermissionListResult, error) {
	result := api.PermissionListResult{Prompts: []api.PendingPrompt{}}
	ids, _ := s.selected(func(id string, e *entry) bool {
		return (p.SessionID == id || p.SessionID == "" && e.summary.Prompts > 0) && (e.actor != nil || s.opts.Owners != nil && e.summary.Prompts > 0) && s.visible(ctx, e.tenant)
	})
	if p.SessionID != "" {
		if _, err := s.Lookup(ctx, p.SessionID); err != nil {
			return result, err
		}
	}
	for _, id := range ids {
		err := s.reading(ctx, id, func(a *actor) error {
			for _, r := range a.core.Requests {
				result.Prompts = append(result.Prompts, api.PendingPrompt{SessionID: id, AskedAt: r.AskedAt, Prompt: r.Prompt})
			}
			return nil
		})
		if err != nil && FailureOf(err).Reason != api.SessionExpired {
			return result, err
		}
	}
	slices.SortStableFunc(result.Prompts, func(a, b api.PendingPrompt) int { return strings.Compare(a.AskedAt, b.AskedAt) })
	return result, nil
}

// PermissionRespond answers a request for permission.
func (s Requests) PermissionRespond(ctx context.Context, p api.PermissionRespondParams, by string) (api.RespondResult, error) {
	return s.respond(ctx, p.SessionID, p.RequestID, p.Key, by, func(core *core) (reply, error) { return core.permissionReply(p, by) })
}

// QuestionRespond answers a question.
func (s Requests) QuestionRespond(ctx context.Context, p api.QuestionRespondParams, by string) (api.RespondResult, error) {
	return s.respond(ctx, p.SessionID, p.RequestID, p.Key, by, func(core *core) (reply, error) { return core.questionReply(p, by) })
}
