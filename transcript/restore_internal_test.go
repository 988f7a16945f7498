package transcript

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// renames records the target names of Rename.
type renames struct {
	fileSystem
	to []string
}

func (r *renames) Rename(from, to string) error {
	r.to = append(r.to, filepath.Base(to))
	return r.fileSystem.Rename(from, to)
}

// TestRestore_order checks that a session is deleted with its file first and restored with its file last, so that it is never visible incomplete.
func TestRestore_order(t *testing.T) {
	const id = "0a0a0a0a-0000-4000-8000-000000000001"
	d := Open(t.TempDir())
	project := filepath.Join(d.projects(), "p")
	if err := os.MkdirAll(filepath.Join(project, id), 0o700); err != nil {
		t.Fatal(err)
	}
	line := `{"type":"user","uuid":"u","sessionId":"` + id + `","message":{"role":"user","content":"hello"},"timestamp":"2026-01-01T00:00:00Z","cwd":"/p"}` + "\n"
	if err := os.WriteFile(filepath.Join(project, id+".jsonl"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	seen := &renames{fileSystem: d.files}
	d.files = seen
	if err := d.Delete(t.Context(), id, nil); err != nil {
		t.Fatal(err)
	}
	order := func() []string {
		all := slices.DeleteFunc(seen.to, func(name string) bool { return name != id && name != id+".jsonl" })
		seen.to = nil
		return all
	}
	if got, want := order(), []string{id + ".jsonl", id}; !slices.Equal(got, want) {
		t.Errorf("Delete moves %q, want %q", got, want)
	}
	if err := d.Restore(id); err != nil {
		t.Fatal(err)
	}
	if got, want := order(), []string{id, id + ".jsonl"}; !slices.Equal(got, want) {
		t.Errorf("Restore moves %q, want %q", got, want)
	}
}

// TestArchive_outside checks that a note cannot name a file outside of the directory, and that the other files are restored.
func TestArchive_outside(t *testing.T) {
	config := t.TempDir()
	d, a := Open(config), OpenArchive(t.TempDir())
	if err := os.MkdirAll(filepath.Join(d.projects(), "p"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.projects(), "p", "one.txt"), []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Save(t.Context(), d, nil); err != nil {
		t.Fatal(err)
	}
	files, err := a.Files()
	if err != nil || len(files) != 1 {
		t.Fatalf("the archive has %+v, %v, want one file", files, err)
	}
	note := &saveNote{Version: 1, SavedAt: time.Now().Add(time.Second)}
	for _, path := range []string{"../out.txt", "p/../../out.txt", "/out.txt", ".."} {
		note.Files = append(note.Files, &notedFile{Path: path, FileVersion: *files[0].Latest()})
	}
	if err := a.writeNote(note); err != nil {
		t.Fatal(err)
	}
	parent := t.TempDir()
	fresh := Open(filepath.Join(parent, "config"))
	report, err := a.Restore(t.Context(), fresh, nil)
	if err != nil || len(report.Damaged) != len(note.Files) || !slices.Equal(report.Restored, []string{"p/one.txt"}) {
		t.Errorf("Restore: %+v, %v, want one file, and %d that are refused", report, err, len(note.Files))
	}
	for _, name := range []string{filepath.Join(parent, "out.txt"), filepath.Join(parent, "config", "out.txt"), "/out.txt"} {
		if _, err := os.Lstat(name); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}

// TestRestore_dryRun checks that a dry run reports what would be restored and writes nothing.
func TestRestore_dryRun(t *testing.T) {
	d, a := Open(t.TempDir()), OpenArchive(t.TempDir())
	if err := os.MkdirAll(filepath.Join(d.projects(), "p"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.projects(), "p", "one.txt"), []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Save(t.Context(), d, nil); err != nil {
		t.Fatal(err)
	}
	fresh := Open(t.TempDir())
	report, err := a.Restore(t.Context(), fresh, &RestoreOptions{DryRun: true})
	if err != nil || !slices.Equal(report.Restored, []string{"p/one.txt"}) {
		t.Errorf("a dry run: %+v, %v, want the file", report, err)
	}
	if left, err := os.ReadDir(fresh.Path()); err != nil || len(left) > 0 {
		t.Errorf("a dry run leaves %v, %v", left, err)
	}
}
