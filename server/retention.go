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

// retentionInterval is how often the limits are looked at, and measureTime how long one look may take.
const (
	retentionInterval = time.Hour
	measureTime       = 10 * time.Minute
)

// worktreesDir is where package workspace has the worktrees themselves.
var worktreesDir = filepath.Join(workspacesDir, "trees")

// Folders returns the directories of a server's data by kind: what is in [Options].Dir.
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
	spools.Oldest = nil // they are emptied when the log has what is in them
	return []retention.Kind{kind("uploads", uploadsDir), kind("worktrees", worktreesDir), spools}
}

// kinds are the kinds of data that the server keeps.
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

// quiet reports whether nothing happens in a session: nobody looks at it, and it waits for nobody.
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
		return retention.ErrKept // by now
	}
	_, err := deleteSession(s, ctx, nil, api.SessionDeleteParams{SessionID: id})
	return err
}

func (s *Server) expireUploads(ctx context.Context, id string) error {
	if i, err := s.sessions.Lookup(ctx, id); err == nil && !quiet(i) {
		return retention.ErrKept
	}
	return s.removeUploads(id)
}

// expireWorktree removes a worktree unless a session that is not quiet uses it or work in it would be lost. Its branch stays.
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

// limitCaller is who deletes by a limit, in the audit and in notices.
const limitCaller = "limit"

// keepLimits deletes what is over a limit, at the start and every hour, until the server ends.
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

// enforceLimits deletes what is over a limit now.
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
			s.logger.Warn("a limit is not kept", "kind", k.Name, "err", err)
		}
	}
}

// serverStorage measures what the data of the server takes.
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
