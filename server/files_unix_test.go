//go:build unix

package server

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/server/api"
)

// A pipe that an agent puts into its directory, or a link to one, is refused and not waited for.
func TestFilesRead_pipe(t *testing.T) {
	h := newHarness(t)
	work := filepath.Join(h.dir, "work")
	if err := syscall.Mkfifo(filepath.Join(work, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Symlink("pipe", filepath.Join(work, "link")); err != nil {
		t.Fatal(err)
	}
	id := h.connect()
	for _, path := range []string{"pipe", "link", "."} {
		h.refused(api.InvalidParams, "files.read", api.FilesReadParams{SessionID: id, Path: path})
	}
}

// A pipe in the place of a file of the server's own is an error, and not waited for.
func TestState_pipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), tokensName)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openTokens(path); err == nil {
		t.Error("a pipe has tokens")
	}
}
