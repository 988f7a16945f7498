package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

// brief formats a file of a diff in one line.
func brief(f File) string {
	s := fmt.Sprintf("%s %s", f.Kind, f.Path)
	if f.OldPath != "" {
		s += " from " + f.OldPath
	}
	if f.OldMode != f.NewMode {
		s += fmt.Sprintf(" %s:%s", f.OldMode, f.NewMode)
	}
	for _, flag := range []struct {
		word string
		set  bool
	}{{" binary", f.Binary}, {" large", f.Large}, {" untracked", f.Untracked}, {" truncated", f.Truncated}} {
		if flag.set {
			s += flag.word
		}
	}
	return fmt.Sprintf("%s +%d -%d hunks %d", s, f.Added, f.Removed, len(f.Hunks))
}

func TestDiff(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.MaxFile = 4 << 20 })
	ws, tree := w.create(CreateOptions{})
	same := w.untouched()
	if d := w.diff(tree, ws.Base, ""); len(d.Files) != 0 {
		t.Fatalf("a new workspace has changes: %+v", d.Files)
	}
	w.put(tree, "a.txt", strings.Replace(strings.Replace(lines(40), "line 3\n", "LINE 3\n", 1), "line 30\n", "", 1))
	w.gitIn(ws.Path, "mv", "sub/b.txt", "sub/moved here.txt")
	w.put(tree, "sub/moved here.txt", lines(10)+"@@ -1,2 +3,4 @@\ndiff --git a/x b/x")
	w.put(tree, "bin.dat", "\x00\x01changed\x00")
	w.put(tree, "new\n-name é.txt", "x\n")
	w.put(tree, "big.txt", strings.Repeat("0123456789\n", 250_000))
	w.put(tree, "huge.bin", strings.Repeat("x", 5<<20))
	w.put(tree, "not.ignored", "x")
	w.put(tree, "nested/f", "x")
	w.gitIn(filepath.Join(ws.Path, "nested"), "init", "-q")
	w.gitIn(filepath.Join(ws.Path, "nested"), "commit", "-q", "--allow-empty", "-m", "x")
	for _, err := range []error{
		os.Chmod(filepath.Join(ws.Path, "run.sh"), 0o700), os.Symlink("/etc/passwd", filepath.Join(ws.Path, "link")),
		os.Remove(filepath.Join(ws.Path, ".gitignore")), os.Symlink("a.txt", filepath.Join(ws.Path, ".gitignore")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w.put(tree, "sub/.gitignore", "*.ignored\n")
	if err := os.Rename(filepath.Join(ws.Path, "not.ignored"), filepath.Join(ws.Path, "sub", "is.ignored")); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"type .gitignore 100644:120000 +1 -1 hunks 0",
		"update a.txt +1 -2 hunks 2",
		"add big.txt :100644 large untracked +0 -0 hunks 0",
		"update bin.dat binary +0 -0 hunks 0",
		"add link :120000 untracked +1 -0 hunks 1",
		"add new\n-name é.txt :100644 untracked +1 -0 hunks 1",
		"update run.sh 100644:100755 +0 -0 hunks 0",
		"add sub/.gitignore :100644 untracked +1 -0 hunks 1",
		"move sub/moved here.txt from sub/b.txt +2 -0 hunks 1",
	}
	d := w.diff(tree, ws.Base, "")
	var got []string
	for _, f := range d.Files {
		got = append(got, brief(f))
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("the diff has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if d.Truncated || fmt.Sprint(d.Left) != "[{huge.bin 5242880 large} {nested 0 repository}]" {
		t.Errorf("truncated %t, left out %v", d.Truncated, d.Left)
	}
	f, _ := d.file("sub/moved here.txt")
	if lines := f.Hunks[0].Lines; lines[len(lines)-1] != `\ No newline at end of file` || lines[len(lines)-2] != "+diff --git a/x b/x" {
		t.Errorf("the hunk is %q", lines)
	}
	same()
	w.consistent()
}

// TestHunkIDs checks that an id identifies a hunk as long as it is unchanged, despite changes above it.
func TestHunkIDs(t *testing.T) {
	w := newWorld(t)
	ws, tree := w.create(CreateOptions{})
	second := strings.Replace(lines(40), "line 30\n", "LINE 30\n", 1)
	w.put(tree, "a.txt", second)
	ids := func() []string {
		var ids []string
		f, _ := w.diff(tree, ws.Base, "").file("a.txt")
		for _, h := range f.Hunks {
			ids = append(ids, h.ID)
		}
		return ids
	}
	one := ids()
	w.put(tree, "a.txt", "a\nb\nc\n"+second)
	two := ids()
	if len(one) != 1 || len(two) != 2 || two[1] != one[0] || two[0] == one[0] {
		t.Errorf("the ids are %v, then %v", one, two)
	}
	w.put(tree, "a.txt", strings.Replace(second, "LINE 30", "Line 30", 1))
	if three := ids(); len(three) != 1 || three[0] == one[0] {
		t.Errorf("another hunk has the id %v, the first was %v", three, one)
	}
}

// TestSnapshots checks that a snapshot has the files at its time, including a change that an index
// cannot detect by size and time, and survives git gc.
func TestSnapshots(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
	w := newWorld(t)
	tree, err := w.Tree(w.ctx(), w.repo, "s-plain")
	if err != nil {
		t.Fatal(err)
	}
	var states []State
	for i := range 10 {
		w.write("repo/a.txt", fmt.Sprintf("%d\n", i))
		s, err := tree.Snapshot(w.ctx())
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, s)
	}
	w.write("repo/a.txt", lines(40))
	w.git("gc", "-q", "--prune=now")
	for i := range 9 {
		d := w.diff(tree, states[i].Tree, states[i+1].Tree)
		if len(d.Files) != 1 || len(d.Files[0].Hunks) != 1 || strings.Join(d.Files[0].Hunks[0].Lines, "") != fmt.Sprintf("-%d+%d", i, i+1) {
			t.Fatalf("turn %d: %+v", i, d.Files)
		}
	}
	if err := w.Forget(w.ctx(), w.repo, "s-plain"); err != nil {
		t.Fatal(err)
	}
	if got := w.git("for-each-ref", "refs/parley"); got != "" {
		t.Errorf("refs are left: %s", got)
	}
}

// TestSnapshotRacy checks that a file that was changed at the moment when the index was written,
// with the same size and time, is detected as changed, as by git.
func TestSnapshotRacy(t *testing.T) {
	w := newWorld(t)
	w.git("config", "core.trustctime", "false")
	w.git("config", "core.checkStat", "minimal")
	past := time.Now().Add(-time.Hour) // some gits compare seconds
	at := func(name string) {
		t.Helper()
		if err := os.Chtimes(filepath.Join(w.repo, name), past, past); err != nil {
			t.Fatal(err)
		}
	}
	w.write("repo/racy.txt", "one\n")
	at("racy.txt")
	w.git("add", "racy.txt")
	w.write("repo/racy.txt", "two\n")
	at("racy.txt")
	at(".git/index")
	tree, err := w.Tree(w.ctx(), w.repo, "s-racy")
	if err != nil {
		t.Fatal(err)
	}
	f, ok := w.diff(tree, "HEAD", "").file("racy.txt")
	if !ok || len(f.Hunks) != 1 || f.Hunks[0].Lines[0] != "+two" {
		t.Errorf("the file is %+v", f)
	}
}

// TestPlainDirectory checks that reading a user's checkout does not change it, whatever the
// checkout contains, and that a session in a subdirectory sees only that directory.
func TestPlainDirectory(t *testing.T) {
	w := newWorld(t)
	same := w.untouched()
	tree, err := w.Tree(w.ctx(), filepath.Join(w.repo, "sub"), "s-sub")
	if err != nil {
		t.Fatal(err)
	}
	d := w.diff(tree, "HEAD", "")
	if len(d.Files) != 1 || d.Files[0].Path != "b.txt" || tree.Top() != w.repo {
		t.Errorf("below %s: %+v", tree.Top(), d.Files)
	}
	top, err := w.Tree(w.ctx(), w.repo, "s-top")
	if err != nil {
		t.Fatal(err)
	}
	if d := w.diff(top, "HEAD", ""); len(d.Files) != 3 {
		t.Errorf("in the checkout: %+v", d.Files)
	}
	same()
	if _, err := tree.Revert(w.ctx(), RevertOptions{From: "HEAD", File: "b.txt"}); err != nil {
		t.Fatal(err)
	}
	if got := w.read("repo/sub/b.txt"); got != lines(10) {
		t.Errorf("reverted to %q", got)
	}
	for _, dir := range []string{filepath.Join(w.dir, "home"), filepath.Join(w.repo, ".git")} {
		if _, err := w.Tree(w.ctx(), dir, "s-x"); !errors.Is(err, ErrNoGit) {
			t.Errorf("%s: %v, want ErrNoGit", dir, err)
		}
	}
}

// TestUnborn checks that everything in a repository without a commit is new.
func TestUnborn(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.dir, "unborn")
	w.write("unborn/x", "x\n")
	w.gitIn(dir, "init", "-q")
	tree, err := w.Tree(w.ctx(), dir, "s-x")
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{"", "HEAD"} {
		if d := w.diff(tree, from, ""); len(d.Files) != 1 || d.Files[0].Kind != Added {
			t.Errorf("from %q: %+v", from, d.Files)
		}
	}
	if _, err := w.Create(w.ctx(), CreateOptions{Repo: dir}); !errors.Is(err, ErrNotFound) {
		t.Errorf("a worktree of nothing: %v", err)
	}
	if c, err := tree.Commit(w.ctx(), CommitOptions{Message: "first"}); err != nil || c.Commit == "" {
		t.Errorf("the first commit: %+v, %v", c, err)
	}
}

// TestDiffBounds checks that a truncated diff is marked.
func TestDiffBounds(t *testing.T) {
	short.SkipQuick(t, "makes large repositories")
	w := newWorld(t)
	ws, tree := w.create(CreateOptions{})
	for i := range 12 {
		w.put(tree, fmt.Sprintf("f%02d", i), strings.Repeat(fmt.Sprintf("%0999d\n", i), 900))
	}
	w.put(tree, "g", strings.Repeat(strings.Repeat("x", 999)+"\n", 1500))
	d := w.diff(tree, ws.Base, "")
	if !d.Truncated || len(d.Files) != 13 {
		t.Fatalf("truncated %t, %d files", d.Truncated, len(d.Files))
	}
	if f := d.Files[0]; f.Truncated || f.Added != 900 {
		t.Errorf("the first file: %s", brief(f))
	}
	if f := d.Files[12]; !f.Truncated || len(f.Hunks) != 0 {
		t.Errorf("the last file: %s", brief(f))
	}
}
