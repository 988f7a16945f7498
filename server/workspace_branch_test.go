package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// branch returns the position of a session's branch.
func (r *repoHarness) branch(session string) api.WorkspaceBranchResult {
	r.Helper()
	var b api.WorkspaceBranchResult
	r.call("workspace.branch", api.SessionRef{SessionID: session}, &b)
	return b
}

// TestWorkspace_branch reverts a hunk and restores it, commits another one, then pushes and merges
// the branch.
func TestWorkspace_branch(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
	r := newRepoHarness(t)
	remote := filepath.Join(t.TempDir(), "remote.git")
	r.git(r.repo, "init", "-q", "--bare", remote)
	r.git(r.repo, "remote", "add", "origin", remote)
	ws, id := r.workspace()
	changed := strings.NewReplacer("line 2\n", "line two\n", "line 30\n", "line thirty\n").Replace(numbered(40))
	r.turn(id, func() { writeFile(t, filepath.Join(ws.Path, "a.txt"), changed) })
	head := api.WorkspaceScope{Against: "head"}
	hunks := r.fileOf(r.diff(id, head), "a.txt").Hunks
	var d api.WorkspaceDiffResult
	r.call("workspace.revert", api.WorkspaceRevertParams{SessionID: id, WorkspaceScope: head, File: "a.txt", Hunk: hunks[1].ID}, &d)
	if len(d.Reverted) != 1 || d.Reverted[0].File != "a.txt" || d.Reverted[0].From != 27 || d.Reverted[0].To != 33 || len(r.fileOf(d, "a.txt").Hunks) != 1 {
		t.Fatalf("after the revert: %+v", d.Reverted)
	}
	back := api.WorkspaceRestoreParams{SessionID: id, WorkspaceScope: head, ID: d.Reverted[0].ID, Idempotency: api.Idempotency{Key: "back"}}
	var after api.WorkspaceDiffResult
	r.call("workspace.restore", back, &after)
	if len(after.Reverted) != 0 || contentOf(t, filepath.Join(ws.Path, "a.txt")) != changed {
		t.Errorf("the hunk did not come back: %+v", after.Reverted)
	}
	r.call("workspace.restore", back, nil) // the same key again
	back.Key = "again"
	r.refused(api.InvalidParams, "workspace.restore", back)
	r.call("workspace.commit", api.WorkspaceCommitParams{SessionID: id, Message: "One hunk", Hunks: map[string][]string{"a.txt": {hunks[0].ID}}}, nil)
	if got := r.git(ws.Path, "show", "HEAD:a.txt") + "\n"; got != strings.Replace(numbered(40), "line 2\n", "line two\n", 1) {
		t.Errorf("the commit has\n%s", got)
	}
	if b := r.branch(id); b.Branch != ws.Branch || b.Target != "main" || b.Ahead != 1 || b.Behind != 0 || b.URL != remote || b.Pushed || b.CompareURL != "" {
		t.Errorf("the branch is %+v", b)
	}
	r.refused(api.Conflict, "workspace.merge", api.WorkspaceMergeParams{SessionID: id, Target: "main"}) // an uncommitted hunk is left
	r.call("workspace.commit", api.WorkspaceCommitParams{SessionID: id, Message: "The rest"}, nil)
	r.refused(api.InvalidParams, "workspace.push", api.WorkspacePushParams{SessionID: id, URL: remote + "x"})
	r.call("workspace.push", api.WorkspacePushParams{SessionID: id, URL: remote}, nil)
	if r.git(remote, "rev-parse", ws.Branch) != r.git(ws.Path, "rev-parse", "HEAD") || !r.branch(id).Pushed {
		t.Error("the remote does not have the branch")
	}
	r.refused(api.Conflict, "workspace.merge", api.WorkspaceMergeParams{SessionID: id, Target: "other"})
	var m api.WorkspaceMergeResult
	r.call("workspace.merge", api.WorkspaceMergeParams{SessionID: id, Target: "main"}, &m)
	if !m.FastForward || m.Commits != 2 || contentOf(t, filepath.Join(r.repo, "a.txt")) != changed || contentOf(t, filepath.Join(r.repo, "mine.txt")) != "mine, changed\n" {
		t.Errorf("the merge is %+v", m)
	}
}

// TestWorkspace_waited checks that the result of a turn contains the time in which a request waited
// for a person.
func TestWorkspace_waited(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
	r := newRepoHarness(t)
	_, id := r.workspace()
	r.turn(id, func() { r.git(r.repo, "status") })
	items := r.history(id).Threads[0].Items
	last := items[len(items)-1].Result
	if last == nil || last.WaitedMS <= 0 || last.WaitedMS > last.DurationMS {
		t.Errorf("the result is %+v", last)
	}
}

func contentOf(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
