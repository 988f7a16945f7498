package claude

import "time"

// sparedTime bounds the time that hooks of a session's start are spared.
const sparedTime = 10 * time.Minute

// shakeClock is the deadline of a handshake. The time in which the CLI runs hooks
// of its start is not counted: they are the user's, and may install something.
type shakeClock struct {
	until  time.Time
	hooks  int           // that run
	since  time.Time     // when the first of them began
	spared time.Duration // not counted so far
}

// armShaking begins the deadline of the handshake; it runs inside update.
func (st *sessionState) armShaking(limit time.Duration, giveUp func()) {
	st.shake.until = time.Now().Add(limit)
	if st.shake.hooks > 0 {
		limit += sparedTime // one has begun already
	}
	st.shaking = time.AfterFunc(limit, giveUp)
	if st.shaken {
		st.shaking.Stop()
	}
}

// spareHooks stops the clock while hooks of the start run; it runs inside update.
// A deadline that the caller has set counts throughout.
func (s *session) spareHooks(st *sessionState, m Message) {
	if st.shaken || s.opts.HandshakeTimeout != 0 {
		return
	}
	c, now := &st.shake, time.Now()
	switch m := m.(type) {
	case *HookStartedMessage:
		if !startsSession(m.HookEvent) {
			return
		}
		if c.hooks++; c.hooks == 1 {
			c.since = now
			st.resetShaking(c.until.Add(sparedTime - c.spared).Sub(now))
		}
	case *HookResponseMessage:
		if !startsSession(m.HookEvent) || c.hooks == 0 {
			return
		}
		if c.hooks--; c.hooks == 0 {
			d := min(now.Sub(c.since), sparedTime-c.spared)
			c.spared += d
			c.until = c.until.Add(d)
			st.resetShaking(c.until.Sub(now))
		}
	}
}

func startsSession(event string) bool { return event == "SessionStart" || event == "Setup" }

func (st *sessionState) resetShaking(d time.Duration) {
	if st.shaking != nil {
		st.shaking.Reset(d)
	}
}
