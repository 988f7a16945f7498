package claude

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/filelock"
)

// Session ids.
const (
	sessionOne = "00000000-0000-4000-8000-000000000001"
	sessionTwo = "00000000-0000-4000-8000-000000000002"
)

// locksIn returns the names of the lock files of a guard.
func locksIn(t *testing.T, g *sessionGuard) (names []string) {
	t.Helper()
	files, err := os.ReadDir(g.dir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

// A guard locks one session at a time: the session that its CLI reported last. It holds no lock
// after the CLI has ended.
func TestGuardFollows(t *testing.T) {
	dir := t.TempDir()
	g := &sessionGuard{launch: unchecked(nil), on: true, dir: func() string { return dir }}
	g.follow(sessionOne)
	if names := locksIn(t, g); len(names) != 1 || names[0] != sessionOne+".lock" {
		t.Fatalf("the locks of the first session are %q", names)
	}
	g.follow(sessionTwo)
	if names := locksIn(t, g); len(names) != 1 || names[0] != sessionTwo+".lock" {
		t.Fatalf("the locks of the second session are %q", names)
	}
	g.release()
	g.follow(sessionOne) // a line that is read late
	if names := locksIn(t, g); len(names) != 0 {
		t.Errorf("after the release there is %q", names)
	}
}

// Continue resumes the session that was written last.
func TestNewestSession(t *testing.T) {
	config, dir := t.TempDir(), t.TempDir()
	l := unchecked(&Options{Dir: dir, Env: map[string]string{"CLAUDE_CONFIG_DIR": config}})
	if id := newestSession(l); id != "" {
		t.Fatalf("there is none, and yet %q", id)
	}
	at := time.Now()
	for id, age := range map[string]time.Duration{"a": 2 * time.Hour, "b": time.Hour, "c": 3 * time.Hour} {
		file := transcriptFile(l, id)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at, at.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if id := newestSession(l); id != "b" {
		t.Errorf("the newest is %q", id)
	}
}

// A lock that another process has stolen is detected, and one that is still held is not reported.
func TestGuardNoticesASteal(t *testing.T) {
	dir := t.TempDir()
	g := &sessionGuard{launch: unchecked(nil), on: true, dir: func() string { return dir }}
	if err := g.stolen(); err != nil {
		t.Errorf("without a lock: %v", err)
	}
	g.follow(sessionOne)
	if err := g.stolen(); err != nil {
		t.Errorf("with its own lock: %v", err)
	}
	other, old, err := filelock.Steal(g.path(sessionOne))
	if err != nil {
		t.Fatal(err)
	}
	busy, ok := errors.AsType[*SessionBusyError](g.stolen())
	if !ok || !busy.Stolen || busy.SessionID != sessionOne {
		t.Errorf("after the steal: %+v", busy)
	}
	g.release()
	if err := errors.Join(old.End(), other.Remove()); err != nil {
		t.Error(err)
	}
}

// A symbolic link in place of a lock directory is not followed: no file is written at its target.
func TestLockDir_links(t *testing.T) {
	for _, linked := range []string{"parley", "parley/locks"} {
		config, outside := t.TempDir(), t.TempDir()
		link := filepath.Join(config, filepath.FromSlash(linked))
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, link); err != nil {
			t.Skip("no links here: ", err)
		}
		g := newSessionGuard(unchecked(&Options{Env: map[string]string{"CLAUDE_CONFIG_DIR": config}, Logger: slog.New(slog.DiscardHandler)}))
		g.follow(sessionOne)
		if files, err := os.ReadDir(outside); len(files) > 0 || err != nil || g.file != nil {
			t.Errorf("with a link at %s: %v outside, locked %v, %v", linked, files, g.file != nil, err)
		}
	}
}

// An aborted steal returns the lock to its owner.
func TestGuardStopsSteal(t *testing.T) {
	dir := t.TempDir()
	g := &sessionGuard{launch: unchecked(&Options{SessionLock: LockSteal}), on: true, dir: func() string { return dir }}
	owner, err := filelock.TryLock(g.path(sessionOne))
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if err := g.take(ctx, sessionOne); !errors.Is(err, why) {
		t.Errorf("the steal ended with %v", err)
	}
	if !owner.Holds() {
		t.Error("the owner has lost its lock")
	}
	if err := owner.Remove(); err != nil {
		t.Error(err)
	}
	if names := locksIn(t, g); len(names) != 0 {
		t.Errorf("%q is left", names)
	}
}

// A client that is closed twice leaves its session once: the others stay attached.
func TestAttachedClientLeavesOnce(t *testing.T) {
	shared := &attachment{n: 2}
	one, two := &Client{shared: shared}, &Client{shared: shared}
	for range 2 {
		if one.leave() {
			t.Error("the session is closed under another client")
		}
	}
	if !two.leave() {
		t.Error("the last client does not close the session")
	}
}
