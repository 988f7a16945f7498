package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

// branch returns the position of a tree's branch.
func (w *world) branch(t *Tree) Branch {
	w.Helper()
	b, err := t.Branch(w.ctx())
	if err != nil {
		w.Fatal(err)
	}
	return b
}

// change commits a new content of a file in a workspace.
func (w *world) change(t *Tree, name, text string) {
	w.Helper()
	w.put(t, name, text)
	if _, err := t.Commit(w.ctx(), CommitOptions{Message: "Change " + name, Files: []string{name}}); err != nil {
		w.Fatal(err)
	}
}

// ahead commits in the user's checkout and leaves its other changes as they are.
func (w *world) ahead(name, text string) {
	w.Helper()
	w.write("repo/"+name, text)
	w.git("add", name)
	w.git("commit", "-qm", "Change "+name, "--", name)
}

func TestBranch(t *testing.T) {
	w := newWorld(t)
	ws, tree := w.create(CreateOptions{})
	if b := w.branch(tree); b.Name != ws.Branch || b.Target != "main" || b.Ahead != 0 || b.Behind != 0 || b.Remote != "" {
		t.Errorf("at the start: %+v", b)
	}
	w.change(tree, "new.txt", "new\n")
	w.ahead("other.txt", "other\n")
	w.ahead("other.txt", "again\n")
	if b := w.branch(tree); b.Ahead != 1 || b.Behind != 2 {
		t.Errorf("1 ahead and 2 behind is %+v", b)
	}
	w.git("branch", "side")
	_, side := w.create(CreateOptions{Base: "side"})
	if b := w.branch(side); b.Target != "side" {
		t.Errorf("a worktree that starts at side has %+v", b)
	}
}

func TestMerge(t *testing.T) {
	w := newWorld(t)
	_, tree := w.create(CreateOptions{})
	if _, err := tree.Merge(w.ctx()); !errors.Is(err, ErrNothing) {
		t.Errorf("merging nothing: %v", err)
	}
	w.change(tree, "new.txt", "new\n")
	w.put(tree, "open.txt", "open\n")
	if _, err := tree.Merge(w.ctx()); !errors.Is(err, ErrLoss) {
		t.Errorf("merging with uncommitted changes: %v", err)
	}
	if err := os.Remove(filepath.Join(tree.dir, "open.txt")); err != nil {
		t.Fatal(err)
	}
	status := w.git("status", "--porcelain")
	m, err := tree.Merge(w.ctx())
	if err != nil || !m.FastForward || m.Commits != 1 || m.Target != "main" {
		t.Fatalf("fast-forward: %+v, %v", m, err)
	}
	if w.git("rev-parse", "main") != m.Commit || w.read("repo/new.txt") != "new\n" {
		t.Error("the checkout of main does not have the commit")
	}
	if got := w.git("status", "--porcelain"); got != status {
		t.Errorf("the user's own changes are %q, were %q", got, status)
	}
	w.change(tree, "second.txt", "second\n")
	w.ahead("other.txt", "other\n")
	if m, err = tree.Merge(w.ctx()); err != nil || m.FastForward || m.Commits != 1 {
		t.Fatalf("with a merge commit: %+v, %v", m, err)
	}
	if got := w.git("log", "-1", "--format=%s %P", "main"); !strings.HasPrefix(got, "Merge branch 'parley/") || len(strings.Fields(got)) != 5 {
		t.Errorf("the merge commit is %q", got)
	}
	if w.read("repo/second.txt") != "second\n" || w.read("repo/other.txt") != "other\n" || w.git("status", "--porcelain") != status {
		t.Error("the merge is not in the checkout, or has changed more")
	}
	w.consistent()
}

// TestMergeRefused checks that a merge that cannot be made changes nothing.
func TestMergeRefused(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
	w := newWorld(t)
	_, tree := w.create(CreateOptions{})
	w.change(tree, "a.txt", "theirs\n")
	w.write("repo/a.txt", "mine, not committed\n")
	same := w.untouched()
	if _, err := tree.Merge(w.ctx()); err == nil {
		t.Error("a merge over changes of the user was made")
	}
	same()
	w.git("checkout", "-q", "--", "a.txt")
	w.ahead("a.txt", "mine\n")
	same = w.untouched()
	_, err := tree.Merge(w.ctx())
	e, ok := errors.AsType[*ConflictError](err)
	if !ok || len(e.Files) != 1 || e.Files[0] != "a.txt" || e.Target != "main" {
		t.Errorf("the conflict is %v", err)
	}
	same()
	w.git("checkout", "-q", "-b", "elsewhere")
	w.git("branch", "-f", "main", "HEAD~1")
	m, err := tree.Merge(w.ctx())
	if err != nil || w.git("rev-parse", "main") != m.Commit {
		t.Errorf("a target that is not checked out: %+v, %v", m, err)
	}
	if w.read("repo/a.txt") != "mine\n" {
		t.Error("the checkout of another branch was changed")
	}
}

// remote adds a bare repository as origin.
func (w *world) remote() string {
	dir := filepath.Join(w.dir, "remote.git")
	w.gitIn(w.dir, "init", "-q", "--bare", dir)
	w.git("remote", "add", "origin", dir)
	return dir
}

// TestPush checks that a push reads no configuration of the repository: neither its programs nor another address.
func TestPush(t *testing.T) {
	short.SkipQuick(t, "runs git many times")
	w := newWorld(t)
	dir := w.remote()
	other := filepath.Join(w.dir, "other.git")
	w.gitIn(w.dir, "init", "-q", "--bare", other)
	ws, tree := w.create(CreateOptions{})
	w.change(tree, "new.txt", "new\n")
	if b := w.branch(tree); b.Remote != "origin" || b.URL != dir || b.Pushed {
		t.Fatalf("the remote is %+v", b)
	}
	ran := filepath.Join(w.dir, "ran")
	w.git("config", "url."+other+".insteadOf", dir)
	w.git("config", "remote.origin.receivepack", "touch "+ran+"; git-receive-pack")
	w.write("repo/.git/hooks/pre-push", "#!/bin/sh\ntouch "+ran+"\n")
	if err := os.Chmod(filepath.Join(w.repo, ".git/hooks/pre-push"), 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := tree.Push(w.ctx(), dir)
	if err != nil || p.Branch != ws.Branch || p.Remote != "origin" {
		t.Fatalf("Push: %+v, %v", p, err)
	}
	if got := w.gitIn(dir, "rev-parse", ws.Branch); got != w.gitIn(ws.Path, "rev-parse", "HEAD") {
		t.Errorf("the remote has %s", got)
	}
	if out := w.gitIn(other, "for-each-ref"); out != "" {
		t.Errorf("the address of the repository's configuration got %s", out)
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("a program of the repository ran")
	}
	if !w.branch(tree).Pushed {
		t.Error("the branch is not known as pushed")
	}
	w.git("config", "remote.origin.url", other)
	w.change(tree, "new.txt", "newer\n")
	if _, err := tree.Push(w.ctx(), dir); !errors.Is(err, ErrInvalid) {
		t.Errorf("an address that has changed since: %v", err)
	}
	for _, url := range []string{"ext::touch " + ran, "-o" + ran, "http://127.0.0.1:1/x"} {
		w.git("config", "remote.origin.url", url)
		if _, err := tree.Push(w.ctx(), url); err == nil {
			t.Errorf("%s was pushed to", url)
		}
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("an address ran a program")
	}
	left, err := os.ReadDir(filepath.Join(w.opts.Dir, scratchDir))
	if err != nil || len(left) > 0 {
		t.Errorf("left in scratch: %v, %v", left, err)
	}
}

// TestCommitHunks checks that a commit contains only the chosen hunks, and that the others and the
// rest of the index stay.
func TestCommitHunks(t *testing.T) {
	short.SkipQuick(t, "runs git many times")
	w := newWorld(t)
	ws, tree := w.create(CreateOptions{})
	same := w.untouched()
	text := strings.NewReplacer("line 2\n", "line two\n", "line 20\n", "line twenty\n", "line 38\n", "").Replace(lines(40))
	w.put(tree, "a.txt", text)
	w.put(tree, "new.txt", "new\n")
	w.put(tree, "out.txt", "out\n")
	w.put(tree, "staged.txt", "staged\n")
	w.gitIn(ws.Path, "add", "staged.txt")
	hunks := w.hunksOf(ws, tree, "a.txt")
	if len(hunks) != 3 {
		t.Fatalf("there are %d hunks", len(hunks))
	}
	c, err := tree.Commit(w.ctx(), CommitOptions{Message: "Some", Files: []string{"a.txt", "new.txt", "out.txt"},
		Hunks: map[string][]string{"a.txt": {hunks[1].ID}, "out.txt": {}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.gitIn(ws.Path, "show", "--format=", "--name-only", c.Commit); got != "a.txt\nnew.txt" {
		t.Errorf("the commit has %q", got)
	}
	if got, want := w.gitIn(ws.Path, "show", "HEAD:a.txt")+"\n", strings.Replace(lines(40), "line 20\n", "line twenty\n", 1); got != want {
		t.Errorf("a.txt of the commit is\n%s", got)
	}
	if got := w.get(tree, "a.txt"); got != text {
		t.Errorf("the file was changed to\n%s", got)
	}
	if got := w.gitIn(ws.Path, "status", "--porcelain"); got != " M a.txt\nA  staged.txt\n?? out.txt" {
		t.Errorf("the status is %q", got)
	}
	if left := w.diff(tree, "HEAD", ""); len(left.Files) != 3 || len(left.Files[0].Hunks) != 2 {
		t.Errorf("left are %+v", left.Files)
	}
	if _, err := tree.Commit(w.ctx(), CommitOptions{Message: "x", Hunks: map[string][]string{"a.txt": {hunks[1].ID}}}); !errors.Is(err, ErrStale) {
		t.Errorf("a hunk that is committed already: %v", err)
	}
	same()
	w.consistent()
}
