//go:build unix

package simagent

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestPrompts_pipe checks that a pipe in place of a session is an error and does not block.
func TestPrompts_pipe(t *testing.T) {
	const id = "00000000-0000-4000-8000-000000000001"
	p := &Provider{Dir: t.TempDir()}
	if err := syscall.Mkfifo(filepath.Join(p.Dir, id+".jsonl"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.prompts(id); err == nil {
		t.Error("a pipe is a session")
	}
	if err := p.note(id, "u"); err == nil {
		t.Error("a pipe takes a note")
	}
}
