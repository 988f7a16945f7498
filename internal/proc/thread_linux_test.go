package proc

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// TestParentDeath: when the process that started the child is killed, the child dies.
func TestParentDeath(t *testing.T) {
	census(t)
	line := newLifeline(t)
	s := start(t, behaviour("parent", line.env()), Options{})
	readLine(t, bufio.NewReader(s.Stdout()))
	line.holder(t)
	if err := syscall.Kill(s.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	line.awaitDeath(t)
}

// TestStartingThreadEnds: the end of the thread that called Start does not kill the child.
func TestStartingThreadEnds(t *testing.T) {
	census(t)
	for range 20 {
		var s *Supervisor
		var tid int
		returned := make(chan struct{})
		go func() {
			defer close(returned)
			runtime.LockOSThread() // Never unlocked: the thread ends with the goroutine.
			tid = syscall.Gettid()
			s = start(t, behaviour("echo"), Options{})
		}()
		await(t, returned, "the start")
		if s == nil {
			t.FailNow()
		}
		awaitThreadEnd(t, tid)
		roundTrip(t, s, bufio.NewReader(s.Stdout()))
		if err := s.Close(); err != nil || s.Exit() != (Exit{}) {
			t.Fatalf("Close: %v, %+v", err, s.Exit())
		}
	}
}

// awaitThreadEnd polls, because the end of a thread is not reported.
func awaitThreadEnd(t *testing.T, tid int) {
	t.Helper()
	if tid == os.Getpid() {
		return // The main thread is parked, not ended.
	}
	deadline := time.Now().Add(patience)
	for exists(fmt.Sprintf("/proc/self/task/%d", tid)) {
		if time.Now().After(deadline) {
			t.Fatalf("thread %d has not ended", tid)
		}
		runtime.Gosched()
	}
}

// TestThreadGoesWithLastChild: one thread serves all children, and it ends with the last child.
func TestThreadGoesWithLastChild(t *testing.T) {
	census(t)
	a := start(t, behaviour("echo"), Options{Spawner: local{}})
	current := func() *thread {
		threads.mu.Lock()
		defer threads.mu.Unlock()
		return threads.cur
	}
	first := current()
	b := start(t, behaviour("echo"), Options{Spawner: local{}})
	if current() != first {
		t.Error("a second thread")
	}
	if err := a.Close(); err != nil || isClosed(first.gone) {
		t.Errorf("Close: %v; thread gone: %v", err, isClosed(first.gone))
	}
	if err := b.Close(); err != nil || !isClosed(first.gone) {
		t.Errorf("Close: %v; thread gone: %v", err, isClosed(first.gone))
	}
}
