package server

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
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

// readLimits is the writer of a response that records the limits for reading the body.
type readLimits struct {
	*httptest.ResponseRecorder
	mu  sync.Mutex
	set []time.Time
}

func (d *readLimits) SetReadDeadline(at time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.set = append(d.set, at)
	return nil
}

// TestBody_deadline checks that the time limit for a body ends with it: a call may take longer. The body of a caller whose token has ended
// keeps its limit.
func TestBody_deadline(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ctx := range map[string]context.Context{"a call": t.Context(), "the token has ended": ended} {
		w := &readLimits{ResponseRecorder: httptest.NewRecorder()}
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/hello", strings.NewReader("{}"))
		r.Header.Set("Content-Type", "application/json")
		if data, err := new(Server).body(w, r, 10); err != nil || string(data) != "{}" {
			t.Errorf("%s: the body is %q, %v", name, data, err)
		}
		w.mu.Lock()
		if last := w.set[len(w.set)-1]; w.set[0].IsZero() || last.IsZero() != (ctx.Err() == nil) {
			t.Errorf("%s: the limits are %v, want one, and none afterwards: %v", name, w.set, ctx.Err() == nil)
		}
		w.mu.Unlock()
	}
}
