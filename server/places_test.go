package server

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed7221b0f9/parley/server/api"
)

// A list has the branch of a session, the repository of its worktree, and how many turns it had.
func TestSessionList_places(t *testing.T) {
	h := newHarness(t)
	repo := filepath.Join(h.opts.Directories[0], "harbour")
	if err := os.Mkdir(repo, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "tides"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "x"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = repo, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.dir}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	var plain, tree api.ConnectResult
	h.call("session.connect", api.ConnectParams{CWD: repo}, &plain)
	var made api.WorkspaceResult
	h.call("workspace.create", api.WorkspaceCreateParams{Repo: repo, Branch: "wt/pilot"}, &made)
	h.call("session.connect", api.ConnectParams{WorkspaceID: made.Workspace.ID}, &tree)
	w := h.watch(plain.SessionID)
	h.query(plain.SessionID, "say hello")
	w.results(1)
	var list api.ListResult
	h.call("session.list", api.ListParams{}, &list)
	got := map[string]api.SessionSummary{}
	for _, s := range list.Sessions {
		got[s.SessionID] = s
	}
	if s := got[plain.SessionID]; s.Branch != "tides" || s.Repo != "" || s.Turns != 1 {
		t.Errorf("a session in a checkout: branch %q, repo %q, %d turns; want tides, none, 1", s.Branch, s.Repo, s.Turns)
	}
	if s := got[tree.SessionID]; s.Branch != "wt/pilot" || filepath.Base(s.Repo) != "harbour" {
		t.Errorf("a session in a worktree: branch %q, repo %q; want wt/pilot of harbour", s.Branch, s.Repo)
	}
}
