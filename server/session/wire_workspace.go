package session

import (
	"strings"

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/workspace"
)

// WireWorkspace is a workspace in the terms of package api.
func (s *Sessions) WireWorkspace(w workspace.Workspace) *api.Workspace {
	return &api.Workspace{ID: w.ID, Path: w.Path, Repo: w.Repo, Base: w.Base, Branch: w.Branch, Sessions: s.WorkspaceUsers(w.ID)}
}

func wireFile(f workspace.File) api.WorkspaceFile {
	return api.WorkspaceFile{
		Path: f.Path, OldPath: f.OldPath, Kind: f.Kind, OldMode: f.OldMode, NewMode: f.NewMode, OldSize: f.OldSize, NewSize: f.NewSize,
		Binary: f.Binary, Large: f.Large, Truncated: f.Truncated, Untracked: f.Untracked, Added: int64(f.Added), Removed: int64(f.Removed),
		Hunks: wireHunks(f.Hunks),
	}
}

func wireHunks(hunks []workspace.Hunk) []api.WorkspaceHunk {
	all := []api.WorkspaceHunk{}
	for _, h := range hunks {
		lines := make([]string, len(h.Lines))
		for i, line := range h.Lines {
			lines[i] = strings.ToValidUTF8(line, "�")
		}
		all = append(all, api.WorkspaceHunk{
			ID: h.ID, OldStart: int64(h.OldStart), OldLines: int64(h.OldLines), NewStart: int64(h.NewStart), NewLines: int64(h.NewLines), Section: h.Section, Lines: lines,
		})
	}
	return all
}
