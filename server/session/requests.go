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

// respond answers a request once. The answer is in the log before the agent acts on it.
func (s Requests) respond(ctx context.Context, id, requestID, key, by string, decide func(*core) (reply, error)) (api.RespondResult, error) {
	a, release, err := s.useAgent(ctx, id)
	if err != nil {
		return api.RespondResult{}, err
	}
	defer release()
	var result api.RespondResult
	var rep reply
	var session agent.Session
	var unseen bool
	err = a.call(ctx, func() error {
		if k, ok := a.core.accepted(key); ok {
			result = api.RespondResult{Accepted: true, By: k.By, Seq: k.Seq}
			return nil
		}
		if a.core.State == LostHost {
			return Fail(api.NotOwner, "another server owns the session")
		}
		var err error
		if rep, err = decide(&a.core); err != nil {
			return err
		}
		if requestID == a.core.Memory.Asked {
			err := a.recall(rep, key, by)
			result = api.RespondResult{Accepted: err == nil, By: by, Seq: a.seq}
			return err
		}
		if err := a.linked(); err != nil {
			return err
		}
		if a.agent == nil {
			return Conflict("the agent that asked is gone")
		}
		if err := a.commit(a.core.answer(requestID, rep, key, by)...); err != nil {
			return err
		}
		session, unseen = a.agent.session, a.unseen[requestID]
		result = api.RespondResult{Accepted: true, By: by, Seq: a.seq}
		return nil
	})
	if err != nil || session == nil {
		return result, err
	}
	// The answer is stored, even if the caller disconnects.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.opts.CallTimeout)
	defer cancel()
	err = session.Answer(ctx, requestID, rep.answer)
	if err == nil || unseen && errors.Is(err, agent.ErrNotOpen) { // answerAgain answers it, or has
		return result, nil
	}
	ctx, cancel = a.bounded()
	defer cancel()
	if err := a.call(ctx, func() error { return a.answerLost(err) }); err != nil {
		return api.RespondResult{}, err
	}
	return result, nil
}

// answerLost records that a stored answer did not reach the agent. The next server gives it to an agent that stays with the host.
func (a *actor) answerLost(err error) error {
	if a.left != nil {
		return nil
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
