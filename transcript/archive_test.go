package transcript_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/internal/test/faultinject"
	"github.com/seed7221b0f9/parley/transcript"
)

// fileTree reads all files below a directory.
func fileTree(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(root, path)
		files[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return files
}

// putFile writes a file below the projects of a configuration directory.
func putFile(t *testing.T, d *transcript.Dir, rel, text string, modified time.Time) {
	t.Helper()
	path := filepath.Join(d.Path(), "projects", filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, modified, modified); err != nil {
		t.Fatal(err)
	}
}

func save(t *testing.T, a *transcript.Archive, d *transcript.Dir) *transcript.SaveReport {
	t.Helper()
	report, err := a.Save(t.Context(), d, nil)
	if err != nil || len(report.Unread) > 0 {
		t.Fatalf("%+v, %v; want err == nil and len(report.Unread) <= 0", report, err)
	}
	return report
}

// noise returns n bytes that do not compress.
func noise(n int) string {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + rng.IntN(26))
	}
	return string(b)
}

// TestArchive saves a directory while it changes, deletes the directory, and restores all of it.
func TestArchive(t *testing.T) {
	d, a := transcript.Open(t.TempDir()), transcript.OpenArchive(filepath.Join(t.TempDir(), "archive"))
	long, short := faultinject.New(1, "/home/dev/a"), faultinject.New(2, "/home/dev/b")
	then := time.Now().Add(-20 * 24 * time.Hour).Truncate(time.Second)
	big := string(long.Bytes()) + noise(600_000) + "\n"
	putFile(t, d, "-home-dev-a/"+long.ID+".jsonl", big, then)
	putFile(t, d, "-home-dev-a/"+long.ID+"/subagents/agent-a1.jsonl", string(short.Bytes()), then)
	putFile(t, d, "-home-dev-b/"+short.ID+".jsonl", string(short.Bytes()), then)
	putFile(t, d, "-home-dev-b/memory/notes.md", "# notes\n", then)
	putFile(t, d, "-home-dev-b/empty.txt", "", then)

	first := save(t, a, d)
	if first.Files != 5 || first.Changed != 5 || first.Pieces < 4 {
		t.Errorf("the first save: %+v", first)
	}
	if again := save(t, a, d); again.Changed != 0 || again.Pieces != 0 {
		t.Errorf("nothing has changed: %+v", again)
	}
	putFile(t, d, "-home-dev-a/"+long.ID+".jsonl", big+`{"type":"tag","tag":"x"}`+"\n", then.Add(time.Hour))
	if grown := save(t, a, d); grown.Changed != 1 || grown.Pieces != 1 || grown.Written > first.Written/2 {
		t.Errorf("one file has grown: %+v after %+v", grown, first)
	}
	putFile(t, d, "-home-dev-b/memory/notes.md", "other notes\n", then.Add(time.Hour))
	save(t, a, d)
	checkVersions(t, a, map[string]int{"-home-dev-a/" + long.ID + ".jsonl": 1, "-home-dev-b/memory/notes.md": 2})
	if damaged, err := a.Verify(t.Context(), nil); err != nil || len(damaged) > 0 {
		t.Errorf("%v, %v; want err == nil and len(damaged) <= 0", damaged, err)
	}

	want := fileTree(t, filepath.Join(d.Path(), "projects"))
	if err := os.RemoveAll(filepath.Join(d.Path(), "projects")); err != nil {
		t.Fatal(err)
	}
	if gone := save(t, a, d); gone.Changed != 0 {
		t.Errorf("everything is gone: %+v", gone)
	}
	report, err := a.Restore(t.Context(), d, nil)
	if err != nil || len(report.Restored) != 5 {
		t.Fatalf("%+v, %v; want err == nil and len(report.Restored) == 5", report, err)
	}
	if diff := cmp.Diff(want, fileTree(t, filepath.Join(d.Path(), "projects"))); diff != "" {
		t.Errorf("not what was there (-was +is):\n%s", diff)
	}
}

// TestArchive_versions saves files that grow, change and change back: a file that grew has one
// version, wherever its pieces end, and equal content is one version.
func TestArchive_versions(t *testing.T) {
	d, a := transcript.Open(t.TempDir()), transcript.OpenArchive(t.TempDir())
	whole := noise(512 << 10) // one piece
	then := time.Now().Add(-time.Hour).Truncate(time.Second)
	for i, step := range []struct{ grows, flips string }{{whole, "a"}, {whole + "more", "b"}, {whole + "more", "a"}} {
		at := then.Add(time.Duration(i) * time.Minute)
		putFile(t, d, "p/grows.txt", step.grows, at)
		putFile(t, d, "p/flips.txt", step.flips, at)
		putFile(t, d, "p/.parley-1.tmp", "being written", at)
		save(t, a, d)
	}
	checkVersions(t, a, map[string]int{"p/grows.txt": 1, "p/flips.txt": 2})
	files, err := a.Files()
	if err != nil || len(files) != 2 {
		t.Errorf("%d files, %v", len(files), err)
	}
}

// TestArchive_emptyPiece saves a piece again when its file is empty, as after a power failure.
func TestArchive_emptyPiece(t *testing.T) {
	d, a := transcript.Open(t.TempDir()), transcript.OpenArchive(t.TempDir())
	putFile(t, d, "p/one.txt", "content", time.Now())
	save(t, a, d)
	pieces, err := filepath.Glob(filepath.Join(a.Path(), "objects", "*", "*"))
	if err != nil || len(pieces) != 1 {
		t.Fatalf("%v, %v; want err == nil and len(pieces) == 1", pieces, err)
	}
	if err := os.Truncate(pieces[0], 0); err != nil {
		t.Fatal(err)
	}
	putFile(t, d, "p/two.txt", "content", time.Now())
	save(t, a, d)
	if damaged, err := a.Verify(t.Context(), nil); err != nil || len(damaged) > 0 {
		t.Errorf("%v, %v; want err == nil and len(damaged) <= 0", damaged, err)
	}
}

// TestArchive_newer rejects an archive that a later version of the program has written.
func TestArchive_newer(t *testing.T) {
	a := transcript.OpenArchive(t.TempDir())
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte(`{"v":2,"savedAt":"2026-01-01T00:00:00Z","files":[]}`))
	if err := errors.Join(err, w.Close(), os.MkdirAll(filepath.Join(a.Path(), "saves"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(a.Path(), "saves", "20260101T000000.json.gz"), packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Files(); err == nil || !strings.Contains(err.Error(), "newer program") {
		t.Errorf("the error is %v", err)
	}
}

func checkVersions(t *testing.T, a *transcript.Archive, want map[string]int) {
	t.Helper()
	files, err := a.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if n, ok := want[f.Path]; ok && len(f.Versions) != n {
			t.Errorf("%s has %d versions, want %d", f.Path, len(f.Versions), n)
		}
	}
}

// TestRestore restores one session of several and overwrites no existing file.
func TestRestore(t *testing.T) {
	d, a := transcript.Open(t.TempDir()), transcript.OpenArchive(t.TempDir())
	one, two := faultinject.New(3, "/home/dev/p"), faultinject.New(4, "/home/dev/p")
	then := time.Now().Add(-48 * time.Hour).Truncate(time.Second)
	for _, s := range []*faultinject.Session{one, two} {
		putFile(t, d, "-home-dev-p/"+s.ID+".jsonl", string(s.Bytes()), then)
		putFile(t, d, "-home-dev-p/"+s.ID+"/custom-title.json", `{"customTitle":"t"}`, then)
	}
	save(t, a, d)
	fresh := transcript.Open(t.TempDir())
	if _, err := a.Restore(t.Context(), fresh, &transcript.RestoreOptions{Sessions: []string{"00000000-0000-4000-8000-000000000000"}}); !errors.Is(err, transcript.ErrNoSession) {
		t.Errorf("a session that is not there: %v", err)
	}
	opts := &transcript.RestoreOptions{Sessions: []string{one.ID}, KeepTimes: true}
	report, err := a.Restore(t.Context(), fresh, opts)
	if err != nil || len(report.Restored) != 2 || !strings.Contains(report.Restored[0], "custom-title") {
		t.Fatalf("%+v, %v; want err == nil and len(report.Restored) == 2 and strings.Contains(report.Restored[0], \"custom-title\")", report, err)
	}
	s, err := fresh.Session(one.ID)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(s.Path); err != nil || !info.ModTime().Equal(then) || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v; want err == nil and info.ModTime().Equal(then) and info.Mode().Perm() == 0o600", info, err)
	}
	if err := os.WriteFile(s.Path, []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	report, err = a.Restore(t.Context(), fresh, opts)
	if err != nil || len(report.Differ) != 1 || len(report.Same) != 1 || len(report.Restored) != 0 {
		t.Errorf("%+v, %v; want err == nil and len(report.Differ) == 1 and len(report.Same) == 1 and len(report.Restored) == 0", report, err)
	}
	if text, _ := os.ReadFile(s.Path); string(text) != "mine\n" {
		t.Errorf("it was overwritten: %q", text)
	}
}

// TestRestoreDamaged restores all files but the one with damaged pieces.
func TestRestoreDamaged(t *testing.T) {
	d, a := transcript.Open(t.TempDir()), transcript.OpenArchive(t.TempDir())
	for i := range 4 {
		putFile(t, d, fmt.Sprintf("p/file%d.txt", i), fmt.Sprintf("content %d", i), time.Now())
	}
	save(t, a, d)
	files, err := a.Files()
	if err != nil {
		t.Fatal(err)
	}
	piece := func(i int) string {
		sum := files[i].Latest().Pieces[0]
		return filepath.Join(a.Path(), "objects", sum[:2], sum[2:]+".gz")
	}
	for i, damage := range []func(path string) error{
		os.Remove,
		func(path string) error { return os.Truncate(path, 9) },
		func(path string) error { // the content of another piece
			other, err := os.ReadFile(piece(3))
			if err != nil {
				return err
			}
			return os.WriteFile(path, other, 0o600)
		},
	} {
		if err := damage(piece(i)); err != nil {
			t.Fatal(err)
		}
	}
	if damaged, err := a.Verify(t.Context(), nil); err != nil || len(damaged) != 3 {
		t.Errorf("%v, %v; want err == nil and len(damaged) == 3", damaged, err)
	}
	fresh := transcript.Open(t.TempDir())
	report, err := a.Restore(t.Context(), fresh, nil)
	if err != nil || len(report.Damaged) != 3 || len(report.Restored) != 1 {
		t.Errorf("%+v, %v; want err == nil and len(report.Damaged) == 3 and len(report.Restored) == 1", report, err)
	}
	if diff := cmp.Diff(map[string]string{"projects/p/file3.txt": "content 3"}, fileTree(t, fresh.Path())); diff != "" {
		t.Errorf("the values differ:\n%s", diff)
	}
}

// TestArchive_damagedNote checks that a damaged note affects only the files that no other note
// lists: the damage is reported, the rest is restored, and the next save lists these files again.
func TestArchive_damagedNote(t *testing.T) {
	for name, harm := range map[string]func([]byte) []byte{
		"cut": func(b []byte) []byte { return b[:len(b)/2] }, "empty": func([]byte) []byte { return nil }, "a changed byte": func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
	} {
		t.Run(name, func(t *testing.T) {
			d, a := transcript.Open(t.TempDir()), transcript.OpenArchive(t.TempDir())
			putFile(t, d, "p/one.txt", "one", time.Now())
			save(t, a, d)
			notes := func() []string {
				names, err := filepath.Glob(filepath.Join(a.Path(), "saves", "*"))
				if err != nil {
					t.Fatal(err)
				}
				return names
			}
			first := notes()
			putFile(t, d, "p/two.txt", "two", time.Now())
			save(t, a, d)
			text, err := os.ReadFile(first[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(first[0], harm(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if damaged, err := a.Verify(t.Context(), nil); err != nil || len(damaged) != 1 {
				t.Errorf("Verify: %v, %v, want one damage", damaged, err)
			}
			if _, err := a.Restore(t.Context(), d, &transcript.RestoreOptions{Sessions: []string{"none"}}); !errors.Is(err, transcript.ErrNoSession) || !strings.Contains(err.Error(), filepath.Base(first[0])) {
				t.Errorf("a session that the damaged note may have: %v, want both", err)
			}
			for step, want := range []map[string]string{{"projects/p/two.txt": "two"}, {"projects/p/one.txt": "one", "projects/p/two.txt": "two"}} {
				fresh := transcript.Open(t.TempDir())
				report, err := a.Restore(t.Context(), fresh, nil)
				if err != nil || len(report.Damaged) != 1 || len(report.Restored) != len(want) {
					t.Errorf("step %d: %+v, %v, want %d files and one damage", step, report, err, len(want))
				}
				if diff := cmp.Diff(want, fileTree(t, fresh.Path())); diff != "" {
					t.Errorf("step %d: the values differ:\n%s", step, diff)
				}
				if report, err := a.Save(t.Context(), d, nil); err != nil || len(report.Unread) != 1 || report.Changed != 1-step {
					t.Errorf("step %d: Save: %+v, %v, want the damage and %d files", step, report, err, 1-step)
				}
			}
		})
	}
}

func TestRetention(t *testing.T) {
	tests := []struct {
		settings string
		days     int
		paused   bool
	}{
		{"", 30, false},
		{`{"model":"x"}`, 30, false},
		{`{"cleanupPeriodDays":365}`, 365, false},
		{`{"cleanupPeriodDays":1}`, 1, false},
		{`{"cleanupPeriodDays":0}`, 30, true},
		{`{"cleanupPeriodDays":1.5}`, 30, true},
		{`{"cleanupPeriodDays":`, 30, true},
	}
	for _, tt := range tests {
		dir := t.TempDir()
		if tt.settings != "" {
			if err := os.WriteFile(filepath.Join(dir, "settings.json"), []byte(tt.settings), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := transcript.Open(dir).Retention()
		if r.Days != tt.days || (r.Paused != "") != tt.paused {
			t.Errorf("%s: %+v; want r.Days == tt.days and (r.Paused != \"\") == tt.paused", tt.settings, r)
		}
		day := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
		if got := r.Expires(day).Sub(day); got != time.Duration(tt.days)*24*time.Hour {
			t.Errorf("%s: it expires after %v", tt.settings, got)
		}
	}
}
