package e2e_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/test/faultinject"
	"github.com/seed7221b0f9/parley/transcript"
)

// The CLI deletes exactly the sessions that Retention reports as due; the archive has all
// of them, and a restored session can be resumed and is kept.
func TestRetention(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Say("Still here."))
	config := configDir(t, w)
	dir, err := filepath.EvalSymlinks(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "settings.json"), []byte(`{"cleanupPeriodDays":45}`), 0o600); err != nil {
		t.Fatal(err)
	}
	d, archive := transcript.Open(config), transcript.OpenArchive(t.TempDir())
	ages := []int{1, 40, 44, 46, 50}
	var paths []string
	for _, days := range ages {
		s := faultinject.New(uint64(days), dir)
		path := filepath.Join(config, "projects", claude.ProjectKey(dir), s.ID+".jsonl")
		paths = append(paths, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, s.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().AddDate(0, 0, -days)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := archive.Save(t.Context(), d, nil); err != nil {
		t.Fatal(err)
	}
	c := w.connect()
	waitGone(t, paths[3], paths[4])
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for i, days := range ages {
		_, err := os.Stat(paths[i])
		due := d.Retention().Expires(time.Now().AddDate(0, 0, -days)).Before(time.Now())
		if gone := errors.Is(err, fs.ErrNotExist); gone != due {
			t.Errorf("after %d days: gone %v, due %v", days, gone, due)
		}
	}

	id := transcript.File(paths[4]).ID
	if _, err := archive.Restore(t.Context(), d, &transcript.RestoreOptions{Sessions: []string{id}}); err != nil {
		t.Fatal(err)
	}
	w.opts.Resume = id
	result, err := claude.Run(t.Context(), "Are you there?", w.opts)
	if err != nil || result.Result != "Still here." || result.SessionID != id {
		t.Errorf("%+v, %v; want err == nil and result.Result == \"Still here.\" and result.SessionID == id", result, err)
	}
}

// waitGone waits until files are deleted.
func waitGone(t *testing.T, paths ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for _, path := range paths {
		for {
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				break
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				t.Fatalf("%s was not deleted", path)
			}
		}
	}
}
