package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

var errFault = errors.New("git was stopped by the test")

// faultyOp is an operation of a manager. A test repeats it, and lets one more command of git
// succeed each time.
type faultyOp struct {
	name string
	// prepare returns the operation. Git works during prepare.
	prepare func(w *world) func(ctx context.Context) error
	// begun reports whether the operation can no longer be undone when a command fails, because the
	// next start completes it. done reports whether it has succeeded then.
	begun, done func(command string) bool
	// lenient reports whether the operation may ignore a failed command: then it succeeds, or fails
	// with another error.
	lenient func(command string) bool
	needs   []string // directories of the manager that it needs
}

// edited returns a workspace with two hunks in a.txt, a moved, an added and a deleted file.
func edited(w *world) (Workspace, *Tree) {
	ws, tree := w.create(CreateOptions{ID: killedID})
	w.put(tree, "a.txt", strings.NewReplacer("line 3\n", editedOnce+"\n", "line 20\n", editedTwice+"\n").Replace(lines(40)))
	w.put(tree, "new.txt", "new\n")
	w.put(tree, "sub/moved.txt", lines(10))
	for _, name := range []string{"sub/b.txt", "run.sh"} {
		if err := os.Remove(filepath.Join(tree.dir, name)); err != nil {
			w.Fatal(err)
		}
	}
	return ws, tree
}

// revertOf returns an operation that reverts a file of an edited workspace, or the second hunk of a.txt.
func revertOf(file string, hunk, changed bool) func(w *world) func(ctx context.Context) error {
	return func(w *world) func(ctx context.Context) error {
		ws, tree := edited(w)
		shown := w.diff(tree, ws.Base, "")
		o := RevertOptions{From: ws.Base, To: shown.To, File: file}
		if hunk {
			f, _ := shown.file(file)
			o.Hunk = f.Hunks[1].ID
		}
		if changed { // in another place
			w.put(tree, "a.txt", strings.NewReplacer("line 3\n", editedOnce+"\n", "line 20\n", editedTwice+"\n").Replace(lines(40))+"more\n")
		}
		return func(ctx context.Context) error { _, err := tree.Revert(ctx, o); return err }
	}
}

var faultyOps = []faultyOp{
	{name: "create", needs: []string{recordsDir}, prepare: func(w *world) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			ws, err := w.Create(ctx, CreateOptions{Repo: w.repo, Setup: "true", Base: "HEAD", Branch: "b"})
			if (err == nil) != (ws.Path != "" && !missing(ws.Path)) {
				w.Errorf("Create returned %+v and the error %v, want a workspace or an error", ws, err)
			}
			return err
		}
	}},
	{name: "create on a branch", needs: []string{recordsDir}, prepare: func(w *world) func(ctx context.Context) error {
		w.git("branch", "old")
		return func(ctx context.Context) error {
			_, err := w.Create(ctx, CreateOptions{Repo: w.repo, Branch: "old"})
			return err
		}
	}},
	{name: "tree", prepare: func(w *world) func(ctx context.Context) error {
		return func(ctx context.Context) error { _, err := w.Tree(ctx, w.repo, "s-1"); return err }
	}},
	{name: "snapshot", needs: []string{indexDir}, prepare: func(w *world) func(ctx context.Context) error {
		_, tree := edited(w)
		return func(ctx context.Context) error { _, err := tree.Snapshot(ctx); return err }
	}},
	{name: "diff", needs: []string{indexDir}, prepare: func(w *world) func(ctx context.Context) error {
		_, tree := edited(w)
		return func(ctx context.Context) error { _, err := tree.Diff(ctx, "HEAD", ""); return err }
	}},
	{name: "diff of two states", prepare: func(w *world) func(ctx context.Context) error {
		ws, tree := edited(w)
		to := w.diff(tree, "", "").To
		return func(ctx context.Context) error { _, err := tree.Diff(ctx, ws.Base, to); return err }
	}},
	{name: "commits", prepare: func(w *world) func(ctx context.Context) error {
		ws, tree := edited(w)
		return func(ctx context.Context) error { _, err := tree.Commits(ctx, ws.Base); return err }
	}},
	{name: "programs", prepare: func(w *world) func(ctx context.Context) error {
		w.write("home/included", "[user]\n\tname = I\n")
		w.git("config", "include.path", filepath.Join(w.dir, "home", "included"))
		tree, err := w.Tree(w.ctx(), w.repo, "s-1")
		if err != nil {
			w.Fatal(err)
		}
		return func(ctx context.Context) error { _, err := tree.Programs(ctx); return err }
	}},
	{name: "commit", needs: []string{indexDir, scratchDir, recordsDir}, done: func(command string) bool {
		return strings.HasPrefix(command, "rev-parse --verify --quiet HEAD^{commit}")
	}, prepare: func(w *world) func(ctx context.Context) error {
		_, tree := edited(w)
		return func(ctx context.Context) error {
			_, err := tree.Commit(ctx, CommitOptions{Message: "m", Session: "s-1"})
			return err
		}
	}},
	{name: "commit of a hunk", needs: []string{indexDir, scratchDir, recordsDir}, done: func(command string) bool {
		return strings.HasPrefix(command, "rev-parse --verify --quiet HEAD^{commit}")
	}, prepare: func(w *world) func(ctx context.Context) error {
		_, tree := edited(w)
		f, _ := w.diff(tree, "HEAD", "").file("a.txt")
		o := CommitOptions{Message: "m", Hunks: map[string][]string{"a.txt": {f.Hunks[0].ID}}}
		return func(ctx context.Context) error { _, err := tree.Commit(ctx, o); return err }
	}},
	{name: "branch", lenient: asksBranch, prepare: func(w *world) func(ctx context.Context) error {
		w.remote()
		_, tree := w.create(CreateOptions{})
		w.change(tree, "new.txt", "new\n")
		return func(ctx context.Context) error { _, err := tree.Branch(ctx); return err }
	}},
	{name: "merge", lenient: asksBranch, prepare: mergeOf(false)},
	{name: "merge with a merge commit", lenient: asksBranch, prepare: mergeOf(true)},
	{name: "push", needs: []string{scratchDir}, lenient: asksBranch, prepare: func(w *world) func(ctx context.Context) error {
		url := w.remote()
		_, tree := w.create(CreateOptions{})
		w.change(tree, "new.txt", "new\n")
		return func(ctx context.Context) error { _, err := tree.Push(ctx, url); return err }
	}},
	{name: "revert of a hunk", needs: []string{indexDir, recordsDir}, prepare: revertOf("a.txt", true, false)},
	{name: "revert of a hunk in a changed file", needs: []string{indexDir, scratchDir, recordsDir}, prepare: revertOf("a.txt", true, true)},
	{name: "revert of a moved file", needs: []string{indexDir, recordsDir}, prepare: revertOf("sub/moved.txt", false, true)},
	{name: "revert of a deleted file", needs: []string{indexDir, recordsDir}, prepare: revertOf("run.sh", false, false)},
	{name: "remove", needs: []string{recordsDir, trashDir}, begun: func(command string) bool {
		return strings.HasPrefix(command, "rev-parse --verify --quiet refs/") && !strings.Contains(command, "^{commit}")
	}, prepare: func(w *world) func(ctx context.Context) error {
		ws, _ := w.create(CreateOptions{})
		return func(ctx context.Context) error { return w.Remove(ctx, ws.ID, RemoveOptions{}) }
	}},
	{name: "forget", prepare: func(w *world) func(ctx context.Context) error {
		tree, err := w.Tree(w.ctx(), w.repo, "s-1")
		if err != nil {
			w.Fatal(err)
		}
		if _, err := tree.Snapshot(w.ctx()); err != nil {
			w.Fatal(err)
		}
		return func(ctx context.Context) error { return w.Forget(ctx, w.repo, "s-1") }
	}},
}

// asksBranch reports whether a command requests something that a branch may not have: a commit, a
// remote, a last push.
func asksBranch(command string) bool {
	return strings.HasPrefix(command, "config --get") || strings.HasPrefix(command, "rev-parse --verify --quiet HEAD^{commit}") || strings.HasPrefix(command, "symbolic-ref") ||
		strings.HasPrefix(command, "rev-parse --verify --quiet refs/remotes/") || strings.HasPrefix(command, "rev-parse --show-object-format")
}

// mergeOf returns an operation that merges into a branch that is not checked out. If diverges is set, that branch has
// another commit.
func mergeOf(diverges bool) func(w *world) func(ctx context.Context) error {
	return func(w *world) func(ctx context.Context) error {
		w.git("branch", "side")
		_, tree := w.create(CreateOptions{Base: "side"})
		w.change(tree, "new.txt", "new\n")
		if diverges {
			w.git("branch", "-f", "side", w.git("commit-tree", "-p", "HEAD", "-m", "other", "HEAD^{tree}"))
		}
		start := w.git("rev-parse", "side")
		return func(ctx context.Context) error {
			_, err := tree.Merge(ctx)
			if err == nil {
				w.git("update-ref", "refs/heads/side", start)
			}
			return err
		}
	}
}

// TestGitFails makes each git command of each operation fail in turn. The operation returns git's
// error, leaves the user's checkout and the edited files unchanged, and succeeds when it is
// repeated.
func TestGitFails(t *testing.T) {
	short.SkipQuick(t, "repeats each operation for each command of git")
	for _, op := range faultyOps {
		t.Run(op.name, func(t *testing.T) {
			w := newWorld(t)
			do := op.prepare(w)
			g := &failingGit{git: &w.Manager.git, kept: map[string][]byte{}}
			for n := 0; n < 100; n++ {
				before, files := w.fingerprint(), w.workspaceFiles()
				g.left, g.failed = n, ""
				w.Manager.git.stub = g.run
				err := do(w.ctx())
				w.Manager.git.stub = nil
				switch {
				case g.failed == "":
					if err != nil {
						t.Fatalf("without a failing command the error is %v, want none", err)
					}
					return
				case op.done != nil && op.done(g.failed):
					if err != nil {
						t.Errorf("after git %s failed the error is %v, want none", g.failed, err)
					}
					return
				case op.lenient != nil && op.lenient(g.failed):
					continue
				case !errors.Is(err, errFault):
					t.Fatalf("after git %s failed the error is %v, want that of git", g.failed, err)
				case op.begun != nil && op.begun(g.failed):
					return
				}
				w.same("the checkout after git "+g.failed, before, w.fingerprint())
				w.same("the workspaces after git "+g.failed, files, w.workspaceFiles())
			}
			t.Fatal("the operation still runs commands after 100 of them, want an end")
		})
	}
}

// TestDiskFails replaces each directory that an operation needs by a file. The operation returns
// the error, changes no file of the user, and succeeds when the directory exists again.
func TestDiskFails(t *testing.T) {
	short.SkipQuick(t, "repeats each operation for each directory")
	for _, op := range faultyOps {
		if len(op.needs) == 0 {
			continue
		}
		t.Run(op.name, func(t *testing.T) {
			w := newWorld(t)
			do := op.prepare(w)
			for _, sub := range op.needs {
				before, files := w.fingerprint(), w.workspaceFiles()
				dir := filepath.Join(w.opts.Dir, sub)
				w.must(os.Rename(dir, dir+".away"), os.WriteFile(dir, nil, 0o600))
				err := do(w.ctx())
				w.must(os.Remove(dir), os.Rename(dir+".away", dir))
				if err == nil || !strings.Contains(err.Error(), "not a directory") {
					t.Fatalf("with a file in place of %s the error is %v, want that it is not a directory", sub, err)
				}
				w.same("the checkout without "+sub, before, w.fingerprint())
				w.same("the workspaces without "+sub, files, w.workspaceFiles())
			}
			if err := do(w.ctx()); err != nil {
				t.Errorf("with all directories the error is %v, want none", err)
			}
		})
	}
}

// must fails the test on an error.
func (w *world) must(errs ...error) {
	w.Helper()
	if err := errors.Join(errs...); err != nil {
		w.Fatal(err)
	}
}

// failingGit runs git but makes one command fail. It runs commands that read unchanged data only
// once.
type failingGit struct {
	git    *git
	kept   map[string][]byte
	left   int    // commands until the one that fails
	failed string // its arguments
}

func (g *failingGit) run(c command) ([]byte, error, bool) {
	args := strings.Join(c.args, " ")
	if g.left--; g.left == -1 {
		g.failed = args
		return nil, errFault, true
	}
	if name := c.name(); name != "config" && name != "check-ref-format" && (name != "rev-parse" || strings.Contains(args, "--verify")) && (name != "ls-files" || !strings.Contains(args, "--stage")) {
		return nil, nil, false
	}
	key := c.dir + " " + args
	out, ok := g.kept[key]
	if !ok {
		var err error
		if out, err = g.git.exec(context.Background(), c); err != nil {
			return out, err, true
		}
		g.kept[key] = out
	}
	return out, nil, true
}

// same compares files before and after an operation.
func (w *world) same(what string, before, after map[string]string) {
	w.Helper()
	for name, text := range before {
		if is, ok := after[name]; !ok {
			w.Errorf("%s: %s is gone, want it unchanged", what, name)
		} else if is != text {
			w.Errorf("%s: %s is %s, want %s", what, name, is, text)
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			w.Errorf("%s: %s is new, want no new file", what, name)
		}
	}
}

// workspaceFiles returns the files of all workspaces, and the records of the manager.
func (w *world) workspaceFiles() map[string]string {
	w.Helper()
	files := map[string]string{}
	for _, sub := range []string{treesDir, recordsDir, trashDir, scratchDir} {
		root := filepath.Join(w.opts.Dir, sub)
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			rel, _ := filepath.Rel(w.opts.Dir, path)
			files[rel] = fmt.Sprintf("%q", data)
			return err
		})
		if err != nil {
			w.Fatal(err)
		}
	}
	return files
}
