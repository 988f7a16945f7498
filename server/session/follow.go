package session

import (
	"context"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// liveInterval is how often an actor without an agent looks whether another process has its
// session open, and how long such a look is good for in lists.
const liveInterval = time.Second

// LiveTerminal is what lists show of a session that another process has open.
const LiveTerminal = "terminal"

// away is what an actor knows of a process outside of the server that has its session open.
type away struct {
	live   *agent.Live        // nil while there is none
	asking bool               // a look is under way
	askAt  time.Time          // when to look again
	stop   context.CancelFunc // ends following; nil while nothing is followed
	seen   *seen
}

// lookAway looks from time to time whether the session is open elsewhere.
func (a *actor) lookAway(now time.Time) {
	finder, ok := a.provider.(agent.LiveFinder)
	if !ok || !a.free() || a.core.AgentID == "" || a.away.asking || now.Before(a.away.askAt) {
		return
	}
	a.away.asking = true
	id := a.core.AgentID
	a.srv.wg.Go(func() {
		ctx, cancel := context.WithTimeout(a.ctx, a.srv.opts.CallTimeout)
		defer cancel()
		live, err := finder.Live(ctx, id)
		a.post(func() {
			a.away.asking, a.away.askAt = false, time.Now().Add(liveInterval)
			if err == nil && a.free() && id == a.core.AgentID {
				a.foundAway(live)
			}
		})
	})
}

// free reports whether the server has no agent for the session.
func (a *actor) free() bool { return a.agent == nil && !a.starting && !a.draining }

// foundAway takes in whether another process has the session open. While one has, what it
// writes is brought into the log.
func (a *actor) foundAway(live *agent.Live) {
	was := a.away.live
	a.away.live = live
	if (was == nil) == (live == nil) {
		return
	}
	n := &event.Notice{Header: a.core.header(""), Severity: event.NoticeInfo, Code: "live", Text: "The session is open in a terminal."}
	if live == nil {
		n.Code, n.Text = "free", "The session is not open in a terminal any more."
	}
	a.draft(draft{event: n, facts: &facts{Away: new(true)}})
	_ = a.write() // kept and tried again by tick
	if live != nil {
		a.follow()
		return
	}
	a.unfollow()
	a.srv.wg.Go(func() {
		if err := a.catchUp(a.ctx); err != nil {
			a.logger.Warn("the end of what a terminal wrote was not read", "err", err)
		}
	})
}

// follow brings what another process writes into the log as it comes.
func (a *actor) follow() {
	follower, ok := a.provider.(agent.Follower)
	if !ok || a.away.stop != nil {
		return
	}
	ctx, cancel := context.WithCancel(a.ctx)
	a.away.stop, a.away.seen = cancel, newSeen(&a.conv)
	id, seen := a.core.AgentID, a.away.seen
	a.srv.wg.Go(func() {
		for ev, err := range follower.Follow(ctx, id) {
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				a.logger.Warn("the session in the terminal is not followed", "err", err)
				return
			}
			a.post(func() { a.absorb(ctx, seen, ev) })
		}
	})
}

func (a *actor) unfollow() {
	if a.away.stop != nil {
		a.away.stop()
		a.away.stop = nil
	}
}

// absorb takes an event into the log that another process made, unless it is there.
func (a *actor) absorb(ctx context.Context, seen *seen, ev event.Event) {
	if ctx.Err() != nil || !a.free() || isDelta(ev) || !seen.fresh(ev) {
		return
	}
	a.quiet = time.Now()
	a.draft(draft{event: ev})
	_ = a.write() // kept and tried again by tick
}

// catchUp brings everything into the log that another process wrote.
func (a *actor) catchUp(ctx context.Context) error {
	keeper, ok := a.provider.(agent.HistoryKeeper)
	id := a.agentID(ctx)
	if !ok || id == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, a.srv.opts.CallTimeout)
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
	return a.call(ctx, func() error {
		if a.agent != nil {
			return nil // what its session has now comes from it
		}
		a.unfollow()
		seen := newSeen(&a.conv)
		for _, ev := range events {
			if !isDelta(ev) && seen.fresh(ev) {
				a.draft(draft{event: ev})
			}
		}
		return a.write()
	})
}

// seen is what a log has of a session. It tells what another process has added.
type seen struct {
	lines  map[string]bool   // uuids of messages and results
	blocks map[blockKey]bool // that are whole
	began  bool              // something of a turn was new: from there on everything is
}

type blockKey struct {
	messageKey
	index int64
}

func newSeen(c *event.Conversation) *seen {
	s := &seen{lines: map[string]bool{}, blocks: map[blockKey]bool{}}
	for _, turn := range c.Turns {
		if turn.Start != nil {
			s.lines[turn.Start.PromptID] = true
		}
	}
	for _, th := range c.Threads {
		for _, it := range th.Items {
			if it.ToolResult != nil {
				s.lines[it.ToolResult.UUID] = true
			}
			if it.Message == nil {
				continue
			}
			s.lines[it.Message.UUID] = true
			for _, b := range it.Message.Blocks {
				s.lines[b.UUID] = true
				if b.Whole {
					s.blocks[blockKey{messageKey{th.ParentToolUseID, it.Message.ID}, b.Index}] = true
				}
				if b.Tool != nil {
					s.lines[b.Tool.ResultUUID] = true
				}
			}
		}
	}
	delete(s.lines, "")
	return s
}

// fresh reports whether the log does not have an event, and notes it. Of what is not part of a
// turn it cannot tell: that counts as new once something of a turn was.
func (s *seen) fresh(ev event.Event) bool {
	h := ev.Head()
	switch ev := ev.(type) {
	case *event.SessionState:
		return false
	case *event.TurnStart:
		return s.note(ev.PromptID, "") || s.began && ev.PromptID == ""
	case *event.UserMessage:
		if (ev.IsMeta || ev.IsSynthetic) && !s.began {
			return false // the agent does not show it while the server runs it
		}
		return s.note(h.UUID, "message")
	case *event.ToolComplete:
		return s.note(h.UUID, "result")
	case *event.AssistantMessage:
		fresh := false
		for _, b := range ev.Blocks {
			key := blockKey{keyOf(h), b.Index}
			fresh = fresh || !s.blocks[key]
			s.blocks[key] = true
		}
		fresh = fresh && s.note(h.UUID, "message")
		return fresh
	}
	return s.began
}

// note notes a line and reports whether it is new. The events of a line are distinguished,
// because a turn and its prompt have the same.
func (s *seen) note(uuid, what string) bool {
	if s.lines[uuid] || uuid == "" || s.lines[what+" "+uuid] {
		return false
	}
	s.lines[what+" "+uuid] = true
	s.began = true
	return true
}

// liveElsewhere is where a session is open, as lists show it.
func (a *actor) liveElsewhere() string {
	if a.away.live != nil {
		return LiveTerminal
	}
	return ""
}

// openElsewhere is the refusal to work on a session that another process has open.
func openElsewhere(live *agent.Live) error {
	return Conflict("process %d has had the session open for %v; end it first, then take the session over", live.PID, ago(live.Since))
}

// Lives are the sessions of a provider that other processes have open. What was found is good
// for a moment, so that lists cost little.
func (s *Sessions) Lives(ctx context.Context, p agent.Provider) map[string]agent.Live {
	lister, ok := p.(agent.LiveLister)
	if !ok {
		return nil
	}
	s.liveMu.Lock()
	defer s.liveMu.Unlock()
	if now := time.Now(); now.Sub(s.liveAt[p]) >= liveInterval {
		found, err := lister.LiveSessions(ctx)
		if err != nil {
			s.logger.Warn("cannot find out what is open in terminals", "provider", p.Name(), "err", err)
			return nil
		}
		s.liveAt[p], s.liveFound[p] = now, found
	}
	return s.liveFound[p]
}

// Following makes a session that another process has open one that is followed: the server
// starts no agent for it.
func (s *Sessions) Following(ctx context.Context, id string, live *agent.Live) (api.ConnectResult, error) {
	result := api.ConnectResult{SessionID: id, Status: "following"}
	err := s.with(ctx, id, func(a *actor) error {
		a.occur(onEnd)
		a.foundAway(live)
		result.Provider, result.Model, result.CWD = a.core.Provider, a.core.Model, a.core.Opened.Dir
		result.Capabilities = s.Capabilities(a.provider, nil)
		return nil
	})
	return result, err
}

// TakeOver brings a session that ran in a terminal under the server, when it is free.
func (s *Sessions) TakeOver(ctx context.Context, p api.SessionRef) (api.ConnectResult, error) {
	a, release, err := s.use(ctx, p.SessionID)
	if err != nil {
		return api.ConnectResult{}, err
	}
	defer release()
	if finder, ok := a.provider.(agent.LiveFinder); ok {
		live, err := finder.Live(ctx, a.agentID(ctx))
		if err != nil {
			return api.ConnectResult{}, err
		}
		if live != nil {
			return api.ConnectResult{}, openElsewhere(live)
		}
		if err := a.call(ctx, func() error { a.foundAway(nil); return nil }); err != nil {
			return api.ConnectResult{}, err
		}
	}
	return s.Connected(ctx, p.SessionID)
}

func (a *actor) agentID(ctx context.Context) (id string) {
	_ = a.call(ctx, func() error { id = a.core.AgentID; return nil }) // without it there is no id
	return id
}
