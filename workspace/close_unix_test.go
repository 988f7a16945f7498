//go:build unix

package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/internal/filelock"
)

// TestClose_running checks that Close ends a git command that is running before it releases the directory, and that no
// command starts afterwards.
func TestClose_running(t *testing.T) {
	dir := t.TempDir()
	fifo, script := filepath.Join(dir, "started"), filepath.Join(dir, "git")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho started >'"+fifo+"'\nexec sleep 300\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	m, err := Open(t.Context(), Options{Dir: filepath.Join(dir, "data"), Git: script, Env: []string{"PATH=" + os.Getenv("PATH")}})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := m.git.line(t.Context(), dir, "rev-parse")
		l, lockErr := filelock.TryLock(m.lock.Name())
		if lockErr == nil {
			err = errors.Join(l.Unlock(), errors.New("the directory was released while git ran"))
		}
		ended <- err
	}()
	if _, err := os.ReadFile(fifo); err != nil {
		t.Fatal(err)
	}
	m.git.open.RLock() // as a command that has not returned yet
	closed := make(chan error, 1)
	go func() { closed <- m.Close() }()
	if err := <-ended; err == nil || errors.Is(err, os.ErrClosed) {
		t.Errorf("the command that ran ends with %v, want that it was cancelled", err)
	}
	m.git.open.RUnlock()
	if err := <-closed; err != nil {
		t.Errorf("Close returns %v", err)
	}
	if _, err := m.git.line(t.Context(), dir, "rev-parse"); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a command after Close ends with %v, want %v", err, os.ErrClosed)
	}
}
