package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
	"github.com/seed7221b0f9/parley/workspace"
)

func workspaceCreate(s *Server, ctx context.Context, c *caller, p api.WorkspaceCreateParams) (api.WorkspaceResult, error) {
	if err := s.sessions.Working(); err != nil {
		return api.WorkspaceResult{}, err
	}
	repo, err := s.directory(p.Repo)
	if err != nil {
		return api.WorkspaceResult{}, err
	}
	o := workspace.CreateOptions{Repo: repo, Base: p.Base, Branch: p.Branch, Setup: p.Setup, Owner: c.tenant}
	if p.Key != "" {
		sum := sha256.Sum256([]byte("workspace\x00" + c.id + "\x00" + p.Key))
		o.ID = "w-" + hex.EncodeToString(sum[:6])
	}
	ctx, cancel := s.sessions.Undisturbed(ctx)
	defer cancel()
	w, err := s.workspaces.Create(ctx, o)
	if err != nil {
		return api.WorkspaceResult{}, session.WorkspaceFailure(err)
	}
	return api.WorkspaceResult{Workspace: *s.sessions.WireWorkspace(w), Output: w.Output}, nil
}

func workspaceList(s *Server, _ context.Context, c *caller, _ api.Empty) (api.WorkspaceListResult, error) {
	result := api.WorkspaceListResult{Workspaces: []api.Workspace{}}
	all, err := s.workspaces.List()
	for _, w := range all {
		if c.sees(w.Owner) {
			result.Workspaces = append(result.Workspaces, *s.sessions.WireWorkspace(w))
		}
	}
	return result, session.WorkspaceFailure(err)
}

// workspace returns a workspace that a caller may see.
func (s *Server) workspace(c *caller, id string) (workspace.Workspace, error) {
	w, err := s.workspaces.Get(id)
	if err == nil && !c.sees(w.Owner) {
		err = fmt.Errorf("%w: workspace %q", workspace.ErrNotFound, id)
	}
	return w, session.WorkspaceFailure(err)
}

func workspaceRemove(s *Server, ctx context.Context, c *caller, p api.WorkspaceRemoveParams) (api.Empty, error) {
	id := p.ID
	if p.SessionID != "" {
		e, err := s.sessions.Lookup(ctx, p.SessionID)
		if err != nil {
			return api.Empty{}, err
		}
		if id = e.Workspace; id == "" {
			return api.Empty{}, session.Fail(api.Unsupported, "the session has no workspace of its own")
		}
	}
	if _, err := s.workspace(c, id); err != nil {
		return api.Empty{}, err
	}
	users := s.sessions.WorkspaceUsers(id)
	if others := slices.DeleteFunc(slices.Clone(users), func(u string) bool { return u == p.SessionID }); len(others) > 0 && p.SessionID != "" && !p.Force {
		return api.Empty{}, session.Conflict("session %s runs in the workspace too", others[0])
	}
	ctx, cancel := s.sessions.Undisturbed(ctx)
	defer cancel()
	for _, user := range users {
		if err := session.Of[session.Workspaces](s.sessions).Leave(ctx, user, p.Force); err != nil {
			return api.Empty{}, err
		}
	}
	err := s.workspaces.Remove(ctx, id, workspace.RemoveOptions{Force: p.Force, KeepBranch: p.KeepBranch})
	if err != nil {
		return api.Empty{}, session.WorkspaceFailure(err)
	}
	for _, user := range users {
		if err := session.Of[session.Workspaces](s.sessions).Removed(ctx, user, c.by()); err != nil {
			s.logger.Warn("a session was not told that its workspace is gone", "session", user, "err", err)
		}
	}
	return api.Empty{}, nil
}
