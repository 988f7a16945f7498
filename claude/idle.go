package claude

import (
	"cmp"
	"context"
	"errors"
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
			if errors.Is(st.why, ErrClosed) {
				err = st.why
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
	return st.end.over() && !st.end.turn && st.openTurns() == 0 && s.mux.Busy() == 0
}

// openTurns counts the turns that the CLI has not finished.
func (st *sessionState) openTurns() int {
	if st.turns == nil {
		return 0
	}
	return st.turns.unfinished()
}

// check does what is due when something has ended: close the input, wake the callers that wait
// for an idle session.
func (s *session) check() {
	s.update(func(st *sessionState) {
		if st.end.due() && !st.closed && !st.leaving && s.mux.Busy() == 0 && (!st.end.hold || st.openTurns() == 0) {
			s.closeInput(st)
		}
		if st.wake != nil && s.idle(st) {
			close(st.wake)
			st.wake = nil
		}
	})
}

// callbacksDone is called when no request of the CLI waits for an answer.
func (s *session) callbacksDone() {
	s.update(func(st *sessionState) {
		st.clock = time.Now()
		s.armCeiling(st)
		s.watch(st)
	})
	s.check()
}

// watchSettling bounds the wait after the end of a task; it runs inside update.
func (s *session) watchSettling(st *sessionState) {
	if !st.end.settling {
		stopTimer(st.timers.settle)
		st.timers.settle = nil
		return
	}
	if st.timers.settle == nil {
		st.timers.settle = time.AfterFunc(settleTime, func() {
			s.update(func(st *sessionState) { st.end.settling = false })
			s.check()
		})
	}
}

// WaitSettled reports whether the session is idle, or will be right after the end of a turn:
// the CLI says so a little later than the result.
func (c *Client) WaitSettled(ctx context.Context) bool {
	if c.r.unfinished() > 0 || c.View().LiveTasks > 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	return c.WaitIdle(ctx) == nil
}
