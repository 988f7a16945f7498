package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

// hook adds a hook to the user's repository, and trusts it.
func (w *world) hook(name, script string) {
	w.Helper()
	w.trusted.Store(true)
	path := "repo/.git/hooks/" + name
	w.write(path, "#!/bin/sh\n"+script+"\n")
	if err := os.Chmod(filepath.Join(w.dir, path), 0o700); err != nil {
		w.Fatal(err)
	}
}

func TestCommit(t *testing.T) {
	w := newWorld(t)
	w.hook("pre-commit", "echo looked at: $(git diff --cached --name-only | tr '\\n' ' ')")
	w.hook("commit-msg", "echo Checked: yes >> $1")
	ws, tree := w.create(CreateOptions{})
	same := w.untouched()
	w.put(tree, "a.txt", lines(20))
	w.put(tree, "new.txt", "new\n")
	w.put(tree, "later.txt", "later\n")
	w.gitIn(ws.Path, "rm", "-q", "sub/b.txt")
	w.gitIn(ws.Path, "add", "later.txt")
	c, err := tree.Commit(w.ctx(), CommitOptions{Message: "Do it\n\nBecause.", Files: []string{"a.txt", "new.txt", "sub/b.txt"}, Session: "s-0123"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "Do it\n\nBecause.\n\nParley-Session: s-0123\nChecked: yes\n"; w.gitIn(ws.Path, "log", "-1", "--format=%B") != want {
		t.Errorf("the message is %q", w.gitIn(ws.Path, "log", "-1", "--format=%B"))
	}
	if got := w.gitIn(ws.Path, "show", "--format=", "--name-status", c.Commit); got != "M\ta.txt\nA\tnew.txt\nD\tsub/b.txt" {
		t.Errorf("the commit has %q", got)
	}
	if got := w.gitIn(ws.Path, "status", "--porcelain"); got != "A  later.txt" {
		t.Errorf("the status is %q", got)
	}
	if !strings.Contains(c.Output, "looked at: a.txt new.txt sub/b.txt") || c.Branch != ws.Branch {
		t.Errorf("branch %s, output %q", c.Branch, c.Output)
	}
	same()
	w.hook("commit-msg", "exit 0")
	same = w.untouched()
	w.put(tree, ":(top)x", "odd\n")
	w.put(tree, "-rf", "odd\n")
	if _, err := tree.Commit(w.ctx(), CommitOptions{Message: "# the rest"}); err != nil {
		t.Fatal(err)
	}
	if got := w.gitIn(ws.Path, "log", "-1", "--format=%s", "--name-only"); got != "# the rest\n\n-rf\n:(top)x\nlater.txt" {
		t.Errorf("the second commit is %q", got)
	}
	if list, err := tree.Commits(w.ctx(), ws.Base); err != nil || len(list) != 2 || list[1].ID != c.Commit || list[1].Subject != "Do it" {
		t.Errorf("Commits: %+v, %v", list, err)
	}
	for name, o := range map[string]CommitOptions{
		"nothing": {Message: "x"}, "no message": {Message: " \n"}, "a file that is as it was": {Message: "x", Files: []string{"a.txt"}},
		"a way out": {Message: "x", Files: []string{"../../repo/a.txt"}}, "a trailer of two lines": {Message: "x", Session: "a\nb"},
	} {
		if c, err := tree.Commit(w.ctx(), o); err == nil {
			t.Errorf("%s was committed: %+v", name, c)
		}
	}
	same()
	w.consistent()
}

// TestCommitHooksAndSigning checks that a hook can reject a commit, and that a commit is signed if configured.
func TestCommitHooksAndSigning(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
	w := newWorld(t)
	w.hook("pre-commit", "echo not today >&2; exit 1")
	ws, tree := w.create(CreateOptions{})
	w.put(tree, "a.txt", "x\n")
	_, err := tree.Commit(w.ctx(), CommitOptions{Message: "x"})
	if e, ok := errors.AsType[*GitError](err); !ok || !strings.Contains(e.Output, "not today") || w.gitIn(ws.Path, "rev-parse", "HEAD") != ws.Base {
		t.Errorf("a commit that a hook refuses: %v", err)
	}
	w.hook("pre-commit", "exit 0")
	signer := filepath.Join(w.dir, "signer")
	w.write("signer", "#!/bin/sh\ncat >/dev/null\nprintf '\\n[GNUPG:] SIG_CREATED x\\n' >&2\nprintf -- '-----BEGIN PGP SIGNATURE-----\\n\\nsigned\\n-----END PGP SIGNATURE-----\\n'\n")
	if err := os.Chmod(signer, 0o700); err != nil {
		t.Fatal(err)
	}
	w.git("config", "gpg.program", signer)
	w.git("config", "commit.gpgSign", "true")
	if _, err := tree.Commit(w.ctx(), CommitOptions{Message: "x"}); err != nil {
		t.Fatal(err)
	}
	if got := w.gitIn(ws.Path, "cat-file", "commit", "HEAD"); !strings.Contains(got, "gpgsig") {
		t.Errorf("the commit is not signed:\n%s", got)
	}
}

// TestTwoWorktrees checks that two agents on one file of one repository do not see each other's changes.
func TestTwoWorktrees(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
	w := newWorld(t)
	same := w.untouched()
	for i := range 2 {
		ws, tree := w.create(CreateOptions{})
		w.put(tree, "a.txt", strings.Replace(lines(40), "line 1\n", fmt.Sprintf("agent %d\n", i), 1))
		d := w.diff(tree, ws.Base, "")
		if len(d.Files) != 1 || len(d.Files[0].Hunks) != 1 || d.Files[0].Hunks[0].Lines[1] != fmt.Sprintf("+agent %d", i) {
			t.Errorf("worktree %d: %+v", i, d.Files)
		}
		if _, err := tree.Commit(w.ctx(), CommitOptions{Message: "x"}); err != nil {
			t.Error(err)
		}
	}
	same()
}
