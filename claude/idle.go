package claude

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// settleTime is the time in which the CLI must report its next activity after a task has
// ended. It normally does so at once; otherwise the session counts as idle.
const settleTime = 2 * time.Second

// WaitIdle waits until the session is idle: no turn is running or queued, no background task
// is running, and no request to this process is open. A result alone does not mean that: when
// a task ends later, the CLI begins a turn by itself. It returns the error that ended the
// session, [ErrClosed] after a clean end, or the cause of ctx. It is safe for concurrent use,
// but deadlocks in a callback.
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

// whenIdle returns a channel that is closed when the session becomes idle, or nil if it is
// idle.
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

// idle reports whether the session is idle; it runs inside update.
func (s *session) idle(st *sessionState) bool {
	return !st.rebuilding && st.end.over() && !st.end.turn && st.openTurns() == 0 && s.mux.Busy() == 0
}

// openTurns counts the unfinished turns.
func (st *sessionState) openTurns() int {
	if st.turns == nil {
		return 0
	}
	return st.turns.unfinished()
}

// check acts on the end of work: it closes the input if that is due, and wakes the callers
// that wait for an idle session.
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

// callbacksDone is called when all requests of the CLI have been answered.
func (s *session) callbacksDone() {
	s.update(func(st *sessionState) {
		st.clock = time.Now()
		s.armCeiling(st)
		s.watch(st)
	})
	s.check()
}

// watchSettling starts settleTime after the end of a task; it runs inside update.
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

// WaitSettled reports whether the session is idle. After the end of a turn it waits briefly,
// because the CLI reports idle a little later than the result.
func (c *Client) WaitSettled(ctx context.Context) bool {
	if c.r.unfinished() > 0 || c.View().LiveTasks > 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	return c.WaitIdle(ctx) == nil
}
