package claude

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/seed7221b0f9/parley/internal/control"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
	"github.com/seed7221b0f9/parley/internal/proc"
)

// oldestVersion is the oldest CLI that this package is meant for.
const oldestVersion = "2.0.0"

// shake writes initialize; its answer, or what there is instead, ends the
// handshake.
func (s *session) shake(ctx context.Context, request []byte) {
	timeout := orDefault(s.opts.HandshakeTimeout, defaultHandshake)
	stalled := &StalledError{Phase: "handshake", Since: timeout}
	writing, stopWriting := withTimeout(ctx, timeout, stalled)
	defer stopWriting()
	started, err := s.mux.Start(writing, request, s.answered)
	if err != nil {
		if ctx.Err() != nil {
			s.stop(context.Cause(ctx))
		}
		s.writeFailed(err)
		s.giveUpAfter(timeout, err)
		s.unshaken(err)
		return
	}
	if timeout > 0 {
		s.update(func(st *sessionState) { st.armShaking(timeout, func() { started.GiveUp(stalled) }) })
	}
	if s.opts.hooksBlock() {
		// No prompt before it is known that the hooks do what they must.
		select {
		case <-s.ready:
		case <-ctx.Done():
			s.stop(context.Cause(ctx))
		}
	}
}

// answered ends the handshake. It runs on the reader: the answer is long, and
// decoded when somebody asks for it.
func (s *session) answered(e control.Ended) {
	if !e.Good() {
		_, err := e.Outcome()
		s.unshaken(err)
		return
	}
	if err := s.opts.hooksRefused(e); err != nil {
		s.update(func(st *sessionState) {
			if !st.closed {
				s.closeInput(st) // no prompt gets through
			}
		})
		s.unshaken(err)
		return
	}
	s.endHandshake(func(st *sessionState) { st.answer = &e })
	s.trace.handshake(s.version, nil)
	s.dispatchPending(e)
	close(s.ready)
}

// unshaken ends a handshake that failed.
func (s *session) unshaken(err error) {
	s.endHandshake(func(st *sessionState) { st.infoErr = err })
	s.trace.handshake(nil, err)
	if ce, ok := errors.AsType[*control.Error](err); ok {
		s.stop(&HandshakeError{Err: &ControlError{Subtype: "initialize", Code: ce.Code, Message: ce.Message}})
	} else if stalled, ok := errors.AsType[*StalledError](err); ok {
		s.explain(stalled)
		s.stop(&HandshakeError{Err: stalled})
	} else if refused, ok := errors.AsType[*OnFailureError](err); ok {
		s.stop(&HandshakeError{Err: refused})
	}
	// Otherwise the stream has ended, and says why.
	close(s.ready)
}

func (s *session) endHandshake(f func(st *sessionState)) {
	s.update(func(st *sessionState) {
		st.shaken = true
		stopTimer(st.shaking)
		f(st)
	})
}

// giveUpAfter stops a CLI that did not take initialize. One that has died says
// why with its exit, which the reader sees; this one does not seem to end.
func (s *session) giveUpAfter(d time.Duration, err error) {
	s.update(func(st *sessionState) {
		if st.exit == nil && !st.stopping && d > 0 {
			st.exit = time.AfterFunc(d, func() { s.stop(&HandshakeError{Err: err}) })
		}
	})
}

// withTimeout is context.WithTimeoutCause; 0 is no timeout.
func withTimeout(ctx context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, d, cause)
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
	})
}

// peerGone reports whether a write failed because there was nobody to read it.
// A CLI that ends well without reading is no error.
func peerGone(err error) bool {
	for _, gone := range []error{ErrClosed, os.ErrClosed, io.ErrClosedPipe, syscall.EPIPE} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return false
}

// serverInfo is the answer to initialize, with the commands that came last; nil
// until there is one.
func (s *session) serverInfo() (info *ServerInfo) {
	s.update(func(st *sessionState) {
		if st.info == nil && st.answer != nil {
			answer, _ := st.answer.Outcome() // an answer that is broken is an empty one
			st.info = &ServerInfo{raw: JSON(answer.Body)}
			_ = jsonwire.Unmarshal(answer.Body, st.info)
			if st.commands != nil {
				st.info.Commands = st.commands
			}
		}
		info = st.info
	})
	return info
}

func (s *session) version() string { return s.serverInfo().ClaudeCodeVersion }

// checkVersion warns of a CLI that is too old. One that does not tell its version
// is asked for it.
func (s *session) checkVersion(version string) {
	if version == "" {
		s.askVersion()
		return
	}
	if proc.Older(version, oldestVersion) {
		s.warn("claude: the CLI is older than this package is meant for", "version", version, "oldest", oldestVersion)
	}
}

// versionTime bounds asking a CLI for its version.
const versionTime = 2 * time.Second

// askVersion runs the CLI once more to learn its version, where it runs here.
func (s *session) askVersion() {
	if s.opts.Transport != nil || s.opts.Spawner != nil {
		return
	}
	s.update(func(st *sessionState) {
		if st.stopping || st.asked {
			return
		}
		st.asked = true
		s.work.Go(func() {
			// Not cut short by the end of the session: a run can be shorter than this.
			ctx, cancel := context.WithTimeout(context.Background(), versionTime)
			defer cancel()
			env := s.opts.environ()
			path, err := s.opts.findCLI(env)
			if err != nil {
				return
			}
			// A CLI that cannot say it is not worth more than the warning it misses.
			if v, err := proc.Version(ctx, path, env); err == nil {
				s.checkVersion(v)
			}
		})
	})
}
