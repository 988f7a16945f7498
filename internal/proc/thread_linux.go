package proc

import (
	"context"
	"runtime"
	"sync"
)

// threads starts every child of this process. The parent-death signal fires when the thread that
// started the child ends, not the process, and the runtime ends threads as it likes; so all starts happen
// on one thread that lives as long as any child.
var threads threadHolder

// threadHolder counts the children; with the first one a thread comes, with the last one it goes.
type threadHolder struct {
	mu    sync.Mutex
	users int
	cur   *thread
}

// hold returns the thread and keeps it until drop.
func (h *threadHolder) hold() *thread {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.users == 0 {
		h.cur = newThread()
	}
	h.users++
	return h.cur
}

// drop takes back one hold. The last one ends the thread and waits for that.
func (h *threadHolder) drop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.users--
	if h.users > 0 {
		return
	}
	close(h.cur.jobs)
	<-h.cur.gone
	h.cur = nil
}

// thread is a goroutine tied to an operating system thread.
type thread struct {
	jobs chan func()
	gone chan struct{}
}

func newThread() *thread {
	t := &thread{jobs: make(chan func()), gone: make(chan struct{})}
	go t.run()
	return t
}

func (t *thread) run() {
	defer close(t.gone)
	// When there is no job left there is no child left: the thread may go back to the runtime.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for job := range t.jobs {
		job()
	}
}

// do runs f on the thread and waits for it. If ctx ends before f begins, f is not run.
func (t *thread) do(ctx context.Context, f func()) error {
	done := make(chan struct{})
	select {
	case t.jobs <- func() { defer close(done); f() }:
		<-done
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
