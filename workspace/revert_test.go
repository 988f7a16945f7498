package workspace

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

// hunksOf returns the hunks of a file against the base.
func (w *world) hunksOf(ws Workspace, t *Tree, file string) []Hunk {
	w.Helper()
	f, ok := w.diff(t, ws.Base, "").file(file)
	if !ok {
		w.Fatalf("%s has not changed", file)
	}
	return f.Hunks
}

func TestRevertHunk(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
	w := newWorld(t)
	ws, tree := w.create(CreateOptions{})
	other, _ := w.create(CreateOptions{})
	same := w.untouched()
	edited := strings.NewReplacer("line 3\n", "THREE\n", "line 20\n", "", "line 40\n", "forty").Replace(lines(40))
	w.put(tree, "a.txt", edited)
	hunks := w.hunksOf(ws, tree, "a.txt")
	if len(hunks) != 3 {
		t.Fatalf("%d hunks", len(hunks))
	}
	before, err := tree.Revert(w.ctx(), RevertOptions{From: ws.Base, File: "a.txt", Hunk: hunks[1].ID})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := w.get(tree, "a.txt"), strings.NewReplacer("line 3\n", "THREE\n", "line 40\n", "forty").Replace(lines(40)); got != want {
		t.Errorf("the file is\n%s", got)
	}
	left := w.hunksOf(ws, tree, "a.txt")
	if len(left) != 2 || left[0].ID != hunks[0].ID || left[1].ID != hunks[2].ID {
		t.Errorf("hunks %+v are left of %+v", left, hunks)
	}
	var stale *StaleError
	if _, err := tree.Revert(w.ctx(), RevertOptions{From: ws.Base, File: "a.txt", Hunk: hunks[1].ID}); !errors.As(err, &stale) || !errors.Is(err, ErrStale) || len(stale.Hunks) != 0 {
		t.Errorf("the same hunk again: %v", err)
	}
	w.put(tree, "a.txt", strings.Replace(w.get(tree, "a.txt"), "THREE", "DREI", 1))
	_, err = tree.Revert(w.ctx(), RevertOptions{From: ws.Base, File: "a.txt", Hunk: hunks[0].ID})
	if !errors.As(err, &stale) || len(stale.Hunks) != 1 || !slices.Contains(stale.Hunks[0].Lines, "+DREI") {
		t.Errorf("a hunk that has changed: %v, %+v", err, stale)
	}
	if !strings.Contains(w.get(tree, "a.txt"), "DREI") {
		t.Error("a stale hunk was taken back")
	}
	if d := w.diff(tree, ws.Base, before.Tree); len(d.Files) != 1 || len(d.Files[0].Hunks) != 3 {
		t.Errorf("the state from before has %+v", d.Files)
	}
	if got := w.gitIn(other.Path, "status", "--porcelain"); got != "" {
		t.Errorf("another worktree has changes: %s", got)
	}
	same()
}

func TestRevertFile(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
	w := newWorld(t)
	w.write("repo/.gitattributes", "*.crlf eol=crlf\n")
	w.write("repo/w.crlf", "one\ntwo\n")
	if err := os.Symlink("a.txt", filepath.Join(w.repo, "link")); err != nil {
		t.Fatal(err)
	}
	w.git("add", ".gitattributes", "w.crlf", "link")
	w.git("commit", "-qm", "two")
	ws, tree := w.create(CreateOptions{})
	path := func(name string) string { return filepath.Join(ws.Path, name) }
	w.put(tree, "bin.dat", "other\x00")
	w.put(tree, "new.txt", "new\n")
	w.gitIn(ws.Path, "mv", "sub/b.txt", "moved.txt")
	w.gitIn(ws.Path, "rm", "-q", ".gitignore")
	w.put(tree, "w.crlf", "one\r\nTWO\r\n")
	w.put(tree, "empty-then", "")
	if err := errors.Join(os.Chmod(path("run.sh"), 0o700), os.Remove(path("link")), os.Symlink("/etc", path("link")), os.Remove(path("a.txt")), os.Symlink("/etc/hostname", path("a.txt"))); err != nil {
		t.Fatal(err)
	}
	for _, f := range w.diff(tree, ws.Base, "").Files {
		if _, err := tree.Revert(w.ctx(), RevertOptions{From: ws.Base, File: f.Path}); err != nil {
			t.Errorf("%s: %v", f.Path, err)
		}
	}
	if left := w.diff(tree, ws.Base, "").Files; len(left) != 0 {
		t.Errorf("changes are left: %+v", left)
	}
	if got := w.get(tree, "w.crlf"); got != "one\r\ntwo\r\n" {
		t.Errorf("the line ends are %q", got)
	}
	if got := w.get(tree, "a.txt"); got != lines(40) {
		t.Errorf("a.txt is %q", got)
	}
	// A hunk is reverted with its line endings, even if it is the whole file.
	w.put(tree, "w.crlf", "one\r\nTWO\r\n")
	w.put(tree, "added", "x\n")
	if err := os.Remove(path("sub/b.txt")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"w.crlf", "added", "sub/b.txt"} {
		if _, err := tree.Revert(w.ctx(), RevertOptions{From: ws.Base, File: name, Hunk: w.hunksOf(ws, tree, name)[0].ID}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left := w.diff(tree, ws.Base, "").Files; len(left) != 0 || w.get(tree, "w.crlf") != "one\r\ntwo\r\n" {
		t.Errorf("changes are left: %+v", left)
	}
	if _, err := tree.Revert(w.ctx(), RevertOptions{From: ws.Base, File: "a.txt"}); !errors.Is(err, ErrNothing) {
		t.Errorf("a file that has not changed: %v", err)
	}
}

// TestRevertTurn checks that a hunk of an earlier turn can be reverted despite later ones, unless
// they overlap.
func TestRevertTurn(t *testing.T) {
	w := newWorld(t)
	_, tree := w.create(CreateOptions{})
	state := func(text string) string {
		t.Helper()
		w.put(tree, "a.txt", text)
		s, err := tree.Snapshot(w.ctx())
		if err != nil {
			t.Fatal(err)
		}
		return s.Tree
	}
	start := state(lines(40))
	one := strings.Replace(lines(40), "line 5\n", "five\n", 1)
	end := state(one)
	later := "before\n" + strings.Replace(one, "line 30\n", "thirty\n", 1)
	state(later)
	f, _ := w.diff(tree, start, end).file("a.txt")
	if _, err := tree.Revert(w.ctx(), RevertOptions{From: start, To: end, File: "a.txt"}); !errors.Is(err, ErrStale) {
		t.Errorf("the whole file of an earlier turn: %v", err)
	}
	if _, err := tree.Revert(w.ctx(), RevertOptions{From: start, To: end, File: "a.txt", Hunk: f.Hunks[0].ID}); err != nil {
		t.Fatal(err)
	}
	if got, want := w.get(tree, "a.txt"), "before\n"+strings.Replace(lines(40), "line 30\n", "thirty\n", 1); got != want {
		t.Errorf("the file is\n%s", got)
	}
	state(strings.Replace(one, "five", "FIVE", 1))
	_, err := tree.Revert(w.ctx(), RevertOptions{From: start, To: end, File: "a.txt", Hunk: f.Hunks[0].ID})
	if e, ok := errors.AsType[*StaleError](err); !ok || len(e.Hunks) != 1 || !slices.Contains(e.Hunks[0].Lines, "+FIVE") {
		t.Errorf("a hunk that was changed later: %v", err)
	}
}

func TestRevertRefuses(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
	w := newWorld(t, func(o *Options) { o.MaxFile = 1 << 20 })
	ws, tree := w.create(CreateOptions{})
	outside := filepath.Join(w.dir, "outside")
	w.write("outside/b.txt", "precious\n")
	if err := errors.Join(os.RemoveAll(filepath.Join(ws.Path, "sub")), os.Symlink(outside, filepath.Join(ws.Path, "sub"))); err != nil {
		t.Fatal(err)
	}
	w.put(tree, "huge", strings.Repeat("x", 2<<20))
	for file, want := range map[string]error{
		"sub/b.txt": ErrUnsafe, "huge": ErrUnsafe, "../repo/a.txt": ErrInvalid, "/etc/passwd": ErrInvalid, ".git": ErrInvalid, "sub/.GIT/config": ErrInvalid,
		"": ErrInvalid, "a//b": ErrInvalid, "a\x00b": ErrInvalid, "--output=x": ErrNothing, ":(top)a.txt": ErrNothing,
	} {
		if _, err := tree.Revert(w.ctx(), RevertOptions{From: ws.Base, File: file}); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", file, err, want)
		}
	}
	for _, from := range []string{"--output=x", "main", "refs/heads/main", "HEAD~1", strings.Repeat("0", 40)} {
		if _, err := tree.Diff(w.ctx(), from, ""); !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrNotFound) {
			t.Errorf("from %q: %v", from, err)
		}
	}
	if got := w.read("outside/b.txt"); got != "precious\n" {
		t.Errorf("a file outside is %q", got)
	}
}

// TestRevertRace checks that a file that changes between the check and the rename is not overwritten.
func TestRevertRace(t *testing.T) {
	w := newWorld(t)
	ws, tree := w.create(CreateOptions{})
	w.put(tree, "a.txt", "agent\n")
	defer func(f func(string)) { step = f }(step)
	step = func(point string) {
		if point == "file written" {
			w.put(tree, "a.txt", "AGENT\n")
		}
	}
	if _, err := tree.Revert(w.ctx(), RevertOptions{From: ws.Base, File: "a.txt"}); !errors.Is(err, ErrStale) {
		t.Errorf("Revert: %v, want ErrStale", err)
	}
	if got := w.get(tree, "a.txt"); got != "AGENT\n" {
		t.Errorf("the file is %q", got)
	}
	if names, _ := filepath.Glob(filepath.Join(ws.Path, ".parley-*")); len(names) > 0 {
		t.Errorf("files are left: %v", names)
	}
}

// TestRevertProperty checks that reverting the hunks of any edit one by one, in any order, leads to
// the base, and that reverting one hunk does not change the others.
func TestRevertProperty(t *testing.T) {
	short.SkipQuick(t, "starts git again and again")
	w := newWorld(t)
	ws, tree := w.create(CreateOptions{})
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range short.Count(3, 8, 50) {
		text := strings.SplitAfter(lines(40), "\n")
		text = text[:len(text)-1]
		for range 1 + rng.IntN(6) {
			switch i := rng.IntN(len(text)); rng.IntN(3) {
			case 0:
				text[i] = fmt.Sprintf("changed %d\n", rng.IntN(3))
			case 1:
				text = slices.Delete(text, i, i+1)
			default:
				text = slices.Insert(text, i, fmt.Sprintf("added %d\n", rng.IntN(3)))
			}
		}
		joined := strings.Join(text, "")
		if rng.IntN(2) == 0 {
			joined = strings.TrimSuffix(joined, "\n")
		}
		if joined == lines(40) {
			continue
		}
		w.put(tree, "a.txt", joined)
		hunks := w.hunksOf(ws, tree, "a.txt")
		rng.Shuffle(len(hunks), func(i, j int) { hunks[i], hunks[j] = hunks[j], hunks[i] })
		for _, h := range hunks {
			if _, err := tree.Revert(w.ctx(), RevertOptions{From: ws.Base, File: "a.txt", Hunk: h.ID}); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		if got := w.get(tree, "a.txt"); got != lines(40) {
			t.Fatalf("round %d: the file is\n%s", round, got)
		}
	}
}

func TestHunkLines(t *testing.T) {
	h := Hunk{OldStart: 10, OldLines: 5, NewStart: 20, NewLines: 5, Lines: []string{" a", "-b", "+B", " c", "+d", "-e", " f"}}
	for _, tt := range []struct {
		side        Side
		first, last int
		want        string
		ok          bool
	}{
		{New, 20, 22, "a B c", true}, {New, 23, 24, "d f", true}, {Old, 11, 13, "b c e", true}, {New, 19, 20, "a", false}, {New, 24, 25, "f", false}, {Old, 12, 11, "", false},
	} {
		code, ok := h.Code(tt.side, tt.first, tt.last)
		if strings.Join(code, " ") != tt.want || ok != tt.ok {
			t.Errorf("%s %d to %d: %q, %t", tt.side, tt.first, tt.last, code, ok)
		}
	}
	for _, tt := range []struct {
		first, last int
		want        bool
	}{{10, 10, false}, {10, 11, true}, {11, 11, true}, {12, 12, false}, {12, 13, true}, {13, 13, true}, {14, 14, false}, {1, 9, false}, {1, 100, true}} {
		if got := h.Touches(tt.first, tt.last); got != tt.want {
			t.Errorf("it touches %d to %d: %t", tt.first, tt.last, got)
		}
	}
}

// TestHunk_without reverts hunks without context lines: additions, removals and changes, at each
// position of a file, with and without a newline at its end.
func TestHunk_without(t *testing.T) {
	for _, end := range []string{"\n", ""} {
		base := []string{"a\n", "b\n", "c" + end}
		for at := range 4 {
			for from := at; from <= 3; from++ { // the lines from at to from are new
				for _, old := range [][]string{nil, {"x\n"}, {"x\n", "y\n"}} {
					if from == at && old == nil || end == "" && at == 3 { // empty, or a line after one without a line feed
						continue
					}
					if end == "" && from == 3 && old != nil {
						continue // the last line would get a line feed
					}
					h := Hunk{NewStart: at + 1, NewLines: from - at}
					if h.NewLines == 0 {
						h.NewStart = at // git counts the line before
					}
					for _, line := range old {
						h.Lines = append(h.Lines, "-"+strings.TrimSuffix(line, "\n"))
					}
					for _, line := range base[at:from] {
						h.Lines = append(h.Lines, "+"+strings.TrimSuffix(line, "\n"))
						if !strings.HasSuffix(line, "\n") {
							h.Lines = append(h.Lines, `\ No newline at end of file`)
						}
					}
					want := strings.Join(base[:at], "") + strings.Join(old, "") + strings.Join(base[from:], "")
					if got, ok := h.without(strings.Join(base, "")); !ok || got != want {
						t.Errorf("%+v taken back gives %q, %v, want %q", h, got, ok, want)
					}
				}
			}
		}
	}
	h := Hunk{NewStart: 1, NewLines: 1, Lines: []string{"+other"}}
	for _, text := range []string{"a\n", "", "other"} {
		if got, ok := h.without(text); ok {
			t.Errorf("a hunk is taken back from another text %q: %q", text, got)
		}
	}
	for _, start := range []int{-1, 0, 3} {
		if _, ok := (Hunk{NewStart: start, NewLines: 1, Lines: []string{"+a"}}).without("a\nb\n"); ok {
			t.Errorf("a hunk at line %d is taken back", start)
		}
	}
}

// TestLeftOut checks which files cannot be reverted: those that the snapshot omitted, and everything
// below an omitted directory.
func TestLeftOut(t *testing.T) {
	s := State{Left: []LeftOut{{Path: "dir", Why: "a repository"}, {Path: "big.bin", Why: "too large"}}}
	for path, refused := range map[string]bool{"dir": true, "dir/a": true, "dir/a/b": true, "big.bin": true, "dirty": false, "dir.txt": false, "a/dir": false, "big.bin.txt": false, "a": false} {
		if err := leftOut(s, path); errors.Is(err, ErrUnsafe) != refused {
			t.Errorf("%s: %v, want it to be refused: %v", path, err, refused)
		}
	}
}
