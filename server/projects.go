package server

import (
	"cmp"
	"context"
	"slices"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/place"
	"github.com/seed7221b0f9/parley/server/session"
)

// recentFromHistory is the number of sessions of each history whose folders are listed;
// maxRecentDirs limits the folders.
const (
	recentFromHistory = 40
	maxRecentDirs     = 200
)

// projectsList lists folders in which sessions can start.
func projectsList(s *Server, ctx context.Context, c *caller, p api.ProjectsListParams) (api.ProjectsListResult, error) {
	at, dir, err := s.placeAt(c, p.Machine, p.Path)
	if err != nil {
		return api.ProjectsListResult{}, err
	}
	q := place.ProjectsQuery{Query: p.Query, Limit: int(p.Limit)}
	if p.Path == "" {
		q.Recent = s.recentDirs(ctx, c, p.Machine)
	} else {
		q.Path = dir
	}
	return at.Projects(ctx, q)
}

// recentDirs returns the directories of the server's sessions and of the histories, newest first and without
// duplicates.
func (s *Server) recentDirs(ctx context.Context, c *caller, machine string) []string {
	type used struct{ dir, at string }
	var all []used
	for _, e := range s.sessions.All(ctx) {
		if e.Machine == machine {
			all = append(all, used{e.CWD, e.UpdatedAt})
		}
	}
	if kept, err := s.histories(ctx, c, machine, ""); err == nil {
		for _, h := range kept {
			list, _, err := h.List(ctx, agent.HistoryQuery{Limit: recentFromHistory})
			if err != nil {
				continue // an unreadable history has no folders
			}
			for _, one := range list {
				all = append(all, used{one.Dir, session.Timestamp(one.Modified)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b used) int { return cmp.Compare(b.at, a.at) })
	var dirs []string
	for _, u := range all {
		if u.dir != "" && len(dirs) < maxRecentDirs && !slices.Contains(dirs, u.dir) {
			dirs = append(dirs, u.dir)
		}
	}
	return dirs
}

// location describes for people where a session runs: the repository of a worktree, and the branch.
type location struct{ repo, branch string }

// lookups caches the directories that a list looks up.
type lookups struct {
	server *Server
	known  map[string]location
}

func (p lookups) of(workspaceID, dir string) location {
	at, ok := p.known[dir]
	if ok {
		return at
	}
	at.branch = p.server.local.BranchOf(dir)
	if workspaceID != "" {
		if w, err := p.server.workspaces.Get(workspaceID); err == nil { // a removed workspace has no name
			at.repo = w.Repo
			if at.branch == "" {
				at.branch = w.Branch
			}
		}
	}
	p.known[dir] = at
	return at
}
