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
	at, repo, err := s.placeAt(c, p.Machine, p.Repo)
	if err != nil {
		return api.WorkspaceResult{}, err
	}
	o := workspace.CreateOptions{Repo: repo, Base: p.Base, Branch: p.Branch, Setup: p.Setup, Owner: c.tenant}
	if p.Key != "" {
		sum := sha256.Sum256([]byte("workspace\x00" + p.Machine + c.id + "\x00" + p.Key))
		o.ID = "w-" + hex.EncodeToString(sum[:6])
	}
	ctx, cancel := s.sessions.Undisturbed(ctx)
	defer cancel()
	w, err := at.Create(ctx, o)
	if err != nil {
		return api.WorkspaceResult{}, session.WorkspaceFailure(err)
	}
	return api.WorkspaceResult{Workspace: *s.sessions.WireWorkspace(p.Machine, w), Output: w.Output}, nil
}

func workspaceList(s *Server, ctx context.Context, c *caller, p api.WorkspaceListParams) (api.WorkspaceListResult, error) {
	result := api.WorkspaceListResult{Workspaces: []api.Workspace{}}
	at, err := s.placeFor(c, p.Machine)
	if err != nil {
		return result, err
	}
	all, err := at.List(ctx)
	for _, w := range all {
		if c.sees(w.Owner) {
			result.Workspaces = append(result.Workspaces, *s.sessions.WireWorkspace(p.Machine, w))
		}
	}
	return result, session.WorkspaceFailure(err)
}

// workspace returns a workspace of a machine that a caller may see.
func (s *Server) workspace(ctx context.Context, c *caller, machine, id string) (workspace.Workspace, error) {
	at, err := s.placeFor(c, machine)
	if err != nil {
		return workspace.Workspace{}, err
	}
	w, err := at.Get(ctx, id)
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
		p.Machine = e.Machine
		if id = e.Workspace; id == "" {
			return api.Empty{}, session.Fail(api.Unsupported, "the session has no workspace")
		}
	}
	if _, err := s.workspace(ctx, c, p.Machine, id); err != nil {
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
	at, err := s.placeFor(c, p.Machine)
	if err == nil {
		err = at.Remove(ctx, id, workspace.RemoveOptions{Force: p.Force, KeepBranch: p.KeepBranch})
	}
	if err != nil {
		return api.Empty{}, session.WorkspaceFailure(err)
	}
	for _, user := range users {
		if err := session.Of[session.Workspaces](s.sessions).Removed(ctx, user, c.by()); err != nil {
			s.logger.Warn("a session was not notified that its workspace was removed", "session", user, "err", err)
		}
	}
	return api.Empty{}, nil
}
