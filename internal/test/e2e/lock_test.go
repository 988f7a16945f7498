package e2e_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
)

// lockWorld returns a world with a client that has had a turn, and options to resume its
// session.
func lockWorld(t *testing.T, trace *claude.Trace) (w *world, c *claude.Client, again claude.Options) {
	t.Helper()
	w = newWorld(t, claudetest.Say("one"), claudetest.Say("two"), claudetest.Say("three"), claudetest.Say("four"), claudetest.Say("more").Times(100))
	w.opts.Trace = trace
	c = w.connect()
	say(t, c, "Hello.")
	again = *w.opts
	again.Resume, again.Trace = c.SessionID(), nil
	return w, c, again
}

func say(t *testing.T, c *claude.Client, prompt string) {
	t.Helper()
	if talk := collect(c.Query(t.Context(), prompt)); talk.err != nil || len(talk.results()) != 1 {
		t.Fatalf("%v, %v; want talk.err == nil and len(talk.results()) == 1", talk.kinds(), talk.err)
	}
}

func locks(t *testing.T, w *world) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(w.opts.Env["CLAUDE_CONFIG_DIR"], "parley", "locks", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

func TestSessionLock(t *testing.T) {
	t.Parallel()
	w, c, again := lockWorld(t, nil)
	_, err := claude.Run(t.Context(), "Me too.", &again)
	busy := as[*claude.SessionBusyError](t, err)
	if !errors.Is(err, claude.ErrSessionBusy) || busy.PID != os.Getpid() || busy.Host == "" || busy.SessionID != c.SessionID() ||
		time.Since(busy.Since) > time.Hour || busy.Stolen {
		t.Errorf("%+v; want errors.Is(err, claude.ErrSessionBusy) and busy.PID == os.Getpid() and busy.Host != \"\" and busy.SessionID == c.SessionID() and time.Since(busy.Since) <= time.Hour and not busy.Stolen", busy)
	}

	fork := again
	fork.SessionLock = claude.LockFork
	if r, err := claude.Run(t.Context(), "Aside.", &fork); err != nil || r.SessionID == c.SessionID() {
		t.Errorf("forked: %+v, %v", r, err)
	}

	attach := again
	attach.SessionLock = claude.LockAttach
	other, err := claude.Connect(t.Context(), &attach)
	if err != nil {
		t.Fatal(err)
	}
	say(t, other, "Both of us.")
	if other.SessionID() != c.SessionID() {
		t.Errorf("attached to %s", other.SessionID())
	}
	other.Close()
	other.Close()
	_, sent := other.Send(t.Context(), claude.Text("Me again."))
	for name, err := range map[string]error{"Send": sent, "Control": other.SetPermissionMode(t.Context(), "plan"), "CloseInput": other.CloseInput()} {
		if !errors.Is(err, claude.ErrClosed) {
			t.Errorf("%s of a client that was closed: %v", name, err)
		}
	}
	say(t, c, "Still here.")

	c.Close()
	if left := locks(t, w); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if r, err := claude.Run(t.Context(), "Alone again.", &again); err != nil || r.SessionID != again.Resume {
		t.Errorf("resumed: %+v, %v", r, err)
	}
}

func TestSessionSteal(t *testing.T) {
	t.Parallel()
	w, c, again := lockWorld(t, nil)
	again.SessionLock = claude.LockSteal
	thief, err := claude.Connect(t.Context(), &again)
	if err != nil {
		t.Fatal(err)
	}
	defer thief.Close()
	if busy := as[*claude.SessionBusyError](t, c.Wait()); !busy.Stolen || busy.PID != os.Getpid() {
		t.Errorf("%+v; want busy.Stolen and busy.PID == os.Getpid()", busy)
	}
	say(t, thief, "Mine now.")
	thief.Close()
	if left := locks(t, w); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A CLI without a lock has the session open.
func TestForeignOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Say("one"), claudetest.Say("two"), claudetest.Say("three"))
	w.opts.SessionLock = claude.LockOff
	c := w.connect()
	say(t, c, "Hello.")
	again := *w.opts
	again.Resume, again.SessionLock = c.SessionID(), claude.LockSteal
	_, err := claude.Run(t.Context(), "Me too.", &again)
	if busy := as[*claude.SessionBusyError](t, err); busy.PID == 0 || busy.PID == os.Getpid() || time.Since(busy.Since) > time.Hour {
		t.Errorf("%+v; want busy.PID != 0 and busy.PID != os.Getpid() and time.Since(busy.Since) <= time.Hour", busy)
	}
	again.SessionLock = claude.LockFork
	if r, err := claude.Run(t.Context(), "Aside.", &again); err != nil || r.SessionID == c.SessionID() {
		t.Errorf("forked: %+v, %v", r, err)
	}
	c.Close()
	again.SessionLock = claude.LockRefuse
	if r, err := claude.Run(t.Context(), "Alone.", &again); err != nil || r.SessionID != again.Resume {
		t.Errorf("resumed: %+v, %v", r, err)
	}
	if left := locks(t, w); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A CLI without a lock writes the same session.
func TestForeignWriter(t *testing.T) {
	t.Parallel()
	told := make(chan claude.ForeignWriteTrace, 1000)
	_, c, again := lockWorld(t, &claude.Trace{ForeignWrite: func(tr claude.ForeignWriteTrace) { told <- tr }})
	again.SessionLock = claude.LockOff
	// Writes before the watch has settled are not detected, and a busy machine may report one
	// run in several parts.
	entries := 0
	for deadline := time.Now().Add(2 * time.Minute); entries < 2; {
		if _, err := claude.Run(t.Context(), "From elsewhere.", &again); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d foreign entries were told of", entries)
		}
		for quiet := false; !quiet && entries < 2; {
			select {
			case tr := <-told:
				if tr.SessionID != c.SessionID() || tr.Entries == 0 || tr.Bytes == 0 {
					t.Errorf("%+v; want tr.SessionID == c.SessionID() and tr.Entries != 0 and tr.Bytes != 0", tr)
				}
				entries += tr.Entries
			case <-time.After(4 * time.Second):
				quiet = true
			}
		}
	}
}
