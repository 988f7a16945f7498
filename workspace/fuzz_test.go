package workspace

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

// FuzzRecords loads arbitrary records of workspaces and of files that were being replaced. No file outside of the named
// directory is removed.
func FuzzRecords(f *testing.F) {
	f.Add([]byte(`{"id":"w-0123456789ab","repo":"/r"}`), []byte(`{"dir":"DIR","tmp":".parley-1.tmp"}`))
	f.Add([]byte(`{`), []byte(`{"dir":"DIR","tmp":"../keep"}`))
	f.Add([]byte(`null`), []byte(`{"dir":"DIR","tmp":"keep"}`))
	f.Fuzz(func(t *testing.T, rec, note []byte) {
		m := &Manager{opts: Options{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)}}
		work := t.TempDir()
		keep := filepath.Join(work, "keep")
		dir := filepath.Join(m.opts.Dir, recordsDir)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{keep: []byte("x"), m.recordPath("w-0123456789ab"): rec, filepath.Join(dir, "f-1.json"): bytes.ReplaceAll(note, []byte("DIR"), []byte(work))} {
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = m.records() // an invalid one is an error
		if err := m.recoverFiles(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(keep); err != nil {
			t.Errorf("after the note %q: %v, want every other file kept", note, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "f-1.json")); !os.IsNotExist(err) {
			t.Errorf("the note is still there (%v), want it removed", err)
		}
	})
}
