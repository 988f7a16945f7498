package claude

import (
	"context"
	"errors"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/deadline"
)

// The requests that stop the running turn, and optionally the queued ones.
const (
	interruptRequest    = `{"subtype":"interrupt"}`
	interruptAllRequest = `{"subtype":"interrupt","cancel_queued":true}`
)

// halt ends the CLI with the given cause, unless there is one already, and stops the agent
// first: after the end of its input the CLI would continue its turn and start tools that the
// caller no longer wants. It interrupts a running turn and closes the input when the CLI has
// answered. It returns when the CLI was asked to exit. Concurrent calls share one attempt.
func (s *session) halt(cause error) {
	var first, working bool
	s.update(func(st *sessionState) {
		st.giveCause(cause)
		s.beginClosing(st)
		working = st.end.working() && !st.stopping && st.why == nil
		first, st.halting = !st.halting, true
	})
	if !first {
		<-s.halted
		return
	}
	defer close(s.halted)
	if !working {
		s.stop(cause)
		return
	}
	alone := s.interrupt()
	s.update(func(st *sessionState) {
		// Other work would continue until the end of CloseGrace.
		s.stopLocked(st, !alone || st.end.tasks.live() > 0)
	})
}

// interrupt asks the CLI to stop its turn. It reports whether the CLI agreed and no prompt was
// queued after it. It returns false if the CLI is still starting or its input has ended.
func (s *session) interrupt() bool {
	select {
	case <-s.ready:
	default:
		return false
	}
	ask, alone := false, false
	s.update(func(st *sessionState) {
		ask = !st.closed && st.handshake.err == nil
		alone = st.end.turn && st.end.pending <= 1
	})
	if !ask {
		return false
	}
	request := interruptAllRequest
	if alone {
		request = interruptRequest
	}
	limit := deadline.Or(s.launch.InterruptGrace, defaultInterrupt)
	ctx, cancel := deadline.With(context.Background(), limit, context.DeadlineExceeded)
	defer cancel()
	told := s.trace.control("interrupt")
	_, err := s.mux.Call(ctx, []byte(request))
	told(err)
	return err == nil && alone
}

// giveCause sets the cause of the session's end; the first one counts.
func (st *sessionState) giveCause(cause error) {
	if st.cause == nil {
		st.cause = cause
	}
}

// beginClosing ends callbacks and makes the reader ignore blocked consumers; it runs inside
// update.
func (s *session) beginClosing(st *sessionState) {
	if !st.leaving {
		st.leaving = true
		close(s.closing)
	}
}

// stop ends the CLI with the given cause, unless it is already ending, and does not wait for the
// end.
func (s *session) stop(cause error) {
	s.update(func(st *sessionState) {
		st.giveCause(cause)
		s.stopLocked(st, false)
	})
}

// abort is like stop for a CLI that is still starting: it would see the end of its input only
// later, and has no transcript to write.
func (s *session) abort(cause error) {
	s.update(func(st *sessionState) {
		st.giveCause(cause)
		s.stopLocked(st, true)
	})
}

// stopLocked ends the CLI; atOnce skips the time that the CLI has after the end of its input.
// It runs inside update.
func (s *session) stopLocked(st *sessionState, atOnce bool) {
	if st.stopping {
		return
	}
	st.stopping = true
	s.beginClosing(st)
	s.work.Go(func() {
		if p, ok := s.conn.(interface{ terminate() }); ok && atOnce {
			p.terminate()
		}
		s.conn.Close()
	})
}

// close ends the CLI and waits until all of its processes and goroutines have ended.
func (s *session) close() {
	s.halt(errStopped)
	<-s.done
	var why error
	s.update(func(st *sessionState) {
		if st.why != nil && !errors.Is(st.why, ErrClosed) {
			st.why = &closedError{st.why}
		}
		why = st.why
	})
	s.mux.Refuse(why)
}

// armExit starts the deadline for the exit of the CLI after the end of its input and of its
// last turn; it runs inside update. Background tasks of the turn get RunEndTimeout, unless
// that timeout has closed the input.
func (s *session) armExit(st *sessionState) {
	stopTimer(st.timers.exit)
	d := deadline.Or(s.launch.ExitTimeout, defaultExit)
	if !st.closed || st.end.working() || d == 0 {
		return
	}
	if st.end.tasks.live() > 0 && !st.ceiling {
		tasks := deadline.Or(s.launch.RunEndTimeout, defaultRunEnd)
		if tasks == 0 {
			return
		}
		d += tasks
	}
	s.exitAfter(st, &StalledError{Phase: phaseExit, Since: d})
}

// phaseExit is the phase of waiting for the exit of the CLI.
const phaseExit = "exit"

// exitAfter stops a CLI that does not exit within the time in stalled; it runs inside update.
func (s *session) exitAfter(st *sessionState, stalled *StalledError) {
	if st.stopping || st.why != nil {
		return
	}
	st.timers.exit = time.AfterFunc(stalled.Since, func() {
		s.explain(stalled)
		var cause error = stalled
		s.update(func(st *sessionState) {
			if st.writeErr != nil {
				cause = st.writeErr
			}
		})
		s.stop(cause)
	})
}

// isExitTimeoutOnly reports whether an error only means that the CLI did not exit in time.
func isExitTimeoutOnly(err error) bool {
	stalled, ok := errors.AsType[*StalledError](err)
	return ok && stalled.Phase == phaseExit
}

// watchExit updates the deadline of the exit; it runs inside update.
func (s *session) watchExit(st *sessionState, m message.Message) {
	switch m.(type) {
	case *message.Result, *message.Init, *message.SessionStateChanged, *message.BackgroundTasksChanged,
		*message.TaskStarted, *message.TaskUpdated, *message.TaskNotification:
		if st.closed && st.writeErr == nil {
			s.armExit(st)
		}
	}
}
