package claude

import (
	"errors"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/filelock"
)

// TestStealFromStopped tries to take over a session from a writer that does not answer,
// like a stopped process: the writer keeps the session, and there are never two writers.
func TestStealFromStopped(t *testing.T) {
	defer func(before time.Duration) { stealTime = before }(stealTime)
	stealTime = 50 * time.Millisecond
	const id = "00000000-0000-4000-8000-000000000001"
	dir := t.TempDir()
	opts := &Options{SessionID: id, SessionLock: LockSteal}
	g := &sessionGuard{launch: unchecked(opts), on: true, dir: func() string { return dir }}
	writer, err := filelock.TryLock(g.path(id))
	if err != nil {
		t.Fatal(err)
	}
	sign(writer)
	if err := g.begin(t.Context()); !errors.Is(err, ErrSessionBusy) || g.locked() != "" {
		t.Fatalf("it was taken: %v, locked %q", err, g.locked())
	}
	if !writer.Holds() {
		t.Error("the writer has lost its lock without a successor")
	}
	if err := writer.Remove(); err != nil {
		t.Fatal(err)
	}
	if err := g.begin(t.Context()); err != nil || g.locked() != id {
		t.Errorf("when the writer has ended: %v, locked %q", err, g.locked())
	}
	g.release()
}
