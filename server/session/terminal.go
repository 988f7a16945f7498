package session

import (
	"context"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

// liveInterval is how often an actor without an agent looks whether another process has its
// session open, and how long such a look is good for in lists.
const liveInterval = time.Second

// LiveTerminal is what lists show of a session that another process has open.
const LiveTerminal = "terminal"

// terminal is a process outside of the server that has the session open.
type terminal struct {
	*life
	live         *agent.Live        // nil while there is none
	asking       bool               // a look is under way
	askAt        time.Time          // when to look again
	cancelFollow context.CancelFunc // nil while nothing is followed
}

// look looks from time to time whether the session is open elsewhere.
func (t *terminal) look(now time.Time) {
	finder, ok := t.provider.(agent.LiveFinder)
	if !ok || !t.free() || t.core.AgentID == "" || t.asking || now.Before(t.askAt) {
		return
	}
	t.asking = true
	id := t.core.AgentID
	t.srv.wg.Go(func() {
		ctx, cancel := context.WithTimeout(t.ctx, t.srv.opts.CallTimeout)
		defer cancel()
		live, err := finder.Live(ctx, id)
		t.post(func() {
			t.asking, t.askAt = false, time.Now().Add(liveInterval)
			if err == nil && t.free() && id == t.core.AgentID {
				t.found(live)
			}
		})
	})
}

// found takes in whether another process has the session open. While one has, what it
// writes is brought into the log.
func (t *terminal) found(live *agent.Live) {
	was := t.live
	t.live = live
	if (was == nil) == (live == nil) {
		return
	}
	n := &event.Notice{Header: t.core.header(""), Severity: event.NoticeInfo, Code: "live", Text: "The session is open in a terminal."}
	if live == nil {
		n.Code, n.Text = "free", "The session is not open in a terminal any more."
	}
	t.draft(draft{event: n, facts: &facts{InTerminal: new(true)}})
	_ = t.write() // kept and tried again by tick
	if live != nil {
		t.follow()
		return
	}
	t.unfollow()
	t.srv.wg.Go(func() {
		if err := t.catchUp(t.ctx); err != nil {
			t.logger.Warn("the end of what a terminal wrote was not read", "err", err)
		}
	})
}

// follow brings what another process writes into the log as it comes.
func (t *terminal) follow() {
	follower, ok := t.provider.(agent.Follower)
	if !ok || t.cancelFollow != nil {
		return
	}
	ctx, cancel := context.WithCancel(t.ctx)
	t.cancelFollow = cancel
	id, seen := t.core.AgentID, newSeen(&t.conv)
	t.srv.wg.Go(func() {
		for ev, err := range follower.Follow(ctx, id) {
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				t.logger.Warn("the session in the terminal is not followed", "err", err)
				return
			}
			t.post(func() { t.absorb(ctx, seen, ev) })
		}
	})
}

func (t *terminal) unfollow() {
	if t.cancelFollow != nil {
		t.cancelFollow()
		t.cancelFollow = nil
	}
}

// absorb takes an event into the log that another process made, unless it is there.
func (t *terminal) absorb(ctx context.Context, seen *seen, ev event.Event) {
	if ctx.Err() != nil || !t.free() || isDelta(ev) || !seen.fresh(ev) {
		return
	}
	t.quiet = time.Now()
	t.draft(draft{event: ev})
	_ = t.write() // kept and tried again by tick
}

// catchUp brings everything into the log that another process wrote.
func (t *terminal) catchUp(ctx context.Context) error {
	keeper, ok := t.provider.(agent.HistoryKeeper)
	id := t.agentID(ctx)
	if !ok || id == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, t.srv.opts.CallTimeout)
	defer cancel()
	history, err := keeper.History().Load(ctx, id, agent.HistoryPage{})
	if err != nil {
		return err
	}
	var events []event.Event
	for ev, err := range history.Events {
		if err != nil {
			return err
		}
		events = append(events, ev)
	}
	return t.call(ctx, func() error {
		if t.agent != nil {
			return nil // what its session has now comes from it
		}
		t.unfollow()
		seen := newSeen(&t.conv)
		for _, ev := range events {
			if !isDelta(ev) && seen.fresh(ev) {
				t.draft(draft{event: ev})
			}
		}
		return t.write()
	})
}

// where is where a session is open, as lists show it.
func (t *terminal) where() string {
	if t.live != nil {
		return LiveTerminal
	}
	return ""
}

// openElsewhere is the refusal to work on a session that another process has open.
func openElsewhere(live *agent.Live) error {
	return Conflict("process %d has had the session open for %v; end it first, then take the session over", live.PID, ago(live.Since))
}

// ago is how long something was, for people.
func ago(t time.Time) time.Duration { return time.Since(t).Round(time.Second) }
