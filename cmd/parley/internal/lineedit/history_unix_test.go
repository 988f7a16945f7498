//go:build unix

package lineedit

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A named pipe in place of the history is an error and does not block, and the history
// works.
func TestHistory_pipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := OpenHistory(path)
	if err == nil {
		t.Error("a pipe is a history")
	}
	if err := h.Add("line"); err == nil || len(h.entries) != 1 {
		t.Errorf("%v, %d entries", err, len(h.entries))
	}
}
