package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
	"github.com/seed7221b0f9/parley/workspace"
)

// repoHarness is a harness with a repository of numbered lines as the directory for sessions, and
// an uncommitted change of the user.
type repoHarness struct {
	*harness
	repo string
	env  []string
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func newRepoHarness(t *testing.T, change ...func(*Options)) *repoHarness {
	t.Helper()
	r := &repoHarness{}
	home := t.TempDir()
	writeFile(t, filepath.Join(home, ".gitconfig"), "[user]\n\tname = U\n\temail = u@example.invalid\n[init]\n\tdefaultBranch = main\n")
	r.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
	r.harness = newHarness(t, append([]func(*Options){func(o *Options) { o.GitEnv, o.Env = r.env, r.env }}, change...)...)
	r.repo = r.server.opts.Directories[0]
	r.git(r.repo, "init", "-q")
	for name, text := range map[string]string{"a.txt": numbered(40), "b.txt": numbered(20), "mine.txt": "mine\n"} {
		writeFile(t, filepath.Join(r.repo, name), text)
	}
	r.git(r.repo, "add", ".")
	r.git(r.repo, "commit", "-qm", "one")
	writeFile(t, filepath.Join(r.repo, "mine.txt"), "mine, changed\n")
	return r
}

func (r *repoHarness) git(dir string, args ...string) string {
	r.Helper()
	cmd := exec.CommandContext(r.ctx(), "git", args...)
	cmd.Dir, cmd.Env = dir, r.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// workspace creates a workspace and a session in it.
func (r *repoHarness) workspace() (api.Workspace, string) {
	r.Helper()
	var ws api.WorkspaceResult
	r.call("workspace.create", api.WorkspaceCreateParams{Repo: r.repo, Setup: "echo set up"}, &ws)
	if ws.Output != "set up\n" {
		r.Errorf("the setup command said %q", ws.Output)
	}
	var c api.ConnectResult
	r.call("session.connect", api.ConnectParams{WorkspaceID: ws.Workspace.ID}, &c)
	if c.CWD != ws.Workspace.Path {
		r.Fatalf("the session runs in %s", c.CWD)
	}
	return ws.Workspace, c.SessionID
}

// turn runs a turn in which an agent performs work: it asks for a permission first.
func (r *repoHarness) turn(id string, work func()) string {
	r.Helper()
	w := r.watch(id)
	defer w.stop()
	n := int(r.history(id).Totals.Turns)
	turn := r.query(id, "tool Bash").TurnID
	w.state(session.RequiresAction)
	work()
	r.call("permission.respond", api.PermissionRespondParams{SessionID: id, RequestID: r.history(id).Prompts[0].RequestID(), Behavior: "allow"}, nil)
	w.results(n + 1)
	return turn
}

func (r *repoHarness) diff(session string, scope api.WorkspaceScope) api.WorkspaceDiffResult {
	r.Helper()
	var d api.WorkspaceDiffResult
	r.call("workspace.diff", api.WorkspaceDiffParams{SessionID: session, WorkspaceScope: scope}, &d)
	return d
}

// fileOf returns one file of a diff.
func (r *repoHarness) fileOf(d api.WorkspaceDiffResult, path string) api.WorkspaceFile {
	r.Helper()
	i := slices.IndexFunc(d.Files, func(f api.WorkspaceFile) bool { return f.Path == path })
	if i < 0 {
		r.Fatalf("the diff has no %s: %+v", path, d.Files)
	}
	return d.Files[i]
}

func edit(t *testing.T, path, old, new string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(data), old) {
		t.Fatalf("%s has no %q: %v", path, old, err)
	}
	writeFile(t, path, strings.Replace(string(data), old, new, 1))
}

func TestWorkspaceTurns(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
	r := newRepoHarness(t)
	status := r.git(r.repo, "status", "--porcelain=v2", "--branch")
	ws, id := r.workspace()
	w := r.watch(id)
	path := func(name string) string { return filepath.Join(ws.Path, name) }
	one := r.turn(id, func() {
		edit(t, path("a.txt"), "line 5\n", "five\n")
		edit(t, path("a.txt"), "line 30\n", "")
		r.refused(api.Conflict, "workspace.revert", api.WorkspaceRevertParams{SessionID: id, File: "a.txt"})
		r.refused(api.Conflict, "workspace.commit", api.WorkspaceCommitParams{SessionID: id, Message: "x"})
		r.refused(api.Conflict, "workspace.remove", api.WorkspaceRemoveParams{SessionID: id})
		if f := r.fileOf(r.diff(id, api.WorkspaceScope{Turn: r.diff(id, api.WorkspaceScope{}).Turns[0].TurnID}), "a.txt"); len(f.Hunks) != 2 {
			t.Errorf("the diff of a turn that runs: %+v", f)
		}
	})
	two := r.turn(id, func() { writeFile(t, path("new.txt"), "new\n") })
	three := r.turn(id, func() {})
	if d := r.diff(id, api.WorkspaceScope{Turn: one}); len(d.Files) != 1 || len(r.fileOf(d, "a.txt").Hunks) != 2 {
		t.Errorf("turn one: %+v", d.Files)
	}
	if d := r.diff(id, api.WorkspaceScope{Turn: two}); len(d.Files) != 1 || r.fileOf(d, "new.txt").Kind != workspace.Added {
		t.Errorf("turn two: %+v", d.Files)
	}
	d := r.diff(id, api.WorkspaceScope{})
	if want := []api.WorkspaceTurn{{TurnID: one, Ended: true, Changed: true}, {TurnID: two, Ended: true, Changed: true}, {TurnID: three, Ended: true}}; !slices.Equal(d.Turns, want) {
		t.Errorf("the turns are %+v, want %+v", d.Turns, want)
	}
	if len(d.Files) != 2 || d.Workspace == nil || d.Workspace.ID != ws.ID || d.Branch != ws.Branch || d.Head != ws.Base {
		t.Errorf("the diff is %+v", d)
	}
	w.until("the events", func(*uiConversation) bool { return len(workspaceEvents(w)) >= 6 })
	w.stop()
	if got, want := workspaceEvents(w), []string{"turn_started", "turn_ended true", "turn_started", "turn_ended true", "turn_started", "turn_ended"}; !slices.Equal(got, want) {
		t.Errorf("the events are %q, want %q", got, want)
	}
	r.restart()
	if again := r.diff(id, api.WorkspaceScope{}); !slices.Equal(again.Turns, d.Turns) || len(again.Files) != 2 {
		t.Errorf("after a restart: %+v", again)
	}
	r.refused(api.InvalidParams, "workspace.diff", api.WorkspaceDiffParams{SessionID: id, WorkspaceScope: api.WorkspaceScope{Turn: "none"}})
	if got := r.git(r.repo, "status", "--porcelain=v2", "--branch"); got != status {
		t.Errorf("the user's checkout is\n%s\nit was\n%s", got, status)
	}
}

// workspaceEvents returns the events of files that a viewer has seen.
func workspaceEvents(w *watcher) []string {
	var all []string
	for _, m := range w.events { // until holds the lock, or the viewer has stopped
		var info struct {
			Workspace *api.WorkspaceEvent
		}
		if json.Unmarshal(event.Members(m)["workspace"], &info.Workspace) == nil && info.Workspace != nil {
			text := info.Workspace.Event
			if info.Workspace.Changed {
				text += " true"
			}
			all = append(all, text)
		}
	}
	return all
}

func TestWorkspaceRevertAndCommit(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
	r := newRepoHarness(t)
	ws, id := r.workspace()
	path := filepath.Join(ws.Path, "a.txt")
	r.turn(id, func() {
		edit(t, path, "line 5\n", "five\n")
		edit(t, path, "line 30\n", "thirty\n")
	})
	hunks := r.fileOf(r.diff(id, api.WorkspaceScope{}), "a.txt").Hunks
	revert := api.WorkspaceRevertParams{SessionID: id, File: "a.txt", Hunk: hunks[0].ID, Idempotency: api.Idempotency{Key: "k"}}
	for range 2 { // a retry finds it done
		var after api.WorkspaceDiffResult
		r.call("workspace.revert", revert, &after)
		if f := r.fileOf(after, "a.txt"); len(f.Hunks) != 1 || f.Hunks[0].ID != hunks[1].ID {
			t.Errorf("after the revert: %+v", f.Hunks)
		}
	}
	edit(t, path, "thirty", "THIRTY")
	err := r.client(r.token).Call(r.ctx(), "workspace.revert", api.WorkspaceRevertParams{SessionID: id, File: "a.txt", Hunk: hunks[1].ID}, nil)
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Data.Reason != api.Conflict || len(e.Data.Hunks) != 1 || !slices.Contains(e.Data.Hunks[0].Lines, "+THIRTY") {
		t.Errorf("a stale hunk: %v", err)
	}
	r.refused(api.InvalidParams, "workspace.revert", api.WorkspaceRevertParams{SessionID: id, File: "../x"})
	r.refused(api.Conflict, "workspace.remove", api.WorkspaceRemoveParams{SessionID: id})

	var first, again api.WorkspaceCommitResult
	commit := api.WorkspaceCommitParams{SessionID: id, Message: "Say thirty", Trailer: true, Idempotency: api.Idempotency{Key: "c"}}
	r.call("workspace.commit", commit, &first)
	r.call("workspace.commit", commit, &again)
	if got := r.git(ws.Path, "log", "-1", "--format=%H%n%B"); got != first.Commit+"\nSay thirty\n\nParley-Session: "+id+"\n" || again.Commit != first.Commit {
		t.Errorf("the commit is %q, the answers %+v and %+v", got, first, again)
	}
	r.refused(api.Conflict, "workspace.commit", api.WorkspaceCommitParams{SessionID: id, Message: "nothing"})
	if d := r.diff(id, api.WorkspaceScope{}); len(d.Commits) != 1 || d.Commits[0].Subject != "Say thirty" || len(d.Files) != 1 {
		t.Errorf("after the commit: %+v", d)
	}
	if d := r.diff(id, api.WorkspaceScope{Against: "head"}); len(d.Files) != 0 {
		t.Errorf("against HEAD: %+v", d.Files)
	}
	var list api.WorkspaceListResult
	r.call("workspace.list", api.Empty{}, &list)
	if len(list.Workspaces) != 1 || !slices.Equal(list.Workspaces[0].Sessions, []string{id}) {
		t.Errorf("the list is %+v", list)
	}
	r.refused(api.Conflict, "workspace.remove", api.WorkspaceRemoveParams{SessionID: id}) // no other branch has the commit
	r.call("workspace.remove", api.WorkspaceRemoveParams{SessionID: id, KeepBranch: true}, nil)
	if r.git(r.repo, "rev-parse", ws.Branch) != first.Commit {
		t.Error("the branch is not at the commit")
	}
	r.refused(api.InvalidParams, "workspace.diff", api.SessionRef{SessionID: id})
}

// TestPlainRepository checks that a session in the user's checkout shows the changes since its
// start, and leaves earlier changes of the user unchanged.
func TestPlainRepository(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
	r := newRepoHarness(t)
	id := r.connect()
	if d := r.diff(id, api.WorkspaceScope{}); len(d.Files) != 0 || d.Workspace != nil {
		t.Errorf("before the first turn: %+v", d)
	}
	index, err := os.ReadFile(filepath.Join(r.repo, ".git", "index"))
	if err != nil {
		t.Fatal(err)
	}
	r.turn(id, func() { edit(t, filepath.Join(r.repo, "a.txt"), "line 5\n", "five\n") })
	r.turn(id, func() { edit(t, filepath.Join(r.repo, "b.txt"), "line 9\n", "nine\n") })
	if d := r.diff(id, api.WorkspaceScope{}); len(d.Files) != 2 {
		t.Errorf("since the session began: %+v", d.Files)
	}
	if d := r.diff(id, api.WorkspaceScope{Against: "head"}); len(d.Files) != 3 {
		t.Errorf("against HEAD: %+v", d.Files)
	}
	r.refused(api.Conflict, "workspace.revert", api.WorkspaceRevertParams{SessionID: id, File: "mine.txt", WorkspaceScope: api.WorkspaceScope{Against: "head"}})
	r.refused(api.Conflict, "workspace.revert", api.WorkspaceRevertParams{SessionID: id, File: "mine.txt"})
	r.call("workspace.revert", api.WorkspaceRevertParams{SessionID: id, File: "b.txt"}, nil)
	r.refused(api.Conflict, "workspace.commit", api.WorkspaceCommitParams{SessionID: id, Message: "x"})
	r.refused(api.Unsupported, "workspace.remove", api.WorkspaceRemoveParams{SessionID: id})
	if now, err := os.ReadFile(filepath.Join(r.repo, ".git", "index")); err != nil || string(now) != string(index) {
		t.Errorf("the user's index has changed: %v", err)
	}
	var c api.WorkspaceCommitResult
	r.call("workspace.commit", api.WorkspaceCommitParams{SessionID: id, Message: "x", Checkout: true}, &c)
	if got := r.git(r.repo, "status", "--porcelain"); !slices.Equal(c.Files, []string{"a.txt"}) || got != " M mine.txt" {
		t.Errorf("committed %v, the status is %q", c.Files, got)
	}
	r.call("session.delete", api.SessionDeleteParams{SessionID: id}, nil)
	if got := r.git(r.repo, "for-each-ref", "refs/parley"); got != "" {
		t.Errorf("refs are left: %s", got)
	}
}

func TestWorkspaceAccess(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
	r := newRepoHarness(t)
	ws, id := r.workspace()
	var tk api.TokensCreateResult
	r.call("tokens.create", api.TokensCreateParams{Role: "viewer"}, &tk)
	viewer := r.client(tk.Token)
	for method, params := range map[string]any{
		"workspace.create": api.WorkspaceCreateParams{Repo: r.repo}, "workspace.diff": api.SessionRef{SessionID: id}, "workspace.revert": api.SessionRef{SessionID: id},
		"workspace.commit": api.SessionRef{SessionID: id}, "workspace.remove": api.WorkspaceRemoveParams{ID: ws.ID}, "review.comment": api.SessionRef{SessionID: id},
		"review.send": api.SessionRef{SessionID: id}, "review.update": api.SessionRef{SessionID: id}, "review.remove": api.SessionRef{SessionID: id},
	} {
		if err := viewer.Call(r.ctx(), method, params, nil); client.Reason(err) != api.AuthFailed {
			t.Errorf("a viewer calls %s: %v", method, err)
		}
	}
	for _, method := range []string{"workspace.list", "review.list"} {
		if err := viewer.Call(r.ctx(), method, api.SessionRef{SessionID: id}, nil); err != nil {
			t.Errorf("a viewer calls %s: %v", method, err)
		}
	}
	r.refused(api.AuthFailed, "workspace.create", api.WorkspaceCreateParams{Repo: filepath.Dir(r.repo)})
	r.refused(api.InvalidParams, "workspace.create", api.WorkspaceCreateParams{Repo: r.repo, Branch: "--force"})
	r.refused(api.Conflict, "workspace.create", api.WorkspaceCreateParams{Repo: r.repo, Setup: "echo why; exit 1"})
	r.refused(api.InvalidParams, "session.connect", api.ConnectParams{WorkspaceID: "w-00000000"})
	var one, two api.WorkspaceResult
	keyed := api.WorkspaceCreateParams{Repo: r.repo, Idempotency: api.Idempotency{Key: "once"}}
	r.call("workspace.create", keyed, &one)
	r.call("workspace.create", keyed, &two)
	if one.Workspace.ID != two.Workspace.ID {
		t.Errorf("a retry made another workspace: %+v, %+v", one, two)
	}
	r.call("workspace.remove", api.WorkspaceRemoveParams{ID: one.Workspace.ID}, nil)
}
