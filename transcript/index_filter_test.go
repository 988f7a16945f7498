package transcript

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
)

// writeSessionAt writes a session of one prompt that started in a directory.
func writeSessionAt(t *testing.T, d *Dir, key, id, cwd string, at time.Time) string {
	t.Helper()
	path := filepath.Join(d.projects(), key, id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"parentUuid":null,"type":"user","uuid":"u","sessionId":%q,"cwd":%q,"timestamp":"2026-11-01T10:00:00.000Z","message":{"role":"user","content":"hello"}}`, id, cwd)
	if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
	return path
}

func numbered(i int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", i) }

// listed returns the ids of a list.
func listed(t *testing.T, d *Dir, f Filter) (ids []string) {
	t.Helper()
	for info, err := range d.Sessions(t.Context(), f) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, info.SessionID)
	}
	return ids
}

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// TestListOrder lists sessions with equal times in descending order of their ids, as the official
// SDK does.
func TestListOrder(t *testing.T) {
	d := Open(t.TempDir())
	for i := range 3 {
		writeSessionAt(t, d, "-p", numbered(i), "/p", noon)
	}
	writeSessionAt(t, d, "-q", numbered(9), "/q", noon.Add(-time.Hour))
	if got, want := listed(t, d, Filter{}), []string{numbered(2), numbered(1), numbered(0), numbered(9)}; !slices.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
}

// TestSinceUntil checks that Since is inclusive and Until exclusive.
func TestSinceUntil(t *testing.T) {
	d := Open(t.TempDir())
	for i := range 3 {
		writeSessionAt(t, d, "-p", numbered(i), "/p", noon.Add(time.Duration(i)*time.Minute))
	}
	if got, want := listed(t, d, Filter{Since: noon.Add(time.Minute), Until: noon.Add(2 * time.Minute)}), []string{numbered(1)}; !slices.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
}

// TestIndexAfterPartOfAList checks that an incomplete list keeps the index records of files that it did not see.
func TestIndexAfterPartOfAList(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that a list does not read ahead
	for name, filter := range map[string]Filter{
		"limit": {Limit: 1}, "since": {Since: noon.Add(2 * time.Minute)}, "until": {Until: noon.Add(time.Minute)}, "directory": {Dir: "/p", NoWorktrees: true},
	} {
		d, cache := Open(t.TempDir()), t.TempDir()
		for i := range 3 {
			writeSessionAt(t, d, "-p", numbered(i), "/p", noon.Add(time.Duration(i)*time.Minute))
		}
		writeSessionAt(t, d, "-q", numbered(9), "/q", noon)
		list := func(f Filter) int {
			ix, err := OpenIndex(cache)
			if err != nil {
				t.Fatal(err)
			}
			f.Index = ix
			return len(listed(t, d, f))
		}
		if n := list(Filter{}); n != 4 {
			t.Fatalf("%d sessions", n)
		}
		list(filter)
		// A new session, so that the index is written.
		writeSessionAt(t, d, "-p", numbered(7), "/p", noon.Add(time.Hour))
		list(filter)
		ix, err := OpenIndex(cache)
		if err != nil {
			t.Fatal(err)
		}
		if len(ix.records) < 4 {
			t.Errorf("%s: the index has %d files", name, len(ix.records))
		}
	}
	// A complete list drops deleted files.
	d, cache := Open(t.TempDir()), t.TempDir()
	gone := writeSessionAt(t, d, "-p", numbered(0), "/p", noon)
	writeSessionAt(t, d, "-p", numbered(1), "/p", noon)
	for range 2 {
		ix, err := OpenIndex(cache)
		if err != nil {
			t.Fatal(err)
		}
		listed(t, d, Filter{Index: ix})
		os.Remove(gone)
	}
	if ix, _ := OpenIndex(cache); len(ix.records) != 1 {
		t.Errorf("the index has %d files", len(ix.records))
	}
}

// TestIndexAndDirectory lists two directories with one key. An index that was made without a
// directory cannot distinguish them and is not used for this.
func TestIndexAndDirectory(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	one, two := filepath.Join(root, "a-b"), filepath.Join(root, "a", "b")
	for _, dir := range []string{one, two} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	d := Open(filepath.Join(root, "config"))
	key := claude.ProjectKey(one)
	if key != claude.ProjectKey(two) {
		t.Fatalf("%s and %s have two keys", one, two)
	}
	writeSessionAt(t, d, key, numbered(1), one, noon)
	writeSessionAt(t, d, key, numbered(2), two, noon)
	ix, err := OpenIndex(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if got := listed(t, d, Filter{Index: ix}); len(got) != 2 {
		t.Fatalf("everywhere: %v", got)
	}
	for range 2 { // the second time from the index
		for dir, want := range map[string]string{one: numbered(1), two: numbered(2)} {
			if got := listed(t, d, Filter{Dir: dir, NoWorktrees: true, Index: ix}); !slices.Equal(got, []string{want}) {
				t.Errorf("in %s: %v, want %s", dir, got, want)
			}
		}
	}
}

// TestArchiveSameSize saves a file again that was rewritten with the same size.
func TestArchiveSameSize(t *testing.T) {
	d, a := Open(t.TempDir()), OpenArchive(t.TempDir())
	path := writeSessionAt(t, d, "-p", numbered(1), "/one", noon)
	save := func() *SaveReport {
		t.Helper()
		report, err := a.Save(t.Context(), d, nil)
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	save()
	writeSessionAt(t, d, "-p", numbered(1), "/two", noon.Add(time.Second))
	if report := save(); report.Changed != 1 {
		t.Errorf("another content of the same size: %+v", report)
	}
	if report := save(); report.Changed != 0 {
		t.Errorf("nothing has changed: %+v", report)
	}
	files, err := a.Files()
	if err != nil || len(files) != 1 || len(files[0].Versions) != 2 {
		t.Fatalf("files %v, %v", files, err)
	}
	want, _ := os.ReadFile(path)
	to := Open(t.TempDir())
	if _, err := a.Restore(t.Context(), to, nil); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(filepath.Join(to.projects(), "-p", numbered(1)+".jsonl")); string(got) != string(want) {
		t.Errorf("restored %s, want %s", got, want)
	}
}

// TestRestoreOverSession checks that Restore never replaces an existing session.
func TestRestoreOverSession(t *testing.T) {
	d := Open(t.TempDir())
	writeSessionAt(t, d, "-p", numbered(1), "/one", noon)
	if err := d.Delete(t.Context(), numbered(1), nil); err != nil {
		t.Fatal(err)
	}
	path := writeSessionAt(t, d, "-p", numbered(1), "/two", noon)
	if err := d.Restore(numbered(1)); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a session: %v", err)
	}
	if text, _ := os.ReadFile(path); !strings.Contains(string(text), "/two") {
		t.Error("the session is another one now")
	}
	if list, err := d.Trash(); err != nil || len(list) != 1 {
		t.Errorf("in the trash: %v, %v", list, err)
	}
}

// asking is a context that calls a function on the first call of Done.
type asking struct {
	context.Context
	first func()
}

// Done calls the function and returns the channel of the context.
func (a *asking) Done() <-chan struct{} {
	if f := a.first; f != nil {
		a.first = nil
		f()
	}
	return a.Context.Done()
}

// TestFollowTorn checks that an incomplete line is not yielded before it is complete, even if its
// beginning is a valid line.
func TestFollowTorn(t *testing.T) {
	for _, parts := range [][2]string{{`{"type":"tag","tag":"`, `x"}` + "\n"}, {`{"type":"tag","tag":"x"}`, "\n"}} {
		d := Open(t.TempDir())
		path := writeSessionAt(t, d, "-p", numbered(1), "/p", noon)
		add := func(text string) {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteString(text); err != nil {
				t.Fatal(err)
			}
		}
		add(parts[0])
		whole := false
		ctx := &asking{t.Context(), func() { whole = true; add(parts[1]) }}
		n := 0
		for e, err := range d.sessionAt(path).Follow(ctx, &FollowOptions{Interval: time.Millisecond}) {
			if err != nil {
				t.Fatalf("%q: %v", parts, err)
			}
			if n++; n == 1 {
				continue
			}
			if !whole || string(e.Raw()) != `{"type":"tag","tag":"x"}` {
				t.Errorf("%q: %s was yielded, whole: %v", parts, e.Raw(), whole)
			}
			break
		}
	}
}
