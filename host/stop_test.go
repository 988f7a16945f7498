//go:build unix

package host

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/seed7221b0f9/parley/internal/filelock"
)

// After Stop has returned, the host no longer uses the data directory.
func TestStop_ended(t *testing.T) {
	for range 20 {
		dir := t.TempDir()
		ended := make(chan error, 1)
		go func() { ended <- Run(context.Background(), dir, Options{}, nil) }()
		var l *Link
		for ctx := within(t); l == nil; {
			must(t, ctx.Err())
			l, _ = Dial(ctx, dir, 0) // soon
		}
		must(t, l.Stop(within(t)))
		lock, err := filelock.TryLock(filepath.Join(dir, folder, lockName))
		if err != nil {
			t.Errorf("after Stop the lock of the host is held: %v", err)
		} else {
			must(t, lock.Unlock())
		}
		must(t, l.Close())
		must(t, <-ended)
	}
}

// Stop returns even if the next host takes the data directory immediately.
func TestStop_successor(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		var err error
		for err == nil && ctx.Err() == nil {
			if err = Run(ctx, dir, Options{}, nil); errors.Is(err, ErrRunning) {
				err = nil // Stop holds the lock for a moment if it finds it free
			}
		}
		ended <- err
	}()
	for range 5 {
		var l *Link
		for ctx := within(t); l == nil; {
			must(t, ctx.Err())
			l, _ = Dial(ctx, dir, 0) // soon
		}
		must(t, l.Stop(within(t)))
		must(t, l.Close())
	}
	cancel()
	must(t, <-ended)
}
