package proc

import (
	"context"
	"runtime"
	"sync"
)

// threads starts every child of this process. The parent-death signal fires when the thread that started
// the child ends, not the process, and the runtime may end threads at any time; so all starts use one
// thread that exists as long as any child.
var threads threadHolder

// threadHolder counts the children. The first child creates a thread, the last one ends it.
type threadHolder struct {
	mu    sync.Mutex
	users int
	cur   *thread
}

// run runs f on the thread, waits for it, and keeps the thread until drop. If ctx ends before f begins, f
// is not run.
func (h *threadHolder) run(ctx context.Context, f func()) error {
	done := make(chan struct{})
	job := func() { defer close(done); f() }
	h.mu.Lock()
	h.users++
	if h.users == 1 {
		// A new thread begins with its job: waking a waiting one takes longer.
		h.cur = newThread(job)
		h.mu.Unlock()
		<-done
		return nil
	}
	t := h.cur
	h.mu.Unlock()
	select {
	case t.jobs <- job:
		<-done
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// drop ends one run. The last one ends the thread and waits for that.
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

func newThread(first func()) *thread {
	t := &thread{jobs: make(chan func()), gone: make(chan struct{})}
	go t.run(first)
	return t
}

func (t *thread) run(first func()) {
	defer close(t.gone)
	// Without a job there is no child: the thread may return to the runtime.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	first()
	for job := range t.jobs {
		job()
	}
}
