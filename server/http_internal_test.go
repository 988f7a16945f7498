package server

import (
	"io"
	"runtime"
	"strings"
	"testing"
)

// TestReadAll checks that a body is read completely for any claimed length, and that a correct
// length allocates once.
func TestReadAll(t *testing.T) {
	large := strings.Repeat("x", 8<<20)
	for _, c := range []struct {
		body   string
		length int64
	}{{"", 0}, {"", -1}, {"{}", 2}, {"{}", -1}, {large, -1}, {large, int64(len(large))}, {large[:smallBody], smallBody}, {large[:smallBody+1], smallBody + 1}} {
		got, err := readAll(struct{ io.Reader }{strings.NewReader(c.body)}, c.length)
		if err != nil || string(got) != c.body {
			t.Errorf("a body of %d bytes with length %d: %d bytes, %v", len(c.body), c.length, len(got), err)
		}
	}
	if _, err := readAll(strings.NewReader("short"), 1<<20); err == nil {
		t.Error("a body that ends early was taken")
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := readAll(struct{ io.Reader }{strings.NewReader(large)}, int64(len(large))); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if used := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(large)); used > 1.3 {
		t.Errorf("a body takes %.1f times its size, want 1", used)
	}
}
