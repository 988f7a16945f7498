package acpagent

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
)

// TestSomeLines_absurd checks the range of lines for every pair of a first line and a limit, also absurd ones.
func TestSomeLines_absurd(t *testing.T) {
	lines := []string{"1\n", "2\n", "3"}
	for _, from := range []int64{1, 2, 3, 4, math.MaxInt64} {
		for _, limit := range []int64{math.MinInt64, -1, 0, 1, 2, 3, 4, math.MaxInt64} {
			first := min(from, 4) - 1
			rest := lines[first:]
			if limit > 0 && limit < int64(len(rest)) {
				rest = rest[:limit]
			}
			want := strings.Join(rest, "")
			if got := someLines(strings.Join(lines, ""), from, limit); got != want {
				t.Errorf("%d lines from %d are %q, want %q", limit, from, got, want)
			}
		}
	}
}

// TestReadFile_limit checks that a file over the maximum size is an error, not a part of its text.
func TestReadFile_limit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSession(&Provider{}, dir, agent.Options{})
	defer s.kit.End(nil, nil)
	for size, ok := range map[int64]bool{1000: true, maxFile + 1: false} {
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		r, err := s.readFile(t.Context(), &acp.ReadTextFileRequest{Path: path})
		if (err == nil) != ok || (r != nil) != ok {
			t.Errorf("a file of %d bytes: %v, want it read: %v", size, err, ok)
		}
		if got, is := r.(*acp.ReadTextFileResponse); is && int64(len(got.Content)) != size {
			t.Errorf("of a file of %d bytes %d are read", size, len(got.Content))
		}
	}
}
