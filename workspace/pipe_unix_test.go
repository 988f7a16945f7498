//go:build unix

package workspace

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestLoad_pipe checks that a pipe in place of a record is an error and does not block.
func TestLoad_pipe(t *testing.T) {
	m := &Manager{opts: Options{Dir: t.TempDir()}}
	const id = "w-0123456789abcdef"
	if !validID.MatchString(id) {
		t.Fatal("that is not an id")
	}
	if err := syscall.Mkdir(filepath.Join(m.opts.Dir, recordsDir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(m.recordPath(id), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := m.load(id); err == nil {
		t.Error("a pipe is a record")
	}
}
