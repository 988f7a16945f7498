package claude

import (
	"cmp"
	"context"
	"time"
)

// settleTime is for the CLI to say what it does next when a task has ended. It
// does so at once; one that does not is taken to be idle.
const settleTime = 2 * time.Second

// WaitIdle waits until the session has nothing to do: no turn runs, none is
// queued, no task lives in the background, and nothing is being asked of this
// process. A result alone does not say that: a task that ends later makes the
// CLI begin a turn by itself. The error is what the session has ended with,
// [ErrClosed] if it ended well, or the cause of ctx. It may be called from
// several goroutines; in a callback it would wait for itself.
func (c *Client) WaitIdle(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	wake, err := c.s.whenIdle()
	if err != nil || wake == nil {
		return err
	}
	select {
	case <-wake:
		return nil
	case <-c.s.over:
		_, err := c.s.whenIdle()
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// whenIdle returns what is closed when the session is idle next; nil if it is.
func (s *session) whenIdle() (wake <-chan struct{}, err error) {
	s.update(func(st *sessionState) {
		switch {
		case st.why != nil:
			err = cmp.Or(st.cause, st.why)
			if err == errStopped {
				err = errEnded
			}
		case !s.idle(st):
			if st.wake == nil {
				st.wake = make(chan struct{})
			}
			wake = st.wake
		}
	})
	return wake, err
}

// idle reports whether the session has nothing to do; it runs inside update.
func (s *session) idle(st *sessionState) bool {
	return st.end.over() && !st.end.turn && s.openTurns() == 0 && s.mux.Busy() == 0
}

// openTurns counts the turns that the CLI is not through with.
func (s *session) openTurns() int {
	if s.router == nil {
		return 0
	}
	return s.router.unfinished()
}

// check does what is due when something has ended: close the input, wake whoever
// waits for an idle session.
func (s *session) check() {
	s.update(func(st *sessionState) {
		if st.end.due() && !st.closed && s.mux.Busy() == 0 && (!st.end.hold || s.openTurns() == 0) {
			s.closeInput(st)
		}
		if st.wake != nil && s.idle(st) {
			close(st.wake)
			st.wake = nil
		}
	})
}

// unasked is called when nothing is being asked any more.
func (s *session) unasked() {
	s.update(func(st *sessionState) {
		st.clock = time.Now()
		s.armCeiling(st)
		s.watch(st)
	})
	s.check()
}

// watchSettling bounds the wait behind the end of a task; it runs inside update.
func (s *session) watchSettling(st *sessionState) {
	if !st.end.settling {
		stopTimer(st.settle)
		st.settle = nil
		return
	}
	if st.settle == nil {
		st.settle = time.AfterFunc(settleTime, func() {
			s.update(func(st *sessionState) { st.end.settling = false })
			s.check()
		})
	}
}
