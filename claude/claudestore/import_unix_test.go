//go:build unix

package claudestore_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/claude/claudestore"
	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// A named pipe in place of a transcript is an error and does not block.
func TestImportSession_pipe(t *testing.T) {
	config := t.TempDir()
	project := filepath.Join(config, "projects", "-some-where")
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(project, importedID+".jsonl"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := claudestore.ImportSession(t.Context(), claudestore.NewMemory(), importedID, &claudestore.ImportOptions{ConfigDir: config})
	if !errors.Is(err, regularfile.ErrNotRegular) {
		t.Errorf("the error is %v", err)
	}
}
