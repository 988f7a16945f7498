package session

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/server/api"
)

// QueueList returns the inputs that wait.
func (s *Sessions) QueueList(ctx context.Context, p api.SessionRef) (api.QueueListResult, error) {
	var result api.QueueListResult
	err := s.with(ctx, p.SessionID, func(a *actor) error {
		result.Items = a.core.queueItems()
		return nil
	})
	return result, err
}

// QueueEdit changes an input that waits.
func (s *Sessions) QueueEdit(ctx context.Context, p api.QueueEditParams) (api.QueueListResult, error) {
	return s.changeQueue(ctx, p.SessionID, func(c *core) (draft, error) { return c.editInput(p.ID, json.RawMessage(p.Content)) })
}

// QueueRemove drops an input that waits.
func (s *Sessions) QueueRemove(ctx context.Context, p api.QueueItemParams) (api.QueueListResult, error) {
	return s.changeQueue(ctx, p.SessionID, func(c *core) (draft, error) { return c.removeInput(p.ID) })
}

// QueueReorder changes the order of the inputs that wait.
func (s *Sessions) QueueReorder(ctx context.Context, p api.QueueReorderParams) (api.QueueListResult, error) {
	return s.changeQueue(ctx, p.SessionID, func(c *core) (draft, error) { return c.reorder(p.IDs) })
}

// QueueRelease sends the inputs that are held.
func (s *Sessions) QueueRelease(ctx context.Context, p api.SessionRef) (api.QueueListResult, error) {
	if err := s.Working(); err != nil {
		return api.QueueListResult{}, err
	}
	return s.changeQueue(ctx, p.SessionID, (*core).release)
}

// PermissionList is the inbox: the requests of one session or of all, the oldest first.
func (s *Sessions) PermissionList(ctx context.Context, p api.PermissionListParams) (api.PermissionListResult, error) {
	result := api.PermissionListResult{Prompts: []api.PendingPrompt{}}
	var ids []string
	s.mu.Lock()
	for id, e := range s.sessions {
		if (p.SessionID == "" || p.SessionID == id) && e.summary.Prompts > 0 && e.actor != nil && s.opts.Visible(ctx, e.tenant) {
			ids = append(ids, id)
		}
	}
	s.mu.Unlock()
	if p.SessionID != "" {
		if _, err := s.Lookup(ctx, p.SessionID); err != nil {
			return result, err
		}
	}
	for _, id := range ids {
		err := s.with(ctx, id, func(a *actor) error {
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
func (s *Sessions) PermissionRespond(ctx context.Context, p api.PermissionRespondParams, by string) (api.RespondResult, error) {
	return s.respond(ctx, p.SessionID, p.RequestID, p.Key, by, func(core *core) (reply, error) { return core.permissionReply(p, by) })
}

// QuestionRespond answers a question.
func (s *Sessions) QuestionRespond(ctx context.Context, p api.QuestionRespondParams, by string) (api.RespondResult, error) {
	return s.respond(ctx, p.SessionID, p.RequestID, p.Key, by, func(core *core) (reply, error) { return core.questionReply(p, by) })
}
