package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/host"
)

// A host drops a server that does not read for minutes, such as one that was stopped with SIGSTOP, but keeps its agents. The server connects
// again and adopts them. If the host has died, their last lines are read from its files, and the sessions are interrupted.

const (
	// relinkFirst is the wait after the first failed attempt to connect again; relinkMost is the
	// longest wait.
	relinkFirst = 100 * time.Millisecond
	relinkMost  = 5 * time.Second
	// relinkTime limits one attempt, including the start of a host.
	relinkTime = time.Minute
)

// keepHost replaces a lost link to the host, until ctx ends, the host is closed, or another server
// owns it.
func (s *Sessions) keepHost(ctx context.Context) {
	h := s.opts.Host
	for h.awaitLost(ctx) {
		for wait := relinkFirst; ; wait = min(2*wait, relinkMost) {
			relinks, err := h.relink(ctx)
			if err == nil {
				s.wg.Go(func() { s.hostBack(ctx, relinks) }) // an adoption may need the next link
				break
			}
			if errors.Is(err, host.ErrFenced) {
				s.logger.Error("another server owns the agents", "err", err)
				return
			}
			s.logger.Warn("the host of the agents cannot be reached", "err", err)
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return
			}
		}
	}
}

// hostBack adopts the agents of the host again. relinks is the number of the link.
func (s *Sessions) hostBack(ctx context.Context, relinks int) {
	ids, _ := s.selected(func(_ string, e *entry) bool { return e.summary.Machine == "" && e.actor != nil })
	forEach(adopters, ids, func(id string) {
		err := s.with(ctx, id, func(a *actor) error {
			a.back(ctx)
			return nil
		})
		if err != nil && ctx.Err() == nil {
			s.logger.Warn("the agent of a session was not taken over", "session", id, "err", err)
		}
	})
	for _, l := range s.opts.Host.takeRest(relinks) { // their sessions have since ended them
		s.opts.Host.discard(ctx, l)
	}
}

// watch makes relink the only function that replaces a lost link.
func (h *Host) watch() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watched = true
}

// awaitLost waits until the link to the host has ended. It returns false if ctx ends or the host is closed first.
func (h *Host) awaitLost(ctx context.Context) bool {
	for {
		h.mu.Lock()
		link, changed, closed := h.link, h.changed, h.closed
		h.mu.Unlock()
		if closed {
			return false
		}
		var ended <-chan struct{}
		if link != nil {
			if link.Err() != nil {
				h.logger.Error("the connection to the host of the agents is lost", "err", link.Err())
				return true
			}
			ended = link.Done()
		}
		select {
		case <-ended:
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// relink connects to the host again, and lists its agents for takeBack. If the host has died, they come from its files. It returns the
// number of relinks so far.
func (h *Host) relink(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, relinkTime)
	defer cancel()
	link, err := h.redial(ctx)
	var left map[string]*leftAgent
	if err == nil {
		left, err = h.leftAt(ctx, link)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fenced = errors.Is(err, host.ErrFenced); h.fenced {
		h.change()
	}
	if err == nil && h.closed {
		err = host.ErrLinkLost
	}
	if err != nil {
		if link != nil {
			link.Close()
		}
		return 0, err
	}
	// Set both together, so that no agent is started over the link before the list is complete: the
	// list contains only agents to adopt.
	h.link, h.back = link, left
	h.relinks++
	h.change()
	return h.relinks, nil
}

// redial returns a new link, or nil if no host runs and no earlier host has left agents.
func (h *Host) redial(ctx context.Context) (*host.Link, error) {
	link, err := h.dialNext(ctx)
	if !errors.Is(err, host.ErrNotRunning) {
		return link, err
	}
	if dead, err := host.ReadSpool(h.dir); len(dead) == 0 {
		return nil, err
	}
	if err := host.Start(ctx, h.dir, "", h.opts.Options); err != nil { // see left
		return nil, err
	}
	return h.dialNext(ctx)
}

// dialNext connects with a higher epoch.
func (h *Host) dialNext(ctx context.Context) (*host.Link, error) {
	h.mu.Lock()
	err := h.nextEpoch(ctx, false)
	epoch := h.epoch
	h.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return host.Dial(ctx, h.dir, epoch)
}

// takeBack returns the agent of a session that relink has found, once, or nil. known is false if
// the host is unreachable.
func (h *Host) takeBack(session string) (l *leftAgent, known bool) {
	if h == nil {
		return nil, true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fenced || h.back == nil || h.link != nil && h.link.Err() != nil {
		return nil, false
	}
	l = h.back[session]
	delete(h.back, session)
	return l, true
}

// takeRest returns the agents that no session has taken, or nil if there is a newer link.
func (h *Host) takeRest(relinks int) (rest []*leftAgent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.relinks != relinks {
		return nil
	}
	for _, l := range h.back {
		rest = append(rest, l)
	}
	h.back = nil
	return slices.Clip(rest)
}
