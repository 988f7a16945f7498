//go:build unix

package remote

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A named pipe in place of a server's address gives no address, and does not block.
func TestAddress_pipe(t *testing.T) {
	f := &Flags{Data: t.TempDir()}
	if err := syscall.Mkfifo(filepath.Join(f.Data, addressName), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Connect(); err == nil {
		t.Error("a pipe is the address of a server")
	}
	if url := Address(f.Data); url != "" {
		t.Errorf("a pipe is the address %q", url)
	}
}
