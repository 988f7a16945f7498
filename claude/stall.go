package claude

import "time"

// watch makes the watchdog look again after the shortest of the deadlines of a
// turn; it runs inside update. The reader does not touch the timer: it leaves
// the time of the last line, which the watchdog looks at.
func (s *session) watch(st *sessionState) {
	d := s.opts.shortestWatch()
	if d == 0 || st.stopping {
		return
	}
	stopTimer(st.watchdog)
	st.watchdog = time.AfterFunc(d, s.bark)
}

// shortestWatch is the shorter of the two deadlines of a turn, 0 if there is none.
func (o *Options) shortestWatch() time.Duration {
	first, silence := orDefault(o.FirstMessageTimeout, 0), orDefault(o.SilenceTimeout, 0)
	if first == 0 || silence > 0 && silence < first {
		return silence
	}
	return first
}

// bark looks whether a turn has stalled.
func (s *session) bark() {
	var stalled *StalledError
	s.update(func(st *sessionState) {
		if st.stopping || st.why != nil || !s.awaited(st) {
			return // the next prompt starts it again
		}
		next := s.opts.shortestWatch()
		phase, since, limit := s.phaseOfTurn(st)
		left := limit - time.Since(since)
		switch {
		case limit == 0 || s.mux.Busy() > 0 || s.waiting.Load(): // or it is this side that is slow
		case left > 0:
			next = left
		default:
			stalled = &StalledError{Phase: phase, Since: time.Since(since)}
		}
		stopTimer(st.watchdog)
		st.watchdog = time.AfterFunc(next, s.bark)
	})
	if stalled == nil {
		return
	}
	s.explain(stalled)
	if s.router == nil {
		s.stop(stalled)
		return
	}
	s.router.stalled(stalled)
}

// awaited reports whether somebody waits for a turn; it runs inside update.
func (s *session) awaited(st *sessionState) bool {
	if s.router != nil {
		return s.router.awaited()
	}
	return st.end.turn || !st.end.quiet()
}

// phaseOfTurn is what is being waited for, since when, and for how long at most.
func (s *session) phaseOfTurn(st *sessionState) (phase string, since time.Time, limit time.Duration) {
	kind, at := s.activity.last()
	if st.end.turn || hotKinds[kind] != nil && at.After(st.clock) {
		if st.clock.After(at) {
			at = st.clock
		}
		return "silence", at, orDefault(s.opts.SilenceTimeout, 0)
	}
	return "first message", st.clock, orDefault(s.opts.FirstMessageTimeout, 0)
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
