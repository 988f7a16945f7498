package claude_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// A session is not taken over from a stopped owner: it would continue writing when it
// resumes.
func TestStealFromStoppedOwner(t *testing.T) {
	short.SkipQuick(t, "starts several processes")
	t.Parallel()
	dir := t.TempDir()
	owner := startOwner(t, dir, "new")
	thief := ownerOptions(dir)
	thief.Resume, thief.SessionLock = strings.TrimPrefix(owner.line(t), "session "), claude.LockSteal
	if err := owner.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	_, err := claude.Run(t.Context(), "Mine.", thief)
	if busy, ok := errors.AsType[*claude.SessionBusyError](err); !ok || busy.PID != owner.cmd.Process.Pid {
		t.Errorf("%v; want ok and busy.PID == owner.cmd.Process.Pid", err)
	}
	if err := owner.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if last := owner.end(t); last != "sent <nil>" {
		t.Errorf("the owner has lost its session: %s", last)
	}
	if _, err := claude.Run(t.Context(), "Now.", thief); err != nil {
		t.Error(err)
	}
}
