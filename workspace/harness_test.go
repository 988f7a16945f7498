package workspace

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("PARLEY_TEST_KILLED"); dir != "" {
		runKilled(dir)
		return
	}
	e2e.VerifyMain(m)
}

// world is a user's repository and a manager, with a minimal environment.
type world struct {
	*testing.T
	*Manager
	dir, repo string
	env       []string
	opts      Options
	trusted   atomic.Bool // whether the programs of the repository are trusted
}

// lines returns a file of numbered lines.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

// newWorld creates a repository with two commits, a stash, changes in the index and the checkout,
// and an untracked file.
func newWorld(t *testing.T, change ...func(*Options)) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, dir: dir, repo: filepath.Join(dir, "repo")}
	w.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
	for _, d := range []string{"home", "repo"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.write("home/.gitconfig", "[user]\n\tname = U\n\temail = u@example.invalid\n[init]\n\tdefaultBranch = main\n")
	w.git("init", "-q")
	w.write("repo/a.txt", lines(40))
	w.write("repo/sub/b.txt", lines(10))
	w.write("repo/run.sh", "#!/bin/sh\necho run\n")
	w.write("repo/.gitignore", "*.ignored\n")
	w.write("repo/bin.dat", "\x00\x01\x02binary\x00")
	w.git("add", ".")
	w.git("commit", "-qm", "one")
	w.write("repo/a.txt", lines(41))
	w.git("stash", "-q")
	w.write("repo/staged.txt", "staged\n")
	w.git("add", "staged.txt")
	w.write("repo/sub/b.txt", lines(11))
	w.write("repo/untracked.txt", "untracked\n")
	w.opts = Options{Dir: filepath.Join(dir, "data"), Env: w.env, Ceilings: []string{dir}, Trust: func(Programs) bool { return w.trusted.Load() }}
	for _, f := range change {
		f(&w.opts)
	}
	w.open()
	t.Cleanup(func() {
		if err := w.Manager.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) open() {
	w.Helper()
	m, err := Open(w.ctx(), w.opts)
	if err != nil {
		w.Fatal(err)
	}
	w.Manager = m
}

func (w *world) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	w.Cleanup(cancel)
	return ctx
}

func (w *world) write(name, text string) {
	w.Helper()
	name = filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

func (w *world) read(name string) string {
	w.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.Fatal(err)
	}
	return string(data)
}

// git runs git in the user's checkout.
func (w *world) git(args ...string) string {
	w.Helper()
	return w.gitIn(w.repo, args...)
}

func (w *world) gitIn(dir string, args ...string) string {
	w.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// create creates a workspace and fails the test on an error.
func (w *world) create(o CreateOptions) (Workspace, *Tree) {
	w.Helper()
	o.Repo = w.repo
	ws, err := w.Create(w.ctx(), o)
	if err != nil {
		w.Fatal(err)
	}
	t, err := w.Tree(w.ctx(), ws.Path, "s-1")
	if err != nil {
		w.Fatal(err)
	}
	return ws, t
}

// put writes a file of a workspace.
func (w *world) put(t *Tree, name, text string) {
	w.Helper()
	rel, err := filepath.Rel(w.dir, filepath.Join(t.dir, name))
	if err != nil {
		w.Fatal(err)
	}
	w.write(rel, text)
}

func (w *world) get(t *Tree, name string) string {
	w.Helper()
	data, err := os.ReadFile(filepath.Join(t.dir, name))
	if err != nil {
		w.Fatal(err)
	}
	return string(data)
}

func (w *world) diff(t *Tree, from, to string) Diff {
	w.Helper()
	d, err := t.Diff(w.ctx(), from, to)
	if err != nil {
		w.Fatal(err)
	}
	return d
}

// untouched returns a function that fails the test if any part of the user's checkout, index,
// stash, branches or configuration has changed, including times.
func (w *world) untouched() func() {
	w.Helper()
	before := w.fingerprint()
	return func() {
		w.Helper()
		if d := cmp.Diff(before, w.fingerprint()); d != "" {
			w.Errorf("the user's checkout was changed (-before +after):\n%s", d)
		}
	}
}

// fingerprint returns all files of the checkout and of the repository except objects, without the
// manager's files.
func (w *world) fingerprint() map[string]string {
	w.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(w.repo, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(w.repo, path)
		for _, own := range []string{".git/objects", ".git/worktrees", ".git/refs/parley", ".git/refs/heads/parley", ".git/logs/refs/heads/parley"} {
			if rel == own {
				return fs.SkipDir
			}
		}
		if d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		files[rel] = fmt.Sprintf("%x %s %s", sha256.Sum256(data), info.Mode(), info.ModTime().Format(time.RFC3339Nano))
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return files
}

// consistent fails the test if git reports any problem.
func (w *world) consistent() {
	w.Helper()
	if out := w.git("fsck", "--full", "--strict", "--no-dangling"); strings.Contains(out, "error") || strings.Contains(out, "missing") {
		w.Errorf("git fsck: %s", out)
	}
}
