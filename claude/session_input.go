package claude

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/deadline"
)

// deathTime is for the reader to see why a line could not be written.
const deathTime = 2 * time.Second

// send writes one line. When the CLI no longer reads, the error is the reason for that, if it
// is known soon.
func (s *session) send(ctx context.Context, line []byte) error {
	err := s.conn.Write(ctx, json.RawMessage(line))
	if err == nil || !peerGone(err) {
		return err
	}
	if why, known := s.whyGone(); known {
		return cmp.Or(why, err)
	}
	soon, cancel := context.WithTimeout(ctx, deathTime)
	defer cancel()
	select {
	case <-s.over:
	case <-soon.Done():
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	why, _ := s.whyGone()
	return cmp.Or(why, err)
}

// whyGone is why the CLI is gone; nil and known when nothing but its input has
// been closed.
func (s *session) whyGone() (why error, known bool) {
	s.update(func(st *sessionState) {
		switch {
		case st.why != nil:
			why = st.why
		case errors.Is(st.cause, errStopped):
			why = errEnded
		default:
			why = st.cause
		}
		known = why != nil || st.closed
	})
	return why, known
}

// prompt writes one prompt.
func (s *session) prompt(ctx context.Context, line []byte) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err := error(nil)
	s.update(func(st *sessionState) {
		if st.closed || st.leaving || st.end.noMore {
			err = cmp.Or(st.why, ErrClosed)
			return
		}
		if st.end.quiet() && !st.end.turn {
			st.clock = time.Now()
		}
		st.end.prompt()
		stopTimer(st.timers.ceiling)
		s.watch(st)
	})
	if err != nil {
		return err
	}
	s.trace.prompt(ctx, line)
	return s.send(ctx, line)
}

// noMoreInput says that there will be no more prompts. The CLI's input closes
// when its run has ended, at once where the session does not hold it.
func (s *session) noMoreInput() {
	s.update(func(st *sessionState) {
		st.end.noMore = true
		s.armCeiling(st)
	})
	s.check()
}

// closeInput closes the CLI's input; it runs inside update. The closing itself
// waits for lines under way, which the reader must not.
func (s *session) closeInput(st *sessionState) {
	st.closed = true
	stopTimer(st.timers.ceiling)
	s.work.Go(func() {
		// The process may be gone already; its end is reported elsewhere.
		_ = s.conn.CloseWrite()
	})
	s.armExit(st)
}

// watchRunEnd keeps the ceiling up to date: it counts from a result, not while a turn runs or a
// callback is being asked. It runs inside update.
func (s *session) watchRunEnd(st *sessionState, m message.Message) {
	switch m.(type) {
	case *message.Result, *message.SessionStateChanged:
		s.armCeiling(st)
	}
	switch m.(type) {
	case *message.Result, *message.Init:
		s.watch(st)
	}
	s.watchExit(st, m)
}

// armCeiling bounds how long the input stays open for background tasks after a result; it runs
// inside update.
func (s *session) armCeiling(st *sessionState) {
	stopTimer(st.timers.ceiling)
	d := deadline.Or(s.launch.RunEndTimeout, defaultRunEnd)
	if !st.end.waiting() || st.closed || d == 0 {
		return
	}
	st.timers.ceiling = time.AfterFunc(d, func() {
		s.update(func(st *sessionState) {
			// Under a question it does not count: its answer starts it again.
			if st.end.waiting() && !st.closed && s.mux.Busy() == 0 {
				st.ceiling = true
				s.closeInput(st)
			}
		})
	})
}

// writeFailed notes that a line could not be written: the session ends with it
// unless the CLI's own end says more.
func (s *session) writeFailed(err error) {
	s.update(func(st *sessionState) {
		if st.writeErr == nil && !peerGone(err) {
			st.writeErr = err
		}
		if !st.closed {
			s.closeInput(st)
		}
		// Though a prompt has no result: the CLI did not take it.
		if d := deadline.Or(s.launch.ExitTimeout, defaultExit); d > 0 {
			stopTimer(st.timers.exit)
			s.exitAfter(st, &StalledError{Phase: phaseExit, Since: d})
		}
	})
}

// peerGone reports whether a write failed because the reader is gone. A CLI that exits with
// status 0 without reading is not an error.
func peerGone(err error) bool {
	return slices.ContainsFunc([]error{ErrClosed, os.ErrClosed, io.ErrClosedPipe, syscall.EPIPE}, func(gone error) bool { return errors.Is(err, gone) })
}

// wasPrompted reports whether a prompt was written, or was to be.
func (s *session) wasPrompted() (yes bool) {
	s.update(func(st *sessionState) { yes = st.end.sent > 0 })
	return yes
}

// inTurn reports whether a turn has begun that has no result yet, and that the CLI has
// not said to be over.
func (s *session) inTurn() (yes bool) {
	s.update(func(st *sessionState) { yes = st.end.turn && st.end.state != message.StateIdle })
	return yes
}

// encode returns the line of a prompt, with the options that apply to every prompt.
func (s *session) encode(in message.UserInput) ([]byte, error) {
	in.Verbatim = in.Verbatim || s.launch.VerbatimPrompts
	if in.Raw == nil && emptyPrompt(in.Content) {
		return nil, errEmptyPrompt
	}
	var closed *closedError
	s.update(func(st *sessionState) { closed, _ = st.why.(*closedError) })
	if closed != nil {
		return nil, closed // whatever it had ended with before
	}
	return in.Line()
}
