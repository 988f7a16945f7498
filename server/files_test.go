package server

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// TestUploads_manyTimes checks that an uploaded image with many references does not fill the memory.
func TestUploads_manyTimes(t *testing.T) {
	short.SkipQuick(t, "encodes large files")
	s := &Server{opts: Options{Dir: t.TempDir()}}
	if err := s.openBlobs(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir := s.uploadDir("s-1")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.png"), make([]byte, maxUpload), 0o600); err != nil {
		t.Fatal(err)
	}
	block := event.Encoded(map[string]any{"type": "image", "source": map[string]string{"type": "upload", "id": "a.png"}})
	if got, err := s.uploads(t.Context(), "s-1", []event.JSON{block}); err != nil || len(got) != 1 {
		t.Errorf("once: %d blocks, %v", len(got), err)
	}
	var failure *session.Failure
	if _, err := s.uploads(t.Context(), "s-1", []event.JSON{block, block}); !errors.As(err, &failure) || failure.Reason != api.LimitReached {
		t.Errorf("twice: %v", err)
	}
}

// TestFiles_jailAtEachCall checks that each call checks the directory of a session again: it may
// have become a link, or its root may have been removed from the list.
func TestFiles_jailAtEachCall(t *testing.T) {
	h := newHarness(t)
	work, outside := filepath.Join(h.dir, "work", "project"), filepath.Join(h.dir, "outside")
	for _, dir := range []string{work, outside} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(work, "file.txt"), "mine")
	writeFile(t, filepath.Join(outside, "file.txt"), "secret")
	var c api.ConnectResult
	h.call("session.connect", api.ConnectParams{CWD: work}, &c)
	methods := map[string]any{
		"files.search": api.FilesSearchParams{SessionID: c.SessionID, Query: "file"}, "files.read": api.FilesReadParams{SessionID: c.SessionID, Path: "file.txt"},
	}
	for name, params := range methods {
		h.call(name, params, nil)
	}
	h.server.local.Roots = []string{outside} // as after a start with another list
	for name, params := range methods {
		h.refused(api.AuthFailed, name, params)
	}
	h.server.local.Roots = h.server.opts.Directories
	if err := os.Rename(work, work+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, work); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	for name, params := range methods {
		h.refused(api.AuthFailed, name, params)
	}
}
