package session

import (
	"context"
	"slices"

	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/place"
	"github.com/seed7221b0f9/parley/workspace"
)

// maxTaken is the number of reverts of a session that can be undone. The oldest are dropped first.
const maxTaken = 100

// taken is a revert that can be undone, with the files before and after it as git trees.
type taken struct {
	api.WorkspaceReverted
	Before string `json:"before"`
	After  string `json:"after"`
}

// took returns the reverts of the session including a new one.
func (f *files) took(ctx context.Context, p api.WorkspaceRevertParams, before string) ([]taken, error) {
	after, err := f.tree.Snapshot(ctx)
	if err != nil {
		return nil, WorkspaceFailure(err)
	}
	t := taken{WorkspaceReverted: api.WorkspaceReverted{ID: "r-" + random.Hex(6), File: p.File, Hunk: p.Hunk, TurnID: p.Turn}, Before: before, After: after.Tree}
	if hunk, err := t.hunk(ctx, f.tree); err != nil {
		return nil, err
	} else if t.Hunk != "" {
		t.From, t.To, t.Section = int64(hunk.OldStart), int64(hunk.OldStart+max(1, hunk.OldLines)-1), hunk.Section
	}
	all := append(slices.Clone(f.core.Taken), t)
	return all[max(0, len(all)-maxTaken):], nil
}

// hunk returns the lines that a revert has changed: the first hunk of its file.
func (t taken) hunk(ctx context.Context, tree place.Tree) (workspace.Hunk, error) {
	d, err := tree.Diff(ctx, t.Before, t.After)
	if err != nil {
		return workspace.Hunk{}, WorkspaceFailure(err)
	}
	for _, file := range d.Files {
		if file.Path == t.File && len(file.Hunks) > 0 {
			return file.Hunks[0], nil
		}
	}
	return workspace.Hunk{}, nil
}

// Restore undoes a revert in the files of a session.
func (s Workspaces) Restore(ctx context.Context, p api.WorkspaceRestoreParams, by string) (api.WorkspaceDiffResult, error) {
	f, release, err := s.files(ctx, p.SessionID, p.Key)
	if err != nil {
		return api.WorkspaceDiffResult{}, err
	}
	defer release()
	if _, done := f.core.accepted(p.Key); done {
		return f.diff(ctx, s.Sessions, p.WorkspaceScope, "")
	}
	if err := f.idle(); err != nil {
		return api.WorkspaceDiffResult{}, err
	}
	i := slices.IndexFunc(f.core.Taken, func(t taken) bool { return t.ID == p.ID })
	if i < 0 {
		return api.WorkspaceDiffResult{}, Invalid("revert %q not found: it was undone, or is part of a commit", p.ID)
	}
	t := f.core.Taken[i]
	ctx, cancel := s.Undisturbed(ctx)
	defer cancel()
	o := workspace.RevertOptions{From: t.Before, To: t.After, File: t.File}
	if t.Hunk != "" {
		hunk, err := t.hunk(ctx, f.tree)
		if err != nil {
			return api.WorkspaceDiffResult{}, err
		}
		o.Hunk = hunk.ID
	}
	if _, err := f.tree.Revert(ctx, o); err != nil {
		return api.WorkspaceDiffResult{}, WorkspaceFailure(err)
	}
	all := slices.Delete(slices.Clone(f.core.Taken), i, i+1)
	if err := f.tell(ctx, api.WorkspaceEvent{Event: "restored", TurnID: t.TurnID, File: t.File, Hunk: t.Hunk, By: by}, p.Key, &all); err != nil {
		return api.WorkspaceDiffResult{}, err
	}
	return f.diff(ctx, s.Sessions, p.WorkspaceScope, "")
}
