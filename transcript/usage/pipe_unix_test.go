//go:build unix

package usage

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestPipe puts a pipe in place of a transcript: the scan reports a problem and does not block.
func TestPipe(t *testing.T) {
	o := writeShape(t, line(nil)+"\n")
	if err := syscall.Mkfifo(filepath.Join(o.ConfigDirs[0], "projects", "-p", "t.jsonl"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	l, err := Scan(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if s := l.Stats(); s.Answers != 1 || len(s.Problems) != 0 {
		t.Errorf("%+v; want s.Answers == 1 and len(s.Problems) == 0", s)
	}
}
