package session

import (
	"cmp"
	"context"
	"slices"
)

// A server of a cluster that is drained gives its sessions to the others while it runs. It no longer loads or creates sessions. Idle agents are
// ended, and their sessions released one after another. Agents in a turn go with their host if another server can take it; otherwise their turns
// end first.

// GiveAway makes the server load and create no more sessions. It reports whether this was the first call.
func (t *table) GiveAway() (first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first = !t.giving
	t.giving = true
	return first
}

// Giving reports whether GiveAway was called.
func (t *table) Giving() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.giving
}

// HandOver releases the sessions that another server can own now, and returns the number of the
// others. With hosts set, agents in a turn stay with the host of this server, and another server
// takes the host. With machines set, the links to joined machines move with the sessions on them.
func (s *Sessions) HandOver(ctx context.Context, hosts, machines bool) (left int) {
	all := s.loaded()
	slices.SortFunc(all, func(a, b *actor) int { return cmp.Compare(a.id, b.id) })
	var moving []*actor
	for _, a := range all {
		_ = a.call(ctx, func() error { // fails only if the actor has ended; then the session is released
			switch {
			case a.giveAway():
				return nil
			case a.hosted() && (a.machine() == "" && hosts || a.machine() != "" && machines):
				moving = append(moving, a)
			}
			left++
			return nil
		})
	}
	for _, a := range moving {
		_ = a.call(ctx, func() error { // see above
			if a.hosted() {
				a.logger.Info("the session goes with the host of its agent")
				a.yield()
				left--
			}
			return nil
		})
	}
	if left == 0 {
		s.opts.Machines.leave()
		s.hosts.leave()
	}
	return left
}

// giveAway releases the session if no agent of it runs here, and ends an idle agent. It reports whether the session was released.
func (a *actor) giveAway() bool {
	switch {
	case a.starting || len(a.batch) > 0 || a.blocked != nil:
	case a.evictable():
		a.stop(onEvict)
	case a.agent == nil:
		a.snapshot() // before the next owner loads the session
		a.remember()
		a.surrender()
		return true
	}
	return false
}

// hosted reports whether the session has an agent that another server can adopt.
func (a *actor) hosted() bool {
	return a.agent != nil && a.agent.process != nil && a.agent.reason == ""
}

// leave closes the links to all hosts and leaves their agents running.
func (t *hostTable) leave() {
	if t.leases() == nil {
		return
	}
	t.mu.Lock()
	hosts := []*Host{t.s.opts.Host}
	for _, taken := range t.all {
		hosts = append(hosts, taken.host)
	}
	t.mu.Unlock()
	for _, h := range hosts {
		if link := h.running(); link != nil {
			link.Close()
		}
	}
	t.look()
}
