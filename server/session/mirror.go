package session

import (
	"context"
	"errors"
	"time"

	"github.com/seed7221b0f9/parley/agent"
)

// In a cluster the agent's files of a session are copied to the store that the servers share, so that another server can
// resume the session when this machine is gone. They are copied after each turn, during a long turn, and when the agent
// ends. The server that resumes the session fetches them.

// mirrorInterval is the time between two copies during a turn. Later data of the agent may be missing from the copy.
const mirrorInterval = 10 * time.Second

// mirrorLate is the time after a turn in which the agent completes its files.
const mirrorLate = time.Second

// copying is the state of the copies of a session. It belongs to the loop.
type copying struct {
	done  chan struct{} // closed at the end of the running copy; nil while no copy runs
	again bool          // the agent has written since that copy began
	late  bool          // the agent may write what it has not written at the end of its turn
	last  time.Time     // the start of the last copy
}

// mirrored returns the provider if the session is copied, otherwise nil.
func (l *life) mirrored() agent.Mirrored {
	if l.owner == nil || l.machine() != "" || l.core.AgentID == "" {
		return nil
	}
	m, _ := l.provider.(agent.Mirrored)
	return m
}

// mirror copies the agent's new data. It does not block.
func (a *actor) mirror() {
	m := a.mirrored()
	if m == nil {
		return
	}
	if a.copying.done != nil {
		a.copying.again = true
		return
	}
	done := make(chan struct{})
	a.copying = copying{done: done, late: a.copying.late, last: time.Now()}
	id, dir := a.core.AgentID, a.core.Opened.Dir
	a.srv.wg.Go(func() {
		a.copy(m, id, dir)
		close(done)
		a.post(a.copied)
	})
}

// copy copies the files of the session.
func (a *actor) copy(m agent.Mirrored, id, dir string) {
	ctx, cancel := a.bounded()
	defer cancel()
	if err := m.Mirror(ctx, id, dir); err != nil {
		a.logger.Warn("the agent's files were not copied; without the copy the session cannot be resumed on another machine", "err", err)
	}
}

// copied handles the end of a copy.
func (a *actor) copied() {
	a.copying.done = nil
	if a.copying.again {
		a.mirror()
	}
}

// mirrorTurn copies a turn that has ended.
func (a *actor) mirrorTurn() {
	a.copying.late = true
	a.mirror()
}

// watchMirror makes the copies that are due.
func (a *actor) watchMirror(now time.Time) {
	since := now.Sub(a.copying.last)
	if a.copying.late && since >= mirrorLate || a.agent != nil && a.core.State.busy() && since >= mirrorInterval {
		a.copying.late = false
		a.mirror()
	}
}

// mirrorRest makes the last copy of an actor that ends.
func (a *actor) mirrorRest() {
	if a.copying.done != nil {
		<-a.copying.done // it is bounded
	}
	if m := a.mirrored(); m != nil && !a.copying.last.IsZero() {
		a.copy(m, a.core.AgentID, a.core.Opened.Dir)
	}
}

// fetch writes the agent's files of the session from their copy, if that has more than this machine. A fork leaves the
// files of its session to the owner of that session.
func (l *life) fetch(ctx context.Context, id string, opts agent.Options) error {
	m := l.mirrored()
	if m == nil || opts.Fork {
		return nil
	}
	if err := m.Fetch(ctx, id, l.core.Opened.Dir); !errors.Is(err, agent.ErrNotFound) {
		return err
	}
	return nil
}
