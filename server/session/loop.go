package session

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/seed7221b0f9/parley/server/api"
)

// loop is the goroutine of a session. All state of the session is used only in it, one function at
// a time; others enter through call and post.
type loop struct {
	srv    *Sessions
	id     string
	logger *slog.Logger
	cmds   chan func()
	ctx    context.Context // ends when the session is to be unloaded
	cancel context.CancelFunc
	done   chan struct{} // closed when the loop has ended
	// lostOwner is set when this server no longer owns the session.
	lostOwner atomic.Bool
}

func newLoop(s *Sessions, id string) *loop {
	l := &loop{srv: s, id: id, logger: s.logger.With("session", id), cmds: make(chan func()), done: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancel(s.ctx)
	return l
}

// bounded returns a context for one call of the log, of an agent's files or of the server. It does
// not end with the loop, so that calls of the loop are finished.
func (l *loop) bounded() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(l.ctx), l.srv.opts.CallTimeout)
}

// call runs f in the loop and returns its error. It fails when the actor has ended, or when ctx
// ends before the loop has accepted f; f never runs if ctx has ended before the call. It waits for
// an accepted f: f may write to variables of the caller, and the caller needs its result.
func (l *loop) call(ctx context.Context, f func() error) error {
	if ctx.Err() != nil {
		return ctx.Err() // select would choose at random
	}
	result := make(chan error, 1)
	select {
	case l.cmds <- func() { result <- f() }:
		return <-result
	case <-l.done:
		return l.closed()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// closed returns the failure of calls after the end of the loop.
func (l *loop) closed() error {
	if l.lostOwner.Load() {
		return errNotOwner()
	}
	if l.srv.Working() != nil {
		return errClosed()
	}
	return Fail(api.NotConnected, "the session is closed")
}

// post runs f in the loop, unless the actor has ended. It reports whether f will run.
func (l *loop) post(f func()) bool {
	select {
	case l.cmds <- f:
		return true
	case <-l.done:
		return false
	}
}

// alarm is a reusable timer. Setting it again for the same time is cheap. The zero value is ready
// to use.
type alarm struct {
	timer *time.Timer
	due   time.Time
}

// at returns a channel that is ready at a time, once.
func (a *alarm) at(due time.Time) <-chan time.Time {
	switch {
	case a.timer == nil:
		a.timer = time.NewTimer(time.Until(due))
	case a.due != due:
		a.timer.Reset(time.Until(due))
	}
	a.due = due
	return a.timer.C
}

func (a *alarm) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}
