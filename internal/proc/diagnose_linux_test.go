package proc

import (
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/spawn"
)

// TestStartForeignProgram has the kernel refuse programs made for another machine.
func TestStartForeignProgram(t *testing.T) {
	census(t)
	here, other := elf.EM_X86_64, elf.EM_AARCH64
	if runtime.GOARCH == "arm64" {
		here, other = other, here
	} else if runtime.GOARCH != "amd64" {
		t.Skip("the program files are made for amd64 and arm64")
	}
	tests := map[string]struct {
		content []byte
		err     error
		want    string
	}{
		"architecture": {elfFile(other, ""), syscall.ENOEXEC, ", this system is " + runtime.GOARCH},
		"loader":       {elfFile(here, "/lib/ld-musl-none.so.1"), syscall.ENOENT, "needs the loader /lib/ld-musl-none.so.1"},
		"Mach-O":       {[]byte("\xcf\xfa\xed\xfe...."), syscall.ENOEXEC, "a macOS program"},
	}
	for name, test := range tests {
		path := filepath.Join(t.TempDir(), "claude")
		if err := os.WriteFile(path, test.content, 0o755); err != nil {
			t.Fatal(err)
		}
		_, err := Start(t.Context(), spawn.Command{Path: path}, Options{})
		if !errors.Is(err, test.err) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
