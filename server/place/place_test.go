package place

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/workspace"
)

func TestMain(m *testing.M) {
	if says := os.Getenv(devVariable); says != "" {
		runDevServer(says)
		return
	}
	e2e.VerifyMain(m)
}

// world is a machine with a repository below its root, and the place through which the server uses it.
type world struct {
	*testing.T
	Place
	local           *Local
	dir, root, repo string
	env             []string
	calls           int // over the link
}

// newWorld returns a machine. If remote is set, calls pass through the encoding of a link and have the limits of a
// joined machine.
func newWorld(t *testing.T, remote bool) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	w := &world{T: t, dir: dir, root: filepath.Join(dir, "work"), repo: filepath.Join(dir, "work", "repo")}
	w.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
	for _, d := range []string{"home", "work/repo/sub", "work/plain", "outside"} {
		must(t, os.MkdirAll(filepath.Join(dir, d), 0o700))
	}
	w.write("home/.gitconfig", "[user]\n\tname = U\n\temail = u@example.invalid\n[init]\n\tdefaultBranch = main\n")
	w.git("init", "-q")
	w.write("work/repo/a.txt", numbered(40))
	w.write("work/repo/sub/b.txt", numbered(10))
	w.git("add", ".")
	w.git("commit", "-qm", "one")
	w.write("outside/secret.txt", "secret\n")
	m, err := workspace.Open(t.Context(), workspace.Options{Dir: filepath.Join(dir, "data"), Env: w.env, Ceilings: []string{dir}})
	must(t, err)
	t.Cleanup(func() { must(t, m.Close()) })
	w.local = &Local{Roots: []string{w.root}, Manager: m, Confined: remote, Agents: []agent.Provider{w.agent("home/agent")}, Mark: w.mark}
	w.Place = w.local
	if remote {
		w.Place = Remote{Call: func(ctx context.Context, method string, params json.RawMessage) ([]byte, error) {
			w.calls++
			return Serve(ctx, w.local, method, params)
		}, Dial: func(ctx context.Context, method string, params json.RawMessage) (net.Conn, error) {
			return Dial(ctx, w.local, method, params)
		}}
	}
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func (w *world) write(name, text string) {
	w.Helper()
	must(w, os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600))
}

func (w *world) text(name string) string {
	w.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, name))
	must(w, err)
	return string(text)
}

func (w *world) git(args ...string) string {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), "git", args...)
	cmd.Dir, cmd.Env = w.repo, w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// agent returns an agent with a directory below that of the test.
func (w *world) agent(dir string) *agenttest.Provider {
	return &agenttest.Provider{ProviderName: "claude", Dir: filepath.Join(w.dir, dir)}
}

// tree opens the repository.
func (w *world) tree() Tree {
	w.Helper()
	t, err := w.Tree(w.Context(), w.repo, "s-1")
	must(w, err)
	return t
}

// suite runs the tests that apply to this machine and to another one.
var suite = map[string]func(t *testing.T, w *world){
	"files": func(t *testing.T, w *world) {
		found, err := w.Search(t.Context(), w.repo, "B.TXT", 0)
		if want := []api.FileInfo{{Path: "sub/b.txt", Size: int64(len(numbered(10)))}}; err != nil || !slices.Equal(found, want) {
			t.Errorf("the search finds %v, %v, want %v", found, err, want)
		}
		if found, err := w.Search(t.Context(), w.repo, "nothing", 0); err != nil || found == nil || len(found) != 0 {
			t.Errorf("a search without a match finds %v, %v, want an empty list", found, err)
		}
		for _, path := range []string{"a.txt", filepath.Join(w.repo, "a.txt")} {
			r, err := w.Read(t.Context(), w.repo, path, &api.LineRange{Start: 2, End: 3})
			if want := (api.FilesReadResult{Path: path, Text: "line 2\nline 3\n", Range: api.LineRange{Start: 2, End: 3}}); err != nil || r != want {
				t.Errorf("the lines are %+v, %v, want %+v", r, err, want)
			}
		}
		for path, want := range map[string]api.Reason{"missing": api.InvalidParams, "sub": api.InvalidParams, "../plain": api.AuthFailed, filepath.Join(w.dir, "outside/secret.txt"): api.AuthFailed} {
			if _, err := w.Read(t.Context(), w.repo, path, nil); reasonOf(err) != want {
				t.Errorf("reading %s: %v, want the reason %s", path, err, want)
			}
		}
	},
	"ports": testPorts,
	"projects": func(t *testing.T, w *world) {
		r, err := w.Projects(t.Context(), ProjectsQuery{Query: "rep", Recent: []string{w.repo, filepath.Join(w.dir, "outside"), w.repo}})
		repo := api.Project{Path: w.repo, Git: true, Branch: "main"}
		if want := (api.ProjectsListResult{Roots: []string{w.root}, Recent: []api.Project{repo}, Folders: []api.Project{}}); err != nil || !reflect.DeepEqual(r, want) {
			t.Errorf("the projects are %+v, %v, want %+v", r, err, want)
		}
		repo.Branches = []string{"main"}
		r, err = w.Projects(t.Context(), ProjectsQuery{Path: w.repo})
		if err != nil || len(r.Folders) != 1 || !reflect.DeepEqual(r.Folders[0], repo) {
			t.Errorf("the project is %+v, %v, want %+v", r.Folders, err, repo)
		}
	},
	"changes": func(t *testing.T, w *world) {
		tree := w.tree()
		before, err := tree.Snapshot(t.Context())
		must(t, err)
		w.write("work/repo/a.txt", strings.Replace(strings.Replace(numbered(40), "line 3\n", "three <&>\n", 1), "line 30\n", "thirty\n", 1))
		w.write("work/repo/new.txt", "new\n")
		d, err := tree.Diff(t.Context(), before.Tree, "")
		if err != nil || len(d.Files) != 2 || len(d.Files[0].Hunks) != 2 || d.Files[1].Path != "new.txt" || !d.Files[1].Untracked {
			t.Fatalf("the diff is %+v, %v", d, err)
		}
		local, err := w.local.Manager.Tree(t.Context(), w.repo, "s-1")
		must(t, err)
		want, err := local.Diff(t.Context(), before.Tree, "")
		must(t, err)
		if diff := cmp.Diff(want, d, cmp.FilterPath(unexported, cmp.Ignore())); diff != "" {
			t.Errorf("the diff differs from git's:\n%s", diff)
		}
		hunk := d.Files[0].Hunks[0].ID
		if _, err := tree.Revert(t.Context(), workspace.RevertOptions{From: before.Tree, File: "a.txt", Hunk: hunk}); err != nil {
			t.Fatal(err)
		}
		if text := w.text("work/repo/a.txt"); !strings.Contains(text, "line 3\n") || !strings.Contains(text, "thirty\n") {
			t.Errorf("after the revert of a hunk the file is %q", text)
		}
		_, err = tree.Revert(t.Context(), workspace.RevertOptions{From: before.Tree, File: "a.txt", Hunk: hunk})
		stale, ok := errors.AsType[*workspace.StaleError](err)
		if !ok || !errors.Is(err, workspace.ErrStale) || stale.Hunk != hunk || stale.File != "a.txt" {
			t.Errorf("the hunk again: %v, want a stale hunk", err)
		}
		done, err := tree.Commit(t.Context(), workspace.CommitOptions{Message: "two", Files: []string{"new.txt"}})
		if commit, branch := tree.Head(t.Context()); err != nil || done.Commit != commit || branch != "main" || !slices.Equal(done.Files, []string{"new.txt"}) {
			t.Errorf("the commit is %+v, %v; HEAD is %s of %s", done, err, commit, branch)
		}
		if _, err := tree.Commit(t.Context(), workspace.CommitOptions{Message: "three", Files: []string{}}); !errors.Is(err, workspace.ErrNothing) {
			t.Errorf("a commit of no file: %v, want %v", err, workspace.ErrNothing)
		}
		must(t, w.Forget(t.Context(), w.repo, "s-1"))
		if refs := w.git("for-each-ref", "refs/parley"); refs != "" {
			t.Errorf("snapshots are left: %s", refs)
		}
	},
	"worktrees": func(t *testing.T, w *world) {
		ws, err := w.Create(t.Context(), workspace.CreateOptions{Repo: w.repo, Branch: "feature"})
		must(t, err)
		if got, err := w.Get(t.Context(), ws.ID); err != nil || got != ws || ws.Target != "main" {
			t.Errorf("the worktree is %+v, %v, want %+v", got, err, ws)
		}
		if all, err := w.List(t.Context()); err != nil || !slices.Equal(all, []workspace.Workspace{ws}) {
			t.Errorf("the worktrees are %+v, %v, want %+v", all, err, ws)
		}
		tree, err := w.Tree(t.Context(), ws.Path, "s-1")
		must(t, err)
		must(t, os.WriteFile(filepath.Join(ws.Path, "a.txt"), []byte("changed\n"), 0o600))
		if found, err := w.Search(t.Context(), ws.Path, "a.txt", 0); err != nil || len(found) != 1 {
			t.Errorf("the search in the worktree finds %v, %v, want a file", found, err)
		}
		if _, err := tree.Merge(t.Context()); !errors.Is(err, workspace.ErrNothing) {
			t.Errorf("a merge without commits: %v, want %v", err, workspace.ErrNothing)
		}
		err = w.Remove(t.Context(), ws.ID, workspace.RemoveOptions{})
		if loss, ok := errors.AsType[*workspace.LossError](err); !ok || !slices.Equal(loss.Files, []string{"a.txt"}) {
			t.Errorf("removing changes: %v, want the loss of a.txt", err)
		}
		_, err = tree.Commit(t.Context(), workspace.CommitOptions{Message: "in a worktree"})
		must(t, err)
		b, err := tree.Branch(t.Context())
		if want := (workspace.Branch{Name: "feature", Target: "main", Ahead: 1}); err != nil || b != want {
			t.Errorf("the branch is %+v, %v, want %+v", b, err, want)
		}
		if commits, err := tree.Commits(t.Context(), ws.Base); err != nil || len(commits) != 1 || commits[0].Subject != "in a worktree" {
			t.Errorf("the commits are %+v, %v", commits, err)
		}
		m, err := tree.Merge(t.Context())
		if err != nil || m.Target != "main" || !m.FastForward || w.text("work/repo/a.txt") != "changed\n" {
			t.Errorf("the merge is %+v, %v", m, err)
		}
		if _, err := tree.Push(t.Context(), "https://example.invalid/x"); err == nil {
			t.Error("a branch without a remote is pushed")
		}
		must(t, w.Remove(t.Context(), ws.ID, workspace.RemoveOptions{}))
		if _, err := w.Get(t.Context(), ws.ID); !errors.Is(err, workspace.ErrNotFound) {
			t.Errorf("after its removal: %v, want %v", err, workspace.ErrNotFound)
		}
		if all, err := w.List(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("the worktrees are %+v, %v, want none", all, err)
		}
	},
	"no git": func(t *testing.T, w *world) {
		if _, err := w.Tree(t.Context(), filepath.Join(w.root, "plain"), "s-1"); !errors.Is(err, workspace.ErrNoGit) {
			t.Errorf("a directory without git: %v, want %v", err, workspace.ErrNoGit)
		}
		if _, err := w.Create(t.Context(), workspace.CreateOptions{Repo: w.repo, Branch: "main", Base: "main"}); !errors.Is(err, workspace.ErrExists) {
			t.Errorf("a branch that exists: %v, want %v", err, workspace.ErrExists)
		}
	},
	"histories": func(t *testing.T, w *world) {
		id := w.converse(w.repo, "hello there")
		all, err := w.Histories(t.Context())
		if err != nil || len(all) != 1 || all[0].Agent != "claude" {
			t.Fatalf("the histories are %+v, %v", all, err)
		}
		h := all[0]
		list, _, err := h.List(t.Context(), agent.HistoryQuery{})
		if err != nil || len(list) != 1 || list[0].ID != id || list[0].Dir != w.repo {
			t.Fatalf("the sessions are %+v, %v, want %s", list, err, id)
		}
		if m, err := h.Metadata(t.Context(), id); err != nil || m.ID != id {
			t.Errorf("the metadata is %+v, %v", m, err)
		}
		hits, _, err := h.Search(t.Context(), agent.HistoryQuery{Query: "hello"})
		if err != nil || len(hits) == 0 || hits[0].ID != id {
			t.Errorf("the hits are %+v, %v", hits, err)
		}
		if got, want := fold(t, h), fold(t, w.local.Agents[0].(agent.HistoryKeeper).History()); got != want || !strings.Contains(got, "hello there") {
			t.Errorf("the conversation is %s, want %s", got, want)
		}
		for name, f := range map[string]func() error{
			"metadata": func() error { _, err := h.Metadata(t.Context(), "none"); return err },
			"load":     func() error { _, err := h.Load(t.Context(), "none", agent.HistoryPage{}); return err },
		} {
			if err := f(); !errors.Is(err, agent.ErrNotFound) {
				t.Errorf("%s of a session that does not exist: %v, want %v", name, err, agent.ErrNotFound)
			}
		}
	},
}

// unexported reports whether a path is an unexported field, which does not cross the link.
func unexported(p cmp.Path) bool {
	f, ok := p.Last().(cmp.StructField)
	return ok && !('A' <= f.Name()[0] && f.Name()[0] <= 'Z')
}

// fold returns the conversation of the only session of a history.
func fold(t *testing.T, h agent.History) string {
	t.Helper()
	list, _, err := h.List(t.Context(), agent.HistoryQuery{})
	must(t, err)
	events, err := h.Load(t.Context(), list[0].ID, agent.HistoryPage{})
	must(t, err)
	var conv event.Conversation
	for ev, err := range events.Events {
		must(t, err)
		conv.Apply(ev)
	}
	text, err := conv.MarshalJSON()
	must(t, err)
	return string(text)
}

// TestPlace runs the suite on this machine and on another one.
func TestPlace(t *testing.T) {
	short.SkipQuick(t, "runs git many times")
	for _, remote := range []bool{false, true} {
		for name, f := range suite {
			t.Run(fmt.Sprintf("%s, remote %v", name, remote), func(t *testing.T) {
				w := newWorld(t, remote)
				f(t, w)
				if remote && w.calls == 0 {
					t.Error("no call has crossed the link")
				}
			})
		}
	}
}

// TestMethods_suite checks that the suite, with the tests of what a machine refuses, calls every method of the link.
func TestMethods_suite(t *testing.T) {
	short.SkipQuick(t, "runs git many times")
	called := map[string]bool{"history.export": true, "usage": true} // TestConfined_histories
	for _, f := range suite {
		t.Run("", func(t *testing.T) {
			w := newWorld(t, true)
			through := w.Place.(Remote)
			w.Place = Remote{Call: func(ctx context.Context, method string, params json.RawMessage) ([]byte, error) {
				called[method] = true
				return through.Call(ctx, method, params)
			}, Dial: through.Dial}
			f(t, w)
		})
	}
	for name := range methods {
		if !called[name] {
			t.Errorf("no test calls %s", name)
		}
	}
}
