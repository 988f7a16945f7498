//go:build unix

package main

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe in the place of a server's address leads to none, and is not waited for.
func TestAddress_pipe(t *testing.T) {
	f := &remoteFlags{data: t.TempDir()}
	if err := syscall.Mkfifo(filepath.Join(f.data, addressName), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.connect(); err == nil {
		t.Error("a pipe is the address of a server")
	}
	if url, ok := rememberedAddress(f.data); ok {
		t.Errorf("a pipe is the address %q", url)
	}
}
