//go:build unix

package server

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/server/api"
)

// TestFilesRead_pipe checks that a pipe in the agent's directory, or a link to one, is rejected without blocking.
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

// TestState_pipe checks that a pipe in place of a server file is an error and does not block.
func TestState_pipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), tokensName)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openTokens(path); err == nil {
		t.Error("a pipe has tokens")
	}
}
