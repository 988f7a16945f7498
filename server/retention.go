package server

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/retention"
	"github.com/seed7221b0f9/parley/server/session"
)

// retentionInterval is the interval at which the limits are enforced, and measureTime the time limit of one run.
const (
	retentionInterval = time.Hour
	measureTime       = 10 * time.Minute
)

// worktreesDir is the directory of the worktrees of package workspace.
var worktreesDir = filepath.Join(workspacesDir, "trees")

// Folders returns the directories of a server's data by kind, as in [Options].Dir.
func Folders(dir string) []retention.Kind {
	kind := func(name, sub string) retention.Kind {
		path := filepath.Join(dir, sub)
		return retention.Kind{
			Name:    name,
			Measure: func(ctx context.Context) (retention.Size, error) { return retention.Folder(ctx, path) },
			Oldest:  func(context.Context) ([]string, error) { return retention.ByAge(path) },
		}
	}
	spools := kind("spools", shownDir)
	spools.Oldest = nil // they are emptied when the log includes their content
	return []retention.Kind{kind("uploads", uploadsDir), kind("worktrees", worktreesDir), spools}
}

// kinds returns the kinds of data of the server.
func (s *Server) kinds() []retention.Kind {
	all := append([]retention.Kind{{Name: "logs", Measure: s.measureLogs, Oldest: s.oldestSessions, Delete: s.expireSession}}, Folders(s.opts.Dir)...)
	for i := range all {
		switch all[i].Name {
		case "uploads":
			all[i].Delete = s.expireUploads
		case "worktrees":
			all[i].Delete = s.expireWorktree
		}
	}
	if s.opts.Archive != "" {
		all = append(all, retention.Kind{Name: "archives", Measure: func(ctx context.Context) (retention.Size, error) {
			return retention.Folder(ctx, s.opts.Archive)
		}})
	}
	return all
}

func (s *Server) measureLogs(ctx context.Context) (retention.Size, error) {
	use, err := s.opts.Store.Usage(ctx)
	if err != nil {
		return retention.Size{}, err
	}
	size := retention.Size{Bytes: use.Bytes}
	for _, info := range s.sessions.All(ctx) {
		size.Items++
		if t, err := time.Parse(time.RFC3339Nano, info.UpdatedAt); err == nil && (size.Oldest.IsZero() || t.Before(size.Oldest)) {
			size.Oldest = t
		}
	}
	return size, nil
}

// quiet reports whether a session is inactive: it has no viewers and no pending work.
func quiet(i session.Info) bool {
	switch session.State(i.State) {
	case session.Idle, session.Ended, session.Interrupted:
		return i.Viewers == 0 && i.Queued == 0 && i.Prompts == 0 && i.Live == ""
	}
	return false
}

func (s *Server) oldestSessions(ctx context.Context) (ids []string, err error) {
	all := slices.DeleteFunc(s.sessions.All(ctx), func(i session.Info) bool { return !quiet(i) })
	slices.SortFunc(all, func(a, b session.Info) int {
		return cmp.Or(cmp.Compare(a.UpdatedAt, b.UpdatedAt), cmp.Compare(a.SessionID, b.SessionID))
	})
	for _, i := range all {
		ids = append(ids, i.SessionID)
	}
	return ids, nil
}

func (s *Server) expireSession(ctx context.Context, id string) error {
	if i, err := s.sessions.Lookup(ctx, id); err != nil || !quiet(i) {
		return retention.ErrKept // no longer quiet
	}
	_, err := deleteSession(s, ctx, nil, api.SessionDeleteParams{SessionID: id})
	return err
}

func (s *Server) expireUploads(ctx context.Context, id string) error {
	if i, err := s.sessions.Lookup(ctx, id); err == nil && !quiet(i) {
		return retention.ErrKept
	}
	return s.removeUploads(ctx, id)
}

// expireWorktree removes a worktree unless an active session uses it or work in it would be lost. Its branch stays.
func (s *Server) expireWorktree(ctx context.Context, id string) error {
	for _, user := range s.sessions.WorkspaceUsers(id) {
		if i, err := s.sessions.Lookup(ctx, user); err == nil && !quiet(i) {
			return retention.ErrKept
		}
	}
	_, err := workspaceRemove(s, ctx, &caller{principal: &principal{id: limitCaller, role: roleAdmin}}, api.WorkspaceRemoveParams{ID: id, KeepBranch: true})
	if err != nil && session.FailureOf(err).Reason == api.Conflict {
		return retention.ErrKept
	}
	return err
}

// limitCaller is the caller for deletions by a limit, in the audit log and in notices.
const limitCaller = "limit"

// keepLimits deletes data over a limit, at the start and every hour, until the server ends.
func (s *Server) keepLimits() {
	if len(s.opts.Limits) == 0 {
		return
	}
	s.wg.Go(func() {
		ticker := time.NewTicker(retentionInterval)
		defer ticker.Stop()
		for {
			s.enforceLimits(s.ctx)
			select {
			case <-ticker.C:
			case <-s.ctx.Done():
				return
			}
		}
	})
}

// enforceLimits deletes data over a limit.
func (s *Server) enforceLimits(ctx context.Context) {
	for _, k := range s.kinds() {
		limit := s.opts.Limits[k.Name]
		if limit <= 0 {
			continue
		}
		looking, cancel := context.WithTimeout(ctx, measureTime)
		deleted, err := k.Enforce(looking, limit)
		cancel()
		for _, id := range deleted {
			s.logger.Info("the oldest was deleted because of a limit", "kind", k.Name, "id", id, "limit_mb", limit>>20)
			row := api.AuditRow{By: limitCaller, Method: "server.storage", SessionID: id, Outcome: "ok"}
			if err := s.audit.add(context.WithoutCancel(ctx), row); err != nil {
				s.logger.Warn("a deletion is not in the audit", "err", err)
			}
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			s.logger.Warn("a limit was not stored", "kind", k.Name, "err", err)
		}
	}
}

// serverStorage measures the size of the server's data.
func serverStorage(s *Server, ctx context.Context, _ *caller, _ api.Empty) (api.ServerStorageResult, error) {
	result := api.ServerStorageResult{Kinds: []api.StorageKind{}}
	for _, k := range s.kinds() {
		size, err := k.Measure(ctx)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return result, err
		}
		row := api.StorageKind{Name: k.Name, Bytes: size.Bytes, Items: size.Items, AtLeast: size.AtLeast, LimitBytes: s.opts.Limits[k.Name]}
		if !size.Oldest.IsZero() {
			row.Oldest = session.Timestamp(size.Oldest)
		}
		result.Kinds = append(result.Kinds, row)
	}
	return result, nil
}
