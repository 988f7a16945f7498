package session

import (
	"context"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/server/api"
)

// If the host of an agent becomes unreachable, on this machine or another one, the agent continues
// to run. Until the host is reachable, the session keeps its state: it writes nothing, inputs wait,
// and calls to the agent fail. Then the server adopts the agent as after a restart.

// setAway records that the agent of the session runs and its host is unreachable.
func (a *actor) setAway() { a.away = true }

// lostLink reports whether the agent runs under a host with a link that has ended.
func (a *actor) lostLink() bool {
	return a.agent != nil && a.agent.process != nil && a.agent.process.Err() != nil
}

// linked returns an error while the agent runs under a host that is unreachable.
func (a *actor) linked() error {
	if !a.away && !a.lostLink() {
		return nil
	}
	name := a.machine()
	if name == "" {
		if a.srv.hosts.leases() != nil {
			return Fail(api.NotConnected, "no server reaches the agent of the session on machine %q; the agent keeps running there (if the machine is gone: parley nodes forget)", a.srv.hosts.machine(a.core.HostIn))
		}
		return Fail(api.NotConnected, "the connection to the host of the agents is lost; try again when it is back")
	}
	if m := a.srv.opts.Machines.get(name); m != nil {
		if _, err := m.reach(); err != nil {
			return err
		}
	}
	return Fail(api.NotConnected, "machine %q is unreachable; its agents run on", name)
}

// attached returns an error while the agent runs, or may run, under a host that this server does
// not reach.
func (a *actor) attached() error {
	switch {
	case a.core.State == LostHost:
		return errNotOwner()
	case a.left != nil:
		return errClosed()
	}
	return a.linked()
}

// machine returns the name of the machine of the session; empty is this one.
func (l *life) machine() string { return l.core.Opened.Params.Machine }

// leaveAgent drops an agent when its link has ended. Unhandled events are dropped too, because the adoption reads them again.
func (a *actor) leaveAgent() {
	r := a.agent
	a.agent = nil
	a.ending = r.reason
	a.setAway()
	a.joiner = joiner{}
	a.caughtUp()
	r.leaves = true
	close(r.ended)
	a.active()
	if a.machine() == "" {
		a.srv.hosts.look()
	}
}

// hostKey returns the name of the lease of the host that runs the agent of the session, or "".
func (a *actor) hostKey() string {
	if name := a.machine(); name != "" {
		return machineKey(name)
	}
	return a.core.HostIn
}

// yield ends an actor and leaves its agent running, so that another server can own the session.
func (a *actor) yield() {
	a.letGo()
	a.batch, a.core.State = nil, LostHost
	a.srv.updated(a.id, a.core.AgentID, a.summary())
	a.surrender()
}

// letGo detaches the agent, which continues under its host.
func (a *actor) letGo() {
	r := a.agent
	if r == nil {
		return
	}
	if r.process != nil && r.process.Err() == nil {
		a.srv.cut(a.hostKey()) // otherwise the end of the actor would end the agent
	}
	a.agent = nil
	a.caughtUp()
	r.leaves = true
	close(r.ended)
}

// back is called when the link may have returned. The session adopts its agent, or finds that it
// has ended.
func (a *actor) back(ctx context.Context) {
	if a.lostLink() {
		a.leaveAgent() // the loop has not noticed the lost link yet
	}
	if !a.away {
		return
	}
	l, known := a.takeLeft()
	if !known {
		return
	}
	a.away = false
	a.order(ctx, l)
	if a.agent != nil && a.ending != "" {
		a.stop(a.ending)
	}
	_ = a.write() // kept and retried by tick
	a.srv.updated(a.id, a.core.AgentID, a.summary())
	a.sendNext()
}

// order adopts the agent that was left, or recovers the session without one.
func (a *actor) order(ctx context.Context, l *leftAgent) {
	if l == nil {
		a.recovered()
		return
	}
	if err := a.adopt(ctx, l); err != nil {
		if l.lost() { // the link was lost again; the next link adopts it
			a.setAway()
			return
		}
		a.logger.Warn("the agent was not taken over", "agent", l.Number, "err", err)
		if err := l.drop(ctx); err != nil {
			a.logger.Warn("an agent was not ended", "agent", l.Number, "err", err)
		}
		a.recovered()
	}
}

// loaded repairs a session after it was loaded: its agent has ended, or runs on another machine.
func (a *actor) loaded(ctx context.Context) {
	if a.hostKey() == "" || a.core.Host == 0 {
		a.recovered()
		return
	}
	l, known := a.takeLeft()
	if !known {
		a.setAway()
		return
	}
	a.order(ctx, l)
}

// takeLeft returns the agent of the session that an earlier owner has left, once, or nil. known is false while no link reaches its
// host. A host that is not in the cluster's list has ended.
func (a *actor) takeLeft() (l *leftAgent, known bool) {
	if a.machine() != "" {
		return a.srv.opts.Machines.get(a.machine()).take(a.id)
	}
	leases := a.srv.hosts.leases()
	if leases == nil {
		return a.srv.opts.Host.takeBack(a.id)
	}
	key := a.core.HostIn
	if l, known = a.srv.hosts.take(key, a.id); known {
		return l, true
	}
	return nil, !leases.Known(key)
}

// reached adopts the agents of a machine that is reachable again.
func (s *Sessions) reached(ctx context.Context, m *machine) {
	ids, _ := s.selected(func(_ string, e *entry) bool { return e.summary.Machine == m.Name && e.actor != nil })
	if s.opts.Owners != nil {
		s.wg.Go(func() { s.reachedOf(m, append(m.sessions(), ids...)) })
		return
	}
	for _, id := range append(m.sessions(), ids...) {
		err := s.with(ctx, id, func(a *actor) error {
			a.back(ctx)
			return nil
		})
		if err != nil {
			s.logger.Warn("a session of a machine was not loaded", "session", id, "machine", m.Name, "err", err)
		}
	}
	for _, id := range m.sessions() { // of sessions that do not exist
		if l, ok := m.take(id); ok && l != nil {
			if err := l.drop(ctx); err != nil {
				s.logger.Warn("an agent of a machine was not ended", "agent", l.Number, "machine", m.Name, "err", err)
			}
		}
	}
}

// reachedOf adopts the agents of a machine that has joined this server of a cluster.
func (s *Sessions) reachedOf(m *machine, ids []string) {
	forEach(adopters, ids, func(id string) {
		if err := s.claimBack(s.ctx, id, machineKey(m.Name)); err != nil && s.ctx.Err() == nil {
			s.logger.Warn("a session of a machine was not loaded", "session", id, "machine", m.Name, "err", err)
		}
	})
	for _, id := range m.sessions() {
		if s.Exists(id) {
			continue
		}
		if l, ok := m.take(id); ok && l != nil {
			if err := l.drop(s.ctx); err != nil {
				s.logger.Warn("an agent of a machine was not ended", "agent", l.Number, "machine", m.Name, "err", err)
			}
		}
	}
}

// providerOf returns the provider of a session: on another machine if the session names one.
func (s *Sessions) providerOf(ctx context.Context, tenant, name, machine string) (agent.Provider, []string, error) {
	p, env, err := s.opts.Provider(ctx, tenant, name)
	if err != nil || machine == "" {
		return p, env, err
	}
	adopter, ok := p.(agent.Adopter)
	if !ok {
		return nil, nil, Fail(api.Unsupported, "agent %q cannot run on another machine", p.Name())
	}
	return remoteProvider{p, adopter}, nil, nil
}
