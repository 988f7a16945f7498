package claude

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"
)

// deathTime is for the reader to see why a line could not be written.
const deathTime = 2 * time.Second

// send writes one line. When there is nobody to read it the error is the reason
// for that, if it is known soon.
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
		if st.closed || st.end.noMore {
			err = cmp.Or(st.why, ErrClosed)
			return
		}
		if st.end.quiet() && !st.end.turn {
			st.clock = time.Now()
		}
		st.end.prompt()
		stopTimer(st.ceiling)
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
	stopTimer(st.ceiling)
	s.work.Go(func() {
		// The process may be gone already; how it ended is told elsewhere.
		_ = s.conn.CloseWrite()
	})
	if d := orDefault(s.opts.ExitTimeout, 0); d > 0 {
		st.exit = time.AfterFunc(d, func() {
			stalled := &StalledError{Phase: "exit", Since: d}
			s.explain(stalled)
			s.stop(stalled)
		})
	}
}

// watchRunEnd keeps the ceiling up to date: it counts from a result, not while a
// turn runs or somebody is being asked. It runs inside update.
func (s *session) watchRunEnd(st *sessionState, m Message) {
	switch m.(type) {
	case *ResultMessage, *SessionStateChangedMessage:
		s.armCeiling(st)
	}
	switch m.(type) {
	case *ResultMessage, *InitMessage:
		s.watch(st)
	}
}

// armCeiling bounds how long the input stays open for background tasks behind a
// result; it runs inside update.
func (s *session) armCeiling(st *sessionState) {
	stopTimer(st.ceiling)
	d := orDefault(s.opts.RunEndTimeout, defaultRunEnd)
	if !st.end.waiting() || st.closed || d == 0 {
		return
	}
	st.ceiling = time.AfterFunc(d, func() {
		s.update(func(st *sessionState) {
			// Under a question it does not count: its answer starts it again.
			if st.end.waiting() && !st.closed && s.mux.Busy() == 0 {
				s.closeInput(st)
			}
		})
	})
}
