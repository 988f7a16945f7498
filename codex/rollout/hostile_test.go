package rollout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

const hostileThread = "01900000-0000-7000-8000-00000000000a"

// bomb writes a compressed rollout of a few kilobytes that decodes to 24 MiB.
func bomb(t *testing.T, first, rest string) *Dir {
	t.Helper()
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	text := first + strings.Repeat(rest, 24<<20/len(rest))
	dir := filepath.Join(t.TempDir(), "sessions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	packed := enc.EncodeAll([]byte(text), nil)
	if err := os.WriteFile(filepath.Join(dir, "rollout-2026-01-01T00-00-00-"+hostileThread+".jsonl.zst"), packed, 0o600); err != nil {
		t.Fatal(err)
	}
	return Open(filepath.Dir(dir))
}

// asked is a context that counts the calls to Err, and ends after a number of them.
type asked struct {
	context.Context
	n   *atomic.Int64
	end int64
}

// Err returns nil for the first calls.
func (a asked) Err() error {
	if a.n.Add(1) > a.end {
		return context.Canceled
	}
	return nil
}

const metaLine = `{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"` + hostileThread + `"}}` + "\n"

// TestContext checks that every call ends with its context in the middle of a file with any kind of lines.
func TestContext(t *testing.T) {
	short.SkipLong(t, "reads files that expand to gigabytes")
	calls := map[string]func(ctx context.Context, d *Dir) error{
		"list": func(ctx context.Context, d *Dir) error { _, _, err := d.List(ctx); return err },
		"read": func(ctx context.Context, d *Dir) error { _, err := d.Read(ctx, hostileThread); return err },
		"usage": func(ctx context.Context, d *Dir) (last error) {
			for _, err := range d.Usage(ctx) {
				last = err
			}
			return last
		},
		"containing": func(ctx context.Context, d *Dir) (last error) {
			for _, err := range d.Containing(ctx, "nothing") {
				last = err
			}
			return last
		},
	}
	for shape, d := range map[string]*Dir{
		"one line":       bomb(t, "", "x"),
		"unwanted lines": bomb(t, metaLine, `{"timestamp":"","type":"other","payload":{}}`+"\n"),
		"long lines":     bomb(t, metaLine, `{"timestamp":"","type":"event_msg","payload":{"type":"token_count","x":"`+strings.Repeat("x", 1<<20)+`"}}`+"\n"),
	} {
		for name, call := range calls {
			if shape != "one line" && (name == "list" || name == "containing") {
				continue // a list needs only the beginning
			}
			all := asked{t.Context(), new(atomic.Int64), 1 << 40}
			_ = call(all, d) // errors of the file do not matter here
			if n := all.n.Load(); n < 50 {
				t.Errorf("%s of %s asks the context %d times", name, shape, n)
			}
			ended := asked{t.Context(), new(atomic.Int64), 25}
			err := call(ended, d)
			if n := ended.n.Load(); n > 75 {
				t.Errorf("%s of %s: %v, and the context was asked %d times more", name, shape, err, n-25)
			}
		}
	}
}

// TestFirstOrdinals checks that each file is opened once for its first ordinal, however often that
// is requested.
func TestFirstOrdinals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(path, []byte(`{"ordinal":7}`), 0o600); err != nil {
		t.Fatal(err)
	}
	begins := firstOrdinals{}
	for i := range 3 {
		if n, ok := begins.of(t.Context(), path); n != 7 || !ok {
			t.Errorf("call %d: %d, %v", i, n, ok)
		}
		if _, ok := begins.of(t.Context(), path+"x"); ok {
			t.Error("a file that is not there begins")
		}
		if err := os.Remove(path); i == 0 && err != nil {
			t.Fatal(err)
		}
	}
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(fmt.Errorf("the end"))
	if err := os.WriteFile(path, []byte(`{"ordinal":7}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := baseOf(ended, path); err == nil || errors.Is(err, errNotRollout) {
		t.Errorf("the error of an ended context: %v", err)
	}
}
