package claude

import (
	"context"
	"errors"
	"time"

	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/internal/control"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/deadline"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// hookAllowance limits the time of start hooks that does not count against the deadline of a
// handshake.
const hookAllowance = 10 * time.Minute

// handshake decides when the opening of the control protocol has failed, and what follows
// from its answer. It is pure: the session passes it the events and executes its verdicts.
//
// The time of start hooks does not count against the default deadline: they belong to the
// user and may install software. It does count against a deadline that the caller has set.
type handshake struct {
	fixed   bool          // the caller set the deadline
	until   time.Time     // the deadline, extended by finished hooks
	hooks   int           // number of running start hooks
	since   time.Time     // when the first of them began
	allowed time.Duration // time of hooks so far that does not count

	ended  bool
	answer *control.Ended // to initialize, or nil
	err    error          // why it failed
}

// begin starts the deadline and returns how long to wait.
func (h *handshake) begin(now time.Time, limit time.Duration, fixed bool) time.Duration {
	h.fixed, h.until = fixed, now.Add(limit)
	if h.hooks > 0 && !fixed {
		limit += hookAllowance // a hook is already running
	}
	return limit
}

// see processes a message. If it changes the deadline, moved is true and wait is the new time
// to wait.
func (h *handshake) see(m message.Message, now time.Time) (wait time.Duration, moved bool) {
	if h.ended || h.fixed {
		return 0, false
	}
	switch m := m.(type) {
	case *message.HookStarted:
		return h.hookStarted(m.HookEvent, now)
	case *message.HookResponse:
		return h.hookEnded(m.HookEvent, now)
	}
	return 0, false
}

func (h *handshake) hookStarted(event string, now time.Time) (wait time.Duration, moved bool) {
	if !startsSession(event) {
		return 0, false
	}
	if h.hooks++; h.hooks > 1 {
		return 0, false
	}
	h.since = now
	return h.until.Add(hookAllowance - h.allowed).Sub(now), true
}

func (h *handshake) hookEnded(event string, now time.Time) (wait time.Duration, moved bool) {
	if !startsSession(event) || h.hooks == 0 {
		return 0, false
	}
	if h.hooks--; h.hooks > 0 {
		return 0, false
	}
	d := min(now.Sub(h.since), hookAllowance-h.allowed)
	h.allowed += d
	h.until = h.until.Add(d)
	return h.until.Sub(now), true
}

func startsSession(event string) bool { return event == "SessionStart" || event == "Setup" }

// verdict tells the session how to proceed after a handshake.
type verdict struct {
	err        error         // reason of the failure, or nil
	closeInput bool          // no prompt may be sent
	stop       error         // the cause to stop the session with, or nil to wait for the end of the stream
	stalled    *StalledError // the part of stop that the session completes
}

// end processes the answer to initialize, or the error in place of it.
func (h *handshake) end(e control.Ended, hooks *hook.Table) verdict {
	if !e.Good() {
		_, err := e.Outcome()
		return h.fail(err)
	}
	if err := hooksRefused(e, hooks); err != nil {
		v := h.fail(err)
		v.closeInput = true
		return v
	}
	h.ended, h.answer = true, &e
	return verdict{}
}

// fail ends a handshake without a valid answer.
func (h *handshake) fail(err error) verdict {
	h.ended, h.err = true, err
	v := verdict{err: err}
	if ce, ok := errors.AsType[*control.Error](err); ok {
		v.stop = &HandshakeError{Err: &ControlError{Subtype: "initialize", Code: ce.Code, Message: ce.Message}}
	} else if stalled, ok := errors.AsType[*StalledError](err); ok {
		v.stop, v.stalled = &HandshakeError{Err: stalled}, stalled
	} else if refused, ok := errors.AsType[*OnFailureError](err); ok {
		v.stop = &HandshakeError{Err: refused}
	}
	return v // without stop, the end of the stream has the reason
}

// initialize writes the request that opens the control protocol; its answer or error ends the
// handshake.
func (s *session) initialize(ctx context.Context, request []byte) {
	timeout := deadline.Or(s.launch.HandshakeTimeout, defaultHandshake)
	stalled := &StalledError{Phase: "handshake", Since: timeout}
	writing, stopWriting := deadline.With(ctx, timeout, stalled)
	defer stopWriting()
	started, err := s.mux.Start(writing, request, s.answered)
	if err != nil {
		if ctx.Err() != nil {
			s.abort(context.Cause(ctx))
		}
		s.writeFailed(err)
		s.giveUpAfter(timeout, err)
		s.endHandshake(func(h *handshake) verdict { return h.fail(err) })
		return
	}
	if timeout > 0 {
		s.update(func(st *sessionState) {
			wait := st.handshake.begin(time.Now(), timeout, s.launch.HandshakeTimeout != 0)
			if !st.handshake.ended {
				st.timers.handshake = time.AfterFunc(wait, func() { started.GiveUp(stalled) })
			}
		})
	}
	if s.launch.hooks.Blocks {
		// No prompt before the CLI has confirmed the blocking hooks.
		select {
		case <-s.ready:
		case <-ctx.Done():
			s.abort(context.Cause(ctx))
		}
	}
}

// watchHandshake updates the deadline of the handshake; it runs inside update.
func (s *session) watchHandshake(st *sessionState, m message.Message) {
	if wait, moved := st.handshake.see(m, time.Now()); moved && st.timers.handshake != nil {
		st.timers.handshake.Reset(wait)
	}
}

// answered ends the handshake. It runs on the reader, so the long answer is decoded only on
// demand.
func (s *session) answered(e control.Ended) {
	v := s.endHandshake(func(h *handshake) verdict { return h.end(e, &s.launch.hooks) })
	if v.err == nil {
		s.dispatchPending(e)
		close(s.ready)
	}
}

// endHandshake executes the verdict of decide.
func (s *session) endHandshake(decide func(h *handshake) verdict) (v verdict) {
	s.update(func(st *sessionState) {
		v = decide(&st.handshake)
		stopTimer(st.timers.handshake)
		if v.closeInput && !st.closed {
			s.closeInput(st)
		}
	})
	if v.err == nil {
		s.trace.handshake(s.version, nil)
		return v
	}
	s.trace.handshake(nil, v.err)
	if v.stalled != nil {
		s.explain(v.stalled)
	}
	if v.stop != nil {
		s.stop(v.stop)
	}
	close(s.ready)
	return v
}

// giveUpAfter handles a failed write of initialize. It gives the reader d to learn the reason from
// the exit of the CLI, and then stops the session with err.
func (s *session) giveUpAfter(d time.Duration, err error) {
	s.update(func(st *sessionState) {
		if (st.timers.exit == nil || s.launch.ExitTimeout == 0) && !st.stopping && d > 0 {
			stopTimer(st.timers.exit)
			st.timers.exit = time.AfterFunc(d, func() { s.stop(&HandshakeError{Err: err}) })
		}
	})
}

// serverInfo returns the answer to initialize, with the newest commands, or nil before the
// answer.
func (s *session) serverInfo() (info *ServerInfo) {
	s.update(func(st *sessionState) {
		if st.info == nil && st.handshake.answer != nil {
			answer, _ := st.handshake.answer.Outcome() // an invalid answer is an empty one
			st.info = &ServerInfo{raw: message.JSON(answer.Body)}
			_ = jsonwire.Unmarshal(answer.Body, st.info)
			st.info.shrink()
			if st.commands != nil {
				st.info.Commands = st.commands
			}
		}
		info = st.info
	})
	return info
}
