package server

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/server/api"
)

func queueList(s *Server, ctx context.Context, _ *caller, p api.SessionRef) (api.QueueListResult, error) {
	var result api.QueueListResult
	err := s.with(ctx, p.SessionID, func(a *actor) error {
		result.Items = a.core.queueItems()
		return nil
	})
	return result, err
}

func queueEdit(s *Server, ctx context.Context, _ *caller, p api.QueueEditParams) (api.QueueListResult, error) {
	return s.changeQueue(ctx, p.SessionID, func(c *core) (draft, error) { return c.editInput(p.ID, json.RawMessage(p.Content)) })
}

func queueRemove(s *Server, ctx context.Context, _ *caller, p api.QueueItemParams) (api.QueueListResult, error) {
	return s.changeQueue(ctx, p.SessionID, func(c *core) (draft, error) { return c.removeInput(p.ID) })
}

func queueReorder(s *Server, ctx context.Context, _ *caller, p api.QueueReorderParams) (api.QueueListResult, error) {
	return s.changeQueue(ctx, p.SessionID, func(c *core) (draft, error) { return c.reorder(p.IDs) })
}

func queueRelease(s *Server, ctx context.Context, _ *caller, p api.SessionRef) (api.QueueListResult, error) {
	if err := s.working(); err != nil {
		return api.QueueListResult{}, err
	}
	return s.changeQueue(ctx, p.SessionID, (*core).release)
}

func queueSendNow(s *Server, ctx context.Context, _ *caller, p api.QueueItemParams) (api.Accepted, error) {
	return s.sendNow(ctx, p)
}

// permissionList is the inbox: the requests of one session or of all, the oldest first.
func permissionList(s *Server, ctx context.Context, _ *caller, p api.PermissionListParams) (api.PermissionListResult, error) {
	result := api.PermissionListResult{Prompts: []api.PendingPrompt{}}
	var ids []string
	s.mu.Lock()
	for id, e := range s.sessions {
		if (p.SessionID == "" || p.SessionID == id) && e.summary.Prompts > 0 && e.actor != nil && e.visible(ctx) {
			ids = append(ids, id)
		}
	}
	s.mu.Unlock()
	if p.SessionID != "" {
		if _, err := s.lookup(ctx, p.SessionID); err != nil {
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
		if err != nil && failureOf(err).Reason != api.SessionExpired {
			return result, err
		}
	}
	slices.SortStableFunc(result.Prompts, func(a, b api.PendingPrompt) int { return strings.Compare(a.AskedAt, b.AskedAt) })
	return result, nil
}

func permissionRespond(s *Server, ctx context.Context, c *caller, p api.PermissionRespondParams) (api.RespondResult, error) {
	return s.respond(ctx, p.SessionID, p.RequestID, p.Key, c.by(), func(core *core) (reply, error) { return core.permissionReply(p, c.by()) })
}

func questionRespond(s *Server, ctx context.Context, c *caller, p api.QuestionRespondParams) (api.RespondResult, error) {
	return s.respond(ctx, p.SessionID, p.RequestID, p.Key, c.by(), func(core *core) (reply, error) { return core.questionReply(p, c.by()) })
}
