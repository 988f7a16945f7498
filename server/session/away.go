package session

import (
	"context"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/server/api"
)

// The agent of a session on another machine runs on while its machine is unreachable. Until it is back, the session keeps its state: nothing
// is written, inputs wait, and calls to the agent fail. Then the agent is adopted, as after a restart of the server.

// setAway records that the agent of the session runs without a link.
func (a *actor) setAway() { a.away = true }

// lostLink reports whether the agent runs on another machine, with a link that has ended.
func (a *actor) lostLink() bool {
	return a.machine() != "" && a.agent != nil && a.agent.process != nil && a.agent.process.Err() != nil
}

// linked returns an error while the agent runs on a machine that is unreachable.
func (a *actor) linked() error {
	if !a.away && !a.lostLink() {
		return nil
	}
	name := a.machine()
	if m := a.srv.opts.Machines.get(name); m != nil {
		if _, err := m.reach(); err != nil {
			return err
		}
	}
	return Fail(api.NotConnected, "machine %q is unreachable; its agents run on", name)
}

// machine returns the name of the machine of the session; empty is this one.
func (l *life) machine() string { return l.core.Opened.Params.Machine }

// leaveAgent drops an agent with a link that has ended. What it has reported since is dropped too: the adoption reads it again.
func (a *actor) leaveAgent() {
	r := a.agent
	a.agent = nil
	a.setAway()
	a.joiner = joiner{}
	a.caughtUp()
	r.leaves = true
	close(r.ended)
	a.active()
}

// back ends the time without a link: the agent of the session is adopted, or it has ended meanwhile.
func (a *actor) back(ctx context.Context) {
	if a.lostLink() {
		a.leaveAgent() // the loop has not noticed yet
	}
	if !a.away {
		return
	}
	l, known := a.srv.opts.Machines.get(a.machine()).take(a.id)
	if !known {
		return
	}
	a.away = false
	a.order(ctx, l)
	_ = a.write() // kept and retried by tick
	a.srv.updated(a.id, a.core.AgentID, a.summary())
	a.sendNext()
}

// order adopts the agent that was left, or recovers the session if there is none.
func (a *actor) order(ctx context.Context, l *leftAgent) {
	if l == nil {
		a.recovered()
		return
	}
	if err := a.adopt(ctx, l); err != nil {
		a.logger.Warn("the agent was not taken over", "agent", l.Number, "err", err)
		if err := l.drop(ctx); err != nil {
			a.logger.Warn("an agent was not ended", "agent", l.Number, "err", err)
		}
		a.recovered()
	}
}

// loaded brings a session in order after it was loaded: its agent has ended, or runs on another machine.
func (a *actor) loaded(ctx context.Context) {
	if a.machine() == "" || a.core.Host == 0 {
		a.recovered()
		return
	}
	l, known := a.srv.opts.Machines.get(a.machine()).take(a.id)
	if !known {
		a.setAway()
		return
	}
	a.order(ctx, l)
}

// reached adopts the agents of a machine that is reachable again.
func (s *Sessions) reached(ctx context.Context, m *machine) {
	ids, _ := s.selected(func(_ string, e *entry) bool { return e.summary.Machine == m.Name && e.actor != nil })
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

// providerOf returns the provider of a session, on another machine if one is named.
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
