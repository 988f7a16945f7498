package claude

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/deadline"
)

// deathTime limits the wait for the reader to find out why a line could not be written.
const deathTime = 2 * time.Second

// send writes one line.
func (s *session) send(ctx context.Context, line []byte) error {
	return s.sent(ctx, s.conn.Write(ctx, json.RawMessage(line)))
}

// sent returns the error of writing a line. If the CLI has stopped reading, it waits briefly for the exit
// error, which is the reason, and returns that.
func (s *session) sent(ctx context.Context, err error) error {
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

// whyGone returns the reason why the CLI has ended; nil and known if only its input was closed.
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

// promptLine is the line of a prompt: in one piece, or in parts if it is large.
type promptLine struct {
	whole []byte
	parts iter.Seq[[]byte] // nil for a line in one piece
}

func (l promptLine) text() []byte {
	if l.parts == nil {
		return l.whole
	}
	var all []byte
	for part := range l.parts {
		all = append(all, part...)
	}
	return all
}

// prompt writes one prompt and returns an error if it could not be written.
func (s *session) prompt(ctx context.Context, line promptLine) error {
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
	if conn, ok := s.conn.(partsConn); ok && line.parts != nil {
		return s.sent(ctx, conn.writeParts(ctx, line.parts))
	}
	return s.send(ctx, line.text())
}

// noMoreInput records that no more prompts follow. The CLI's input closes when its run has
// ended, or at once if the session does not hold it open.
func (s *session) noMoreInput() {
	s.update(func(st *sessionState) {
		st.end.noMore = true
		s.armCeiling(st)
	})
	s.check()
}

// closeInput closes the CLI's input; it runs inside update. It closes the input in a new
// goroutine, because that waits for lines being written, which the reader must not do.
func (s *session) closeInput(st *sessionState) {
	st.closed = true
	stopTimer(st.timers.ceiling)
	s.work.Go(func() {
		// The process may have ended already; its end is reported elsewhere.
		_ = s.conn.CloseWrite()
	})
	s.armExit(st)
}

// watchRunEnd updates the ceiling: it counts from a result, except while a turn or a callback
// runs. It runs inside update.
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

// armCeiling limits how long the input stays open for background tasks after a result; it runs
// inside update.
func (s *session) armCeiling(st *sessionState) {
	stopTimer(st.timers.ceiling)
	d := deadline.Or(s.launch.RunEndTimeout, defaultRunEnd)
	if !st.end.waiting() || st.closed || d == 0 {
		return
	}
	st.timers.ceiling = time.AfterFunc(d, func() {
		s.update(func(st *sessionState) {
			// It does not count during a callback: the answer restarts it.
			if st.end.waiting() && !st.closed && s.mux.Busy() == 0 {
				st.ceiling = true
				s.closeInput(st)
			}
		})
	})
}

// writeFailed records that a line could not be written: the session ends with this error unless
// the CLI's exit is more specific.
func (s *session) writeFailed(err error) {
	s.update(func(st *sessionState) {
		if st.writeErr == nil && !peerGone(err) {
			st.writeErr = err
		}
		if !st.closed {
			s.closeInput(st)
		}
		// The session fails even if a prompt has no result, because the CLI did not read that
		// prompt.
		if d := deadline.Or(s.launch.ExitTimeout, defaultExit); d > 0 {
			stopTimer(st.timers.exit)
			s.exitAfter(st, &StalledError{Phase: phaseExit, Since: d})
		}
	})
}

// peerGone reports whether a write failed because the other side has ended. A CLI that exits
// with status 0 without reading is not an error.
func peerGone(err error) bool {
	return slices.ContainsFunc([]error{ErrClosed, os.ErrClosed, io.ErrClosedPipe, syscall.EPIPE}, func(gone error) bool { return errors.Is(err, gone) })
}

// wasPrompted reports whether a prompt was written, or should have been.
func (s *session) wasPrompted() (yes bool) {
	s.update(func(st *sessionState) { yes = st.end.sent > 0 })
	return yes
}

// inTurn reports whether a turn is running: it has no result, and the CLI has not reported its
// end.
func (s *session) inTurn() (yes bool) {
	s.update(func(st *sessionState) { yes = st.end.turn && st.end.state != message.StateIdle })
	return yes
}

// encode returns the line of a prompt, with the options that apply to every prompt.
func (s *session) encode(in message.UserInput) (promptLine, error) {
	in.Verbatim = in.Verbatim || s.launch.VerbatimPrompts
	if in.Raw == nil && emptyPrompt(in.Content) {
		return promptLine{}, errEmptyPrompt
	}
	var closed *closedError
	s.update(func(st *sessionState) { closed, _ = st.why.(*closedError) })
	if closed != nil {
		return promptLine{}, closed // even if the CLI had ended before with another error
	}
	if parts, ok := in.Parts(); ok {
		return promptLine{parts: parts}, nil
	}
	line, err := in.Line()
	return promptLine{whole: line}, err
}
