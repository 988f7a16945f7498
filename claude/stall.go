package claude

import (
	"time"

	"github.com/seed7221b0f9/parley/internal/deadline"
)

// watchdog decides whether a turn has stalled. It is pure: the session shows it a
// turn and does what it returns.
type watchdog struct {
	first   time.Duration // the limit to the first message of a turn, 0 is none
	silence time.Duration // the limit from one line of a turn to the next, 0 is none
}

// watchedTurn is what a watchdog looks at.
type watchedTurn struct {
	awaited bool      // a caller waits for the turn
	slow    bool      // the CLI waits for this process: an answer, or space for its output
	begun   bool      // the turn has begun
	clock   time.Time // since when its deadlines count
	last    string    // the kind of the last line, "" if there was none
	lastAt  time.Time
}

func newWatchdog(d *Deadlines) watchdog {
	return watchdog{first: deadline.Or(d.FirstMessageTimeout, 0), silence: deadline.Or(d.SilenceTimeout, 0)}
}

// interval is the shorter of the limits, 0 if there is none.
func (w watchdog) interval() time.Duration {
	if w.first == 0 || w.silence > 0 && w.silence < w.first {
		return w.silence
	}
	return w.first
}

// look says when to look again, 0 for not before the next prompt, and the error of
// a turn that has stalled.
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

// waitsFor is what a turn waits for, since when, and for how long at most.
func (w watchdog) waitsFor(t watchedTurn) (phase string, since time.Time, limit time.Duration) {
	if !t.begun && (hotKinds[t.last] == nil || !t.lastAt.After(t.clock)) {
		return "first message", t.clock, w.first
	}
	if t.clock.After(t.lastAt) {
		return "silence", t.clock, w.silence
	}
	return "silence", t.lastAt, w.silence
}

// watch makes the watchdog look again after the shorter of its limits; it runs
// inside update. The reader does not touch the timer: it leaves the time of the
// last line, which the watchdog looks at.
func (s *session) watch(st *sessionState) {
	s.lookAfter(st, newWatchdog(&s.launch.Deadlines).interval())
}

// lookAfter makes the watchdog look after d; it runs inside update.
func (s *session) lookAfter(st *sessionState, d time.Duration) {
	if d == 0 || st.stopping || st.why != nil {
		return
	}
	stopTimer(st.timers.watchdog)
	st.timers.watchdog = time.AfterFunc(d, s.lookForStall)
}

// lookForStall ends a turn that has stalled, and the session of a query with it.
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

// watchedTurn is the turn that runs; it runs inside update.
func (s *session) watchedTurn(st *sessionState) watchedTurn {
	t := watchedTurn{slow: s.mux.Busy() > 0 || s.waiting.Load(), begun: st.end.turn, clock: st.clock,
		awaited: st.end.turn || !st.end.quiet()}
	if st.turns != nil {
		t.awaited = st.turns.awaited()
	}
	t.last, t.lastAt = s.activity.last()
	return t
}

// explain adds what is known to an error.
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
