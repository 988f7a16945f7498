package claude

import (
	"time"

	"github.com/seed7221b0f9/parley/internal/deadline"
)

// watchdog decides whether a turn has stalled. It is pure: the session passes it a turn
// and executes its decision.
type watchdog struct {
	first   time.Duration // limit to the first message of a turn; 0 means no limit
	silence time.Duration // limit between two lines of a turn; 0 means no limit
}

// watchedTurn is the input of a watchdog.
type watchedTurn struct {
	awaited bool      // a caller waits for the turn
	slow    bool      // the CLI waits for this process: an answer, or space for its output
	begun   bool      // the turn has begun
	clock   time.Time // start of the current wait
	last    string    // the kind of the last line, or ""
	lastAt  time.Time
}

func newWatchdog(d *Deadlines) watchdog {
	return watchdog{first: deadline.Or(d.FirstMessageTimeout, 0), silence: deadline.Or(d.SilenceTimeout, 0)}
}

// interval returns the shorter of the limits, or 0.
func (w watchdog) interval() time.Duration {
	if w.first == 0 || w.silence > 0 && w.silence < w.first {
		return w.silence
	}
	return w.first
}

// look returns when to check again, 0 for not before the next prompt, and the error of a
// stalled turn.
func (w watchdog) look(t watchedTurn, now time.Time) (next time.Duration, stalled *StalledError) {
	if !t.awaited {
		return 0, nil
	}
	phase, since, limit := w.waitsFor(t)
	if limit == 0 || t.slow {
		return w.interval(), nil
	}
	waited := now.Sub(since)
	if waited < limit {
		return limit - waited, nil
	}
	return w.interval(), &StalledError{Phase: phase, Since: waited}
}

// waitsFor returns the current phase of a turn, its start, and its limit.
func (w watchdog) waitsFor(t watchedTurn) (phase string, since time.Time, limit time.Duration) {
	if !t.begun && (hotKinds[t.last] == nil || !t.lastAt.After(t.clock)) {
		return "first message", t.clock, w.first
	}
	if t.clock.After(t.lastAt) {
		return "silence", t.clock, w.silence
	}
	return "silence", t.lastAt, w.silence
}

// watch schedules a check after the shorter of the limits; it runs inside update. The
// reader does not reset the timer: it records the time of the last line, which the
// watchdog checks.
func (s *session) watch(st *sessionState) {
	s.lookAfter(st, newWatchdog(&s.launch.Deadlines).interval())
}

// lookAfter schedules a check after d; it runs inside update.
func (s *session) lookAfter(st *sessionState, d time.Duration) {
	if d == 0 || st.stopping || st.why != nil {
		return
	}
	stopTimer(st.timers.watchdog)
	st.timers.watchdog = time.AfterFunc(d, s.lookForStall)
}

// lookForStall ends a stalled turn, and also the session of a query.
func (s *session) lookForStall() {
	var stalled *StalledError
	var turns *router
	s.update(func(st *sessionState) {
		if st.stopping || st.why != nil {
			return
		}
		var next time.Duration
		next, stalled = newWatchdog(&s.launch.Deadlines).look(s.watchedTurn(st), time.Now())
		turns = st.turns
		s.lookAfter(st, next)
	})
	if stalled == nil {
		return
	}
	s.explain(stalled)
	if turns == nil {
		s.stop(stalled)
		return
	}
	turns.stalled(stalled)
}

// watchedTurn returns the state of the running turn; it runs inside update.
func (s *session) watchedTurn(st *sessionState) watchedTurn {
	t := watchedTurn{slow: s.mux.Busy() > 0 || s.waiting.Load(), begun: st.end.turn, clock: st.clock,
		awaited: st.end.turn || !st.end.quiet()}
	if st.turns != nil {
		t.awaited = st.turns.awaited()
	}
	t.last, t.lastAt = s.activity.last()
	return t
}

// explain adds details to an error.
func (s *session) explain(e *StalledError) {
	e.LastEvent, _ = s.activity.last()
	if tools := s.activity.tools.running(); len(tools) > 0 {
		e.InFlightTool = tools[len(tools)-1].Name
	}
	if p, ok := s.conn.(interface{ stderr() string }); ok {
		e.Stderr = p.stderr()
	}
	s.trace.stall(e)
}
