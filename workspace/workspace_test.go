package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

func TestCreate(t *testing.T) {
	w := newWorld(t)
	same := w.untouched()
	ws, _ := w.create(CreateOptions{Setup: "echo made $(pwd); echo more >&2; touch made.ignored"})
	if got := w.gitIn(ws.Path, "symbolic-ref", "HEAD"); got != "refs/heads/"+ws.Branch || !strings.HasPrefix(ws.Branch, "parley/") {
		t.Errorf("the branch is %s, the workspace says %s", got, ws.Branch)
	}
	if ws.Base != w.git("rev-parse", "HEAD") || ws.Repo != w.repo {
		t.Errorf("base %s, repository %s", ws.Base, ws.Repo)
	}
	if want := "made " + ws.Path + "\nmore\n"; ws.Output != want {
		t.Errorf("the output of the setup command is %q, want %q", ws.Output, want)
	}
	if got := w.gitIn(ws.Path, "status", "--porcelain"); got != "" {
		t.Errorf("the new worktree has changes: %s", got)
	}
	same()
	again, err := w.Create(w.ctx(), CreateOptions{Repo: w.repo, ID: ws.ID})
	if err != nil || again != ws {
		t.Errorf("the same id again: %+v, %v", again, err)
	}
	list, err := w.List()
	if err != nil || !slices.Contains(list, ws) || len(list) != 1 {
		t.Errorf("List: %+v, %v", list, err)
	}
	if err := w.Remove(w.ctx(), ws.ID, RemoveOptions{}); err != nil {
		t.Errorf("removing an unchanged workspace: %v", err)
	}
	if _, err := w.Get(ws.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("Get after Remove: %v", err)
	}
	same()
	for _, left := range []string{ws.Path, filepath.Join(w.repo, ".git/worktrees"), filepath.Join(w.repo, ".git/refs/heads/parley", filepath.Base(ws.Branch))} {
		if _, err := os.Lstat(left); err == nil {
			t.Errorf("%s was left", left)
		}
	}
}

// TestCreateBranches checks that a remote branch as base does not make git write to the
// configuration, and that an existing branch is checked out without a base.
func TestCreateBranches(t *testing.T) {
	short.SkipQuick(t, "runs git many times")
	w := newWorld(t)
	w.git("update-ref", "refs/remotes/origin/topic", "HEAD")
	w.git("config", "remote.origin.url", "x")
	w.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
	w.git("branch", "kept")
	same := w.untouched()
	w.create(CreateOptions{Base: "origin/topic"})
	same()
	ws, _ := w.create(CreateOptions{Branch: "kept"})
	if got := w.gitIn(ws.Path, "symbolic-ref", "--short", "HEAD"); got != "kept" {
		t.Errorf("HEAD is %s", got)
	}
	if err := w.Remove(w.ctx(), ws.ID, RemoveOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	w.git("rev-parse", "--verify", "refs/heads/kept") // an existing branch stays
}

func TestCreateRefuses(t *testing.T) {
	short.SkipQuick(t, "runs git many times")
	w := newWorld(t)
	w.git("branch", "there")
	plain := filepath.Join(w.dir, "plain")
	if err := os.Mkdir(plain, 0o700); err != nil {
		t.Fatal(err)
	}
	same := w.untouched()
	for _, tt := range []struct {
		name string
		o    CreateOptions
		want error
	}{
		{"no git", CreateOptions{Repo: plain}, ErrNoGit},
		{"inside of .git", CreateOptions{Repo: filepath.Join(w.repo, ".git")}, ErrNoGit},
		{"a relative directory", CreateOptions{Repo: "repo"}, ErrInvalid},
		{"a base that is an option", CreateOptions{Base: "--output=x"}, ErrInvalid},
		{"a base that is none", CreateOptions{Base: "nothing"}, ErrNotFound},
		{"a base of two lines", CreateOptions{Base: "HEAD\nHEAD"}, ErrInvalid},
		{"a branch that is an option", CreateOptions{Branch: "-D"}, ErrInvalid},
		{"a branch that is no name", CreateOptions{Branch: "a..b"}, ErrInvalid},
		{"a branch that is a way out", CreateOptions{Branch: "../../HEAD"}, ErrInvalid},
		{"a branch that is there", CreateOptions{Branch: "there", Base: "HEAD"}, ErrExists},
		{"a branch that is checked out", CreateOptions{Branch: "main"}, nil},
		{"an id", CreateOptions{ID: "../x"}, ErrInvalid},
		{"a setup command that fails", CreateOptions{Setup: "echo why; exit 3"}, nil},
	} {
		if tt.o.Repo == "" {
			tt.o.Repo = w.repo
		}
		ws, err := w.Create(w.ctx(), tt.o)
		if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: %+v, %v; want %v", tt.name, ws, err, tt.want)
		}
		if e, ok := errors.AsType[*SetupError](err); ok && tt.want == nil && e.Output != "why\n" {
			t.Errorf("%s: the output is %q", tt.name, e.Output)
		}
	}
	w.Manager.opts.SetupTimeout = 10 * time.Millisecond
	if _, err := w.Create(w.ctx(), CreateOptions{Repo: w.repo, Setup: "sleep 1000"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a setup command that does not end: %v", err)
	}
	same()
	if got := w.git("for-each-ref", "refs/heads/parley"); got != "" {
		t.Errorf("branches were left: %s", got)
	}
	for _, dir := range []string{filepath.Join(w.opts.Dir, treesDir), filepath.Join(w.opts.Dir, recordsDir)} {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s has %v, %v", dir, left, err)
		}
	}
	if _, err := os.Stat(filepath.Join(w.repo, ".git/worktrees")); err == nil {
		t.Error("git still knows of a worktree")
	}
}

func TestRemove(t *testing.T) {
	short.SkipQuick(t, "runs git many times")
	w := newWorld(t)
	same := w.untouched()
	refused := func(ws Workspace, o RemoveOptions, want string) {
		t.Helper()
		err := w.Remove(w.ctx(), ws.ID, o)
		if e, ok := errors.AsType[*LossError](err); !ok || !errors.Is(err, ErrLoss) || !strings.Contains(e.Error(), want) {
			t.Errorf("Remove: %v, want a loss of %s", err, want)
		}
		if _, err := w.Get(ws.ID); err != nil {
			t.Errorf("it is gone: %v", err)
		}
	}
	ws, tree := w.create(CreateOptions{})
	w.put(tree, "a.txt", "changed")
	refused(ws, RemoveOptions{}, "not committed: a.txt")
	refused(ws, RemoveOptions{KeepBranch: true}, "not committed: a.txt")
	w.gitIn(ws.Path, "checkout", "-q", "a.txt")
	w.put(tree, "dir/new", "new")
	refused(ws, RemoveOptions{}, "not committed: dir/new")
	w.gitIn(ws.Path, "add", ".")
	refused(ws, RemoveOptions{}, "not committed: dir/new")
	w.gitIn(ws.Path, "commit", "-qm", "work")
	refused(ws, RemoveOptions{}, "commits that no other branch has: "+w.gitIn(ws.Path, "rev-parse", "--short", "HEAD"))
	same()
	w.git("branch", "other", ws.Branch)
	same = w.untouched()
	if err := w.Remove(w.ctx(), ws.ID, RemoveOptions{}); err != nil {
		t.Errorf("with another branch: %v", err)
	}
	same()

	ws, tree = w.create(CreateOptions{})
	w.put(tree, "more", "x")
	w.gitIn(ws.Path, "add", ".")
	w.gitIn(ws.Path, "commit", "-qm", "kept")
	w.gitIn(ws.Path, "checkout", "-q", "--detach")
	w.gitIn(ws.Path, "commit", "-q", "--allow-empty", "-m", "on no branch")
	refused(ws, RemoveOptions{KeepBranch: true}, "commits that no other branch has")
	w.gitIn(ws.Path, "checkout", "-q", ws.Branch)
	if err := w.Remove(w.ctx(), ws.ID, RemoveOptions{KeepBranch: true}); err != nil {
		t.Error(err)
	}
	if got := w.git("log", "-1", "--format=%s", ws.Branch); got != "kept" {
		t.Errorf("the branch has %q", got)
	}
	ws, tree = w.create(CreateOptions{})
	w.put(tree, "lost", "x")
	if err := os.Mkdir(filepath.Join(ws.Path, "locked"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.put(tree, "locked/file", "x")
	if err := os.Chmod(filepath.Join(ws.Path, "locked"), 0o500); err != nil {
		t.Fatal(err)
	}
	if err := w.Remove(w.ctx(), ws.ID, RemoveOptions{Force: true}); err != nil {
		t.Errorf("forced: %v", err)
	}
	same()
	w.consistent()
}

func TestEnvironment(t *testing.T) {
	env := gitEnv([]string{"PATH=/bin", "GIT_DIR=/x", "GIT_INDEX_FILE=/y", "GIT_WORK_TREE=/z", "ANTHROPIC_API_KEY=secret", "LC_ALL=C", "GIT_SSH_COMMAND=x", "bad"})
	if want := []string{"PATH=/bin", "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true", "GIT_ALLOW_PROTOCOL="}; !slices.Equal(env, want) {
		t.Errorf("git gets %q, want %q", env, want)
	}
}

// TestRemove_head checks that the commits of a branch count as loss for any HEAD, and also if the
// directory was removed.
func TestRemove_head(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
	w := newWorld(t)
	for name, move := range map[string]func(ws Workspace){
		"on the branch": func(Workspace) {},
		"detached at the base": func(ws Workspace) {
			w.gitIn(ws.Path, "checkout", "-q", "--detach", ws.Branch+"~1")
		},
		"on another branch": func(ws Workspace) {
			w.gitIn(ws.Path, "checkout", "-q", "-b", "of-"+ws.ID, ws.Branch+"~1")
		},
		"the directory is gone": func(ws Workspace) {
			if err := os.RemoveAll(ws.Path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		ws, tree := w.create(CreateOptions{})
		w.put(tree, "work", name)
		w.gitIn(ws.Path, "add", ".")
		w.gitIn(ws.Path, "commit", "-qm", "work")
		commit := w.gitIn(ws.Path, "rev-parse", "--short", "HEAD")
		move(ws)
		err := w.Remove(w.ctx(), ws.ID, RemoveOptions{})
		if e, ok := errors.AsType[*LossError](err); !ok || !slices.Contains(e.Commits, commit) {
			t.Errorf("%s: Remove: %v, want a loss of %s", name, err, commit)
		}
		if err := w.Remove(w.ctx(), ws.ID, RemoveOptions{KeepBranch: true}); err != nil {
			t.Errorf("%s: with the branch kept: %v", name, err)
		}
		if got := w.git("rev-parse", "--short", ws.Branch); got != commit {
			t.Errorf("%s: the branch is at %s, want %s", name, got, commit)
		}
	}
	w.consistent()
}
