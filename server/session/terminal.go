package session

import (
	"context"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

// liveInterval is the interval at which an actor without an agent checks whether another process
// has its session open, and the time for which the result is cached for lists.
const liveInterval = time.Second

// LiveTerminal is the value in lists for a session that another process has open.
const LiveTerminal = "terminal"

// terminal is a process outside of the server that has the session open.
type terminal struct {
	*life
	live         *agent.Live        // nil without one
	asking       bool               // a check is running
	askAt        time.Time          // time of the next check
	cancelFollow context.CancelFunc // nil without following
}

// look periodically checks whether the session is open elsewhere.
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

// found handles the result of the check. While another process has the session open, its events are
// added to the log.
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
	_ = t.write() // kept and retried by tick
	if live != nil {
		t.follow()
		return
	}
	t.unfollow()
	t.srv.wg.Go(func() {
		if err := t.catchUp(t.ctx); err != nil {
			t.logger.Warn("the end of the output of a terminal was not read", "err", err)
		}
	})
}

// follow adds the events of another process to the log as they arrive.
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

// absorb adds an event of another process to the log, unless the log has it.
func (t *terminal) absorb(ctx context.Context, seen *seen, ev event.Event) {
	if ctx.Err() != nil || !t.free() || isDelta(ev) || !seen.fresh(ev) {
		return
	}
	t.quiet = time.Now()
	t.draft(draft{event: ev})
	_ = t.write() // kept and retried by tick
}

// catchUp adds all events of another process to the log.
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
			return nil // the agent provides the current events of its session
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

// liveName returns LiveTerminal if a terminal has the session open, for lists, and "" otherwise.
func (t *terminal) liveName() string {
	if t.live != nil {
		return LiveTerminal
	}
	return ""
}

// openElsewhere returns the rejection for a session that another process has open.
func openElsewhere(live *agent.Live) error {
	return Conflict("process %d has had the session open for %v; end it first, then take the session over", live.PID, ago(live.Since))
}

// ago returns the time since t, for people.
func ago(t time.Time) time.Duration { return time.Since(t).Round(time.Second) }
