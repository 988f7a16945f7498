package session

import (
	"context"
	"sync"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/server/api"
)

// with runs f in the loop of a session, which is loaded if necessary.
func (s *Sessions) with(ctx context.Context, id string, f func(a *actor) error) error {
	a, release, err := s.use(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	return a.call(ctx, func() error { return f(a) })
}

// useAgent is like use for a call to the agent: it waits until an agent that is being adopted is
// ready.
func (s *Sessions) useAgent(ctx context.Context, id string) (a *actor, release func(), err error) {
	if a, release, err = s.use(ctx, id); err != nil {
		return nil, nil, err
	}
	if err := a.awaitAdoption(ctx); err != nil {
		release()
		return nil, nil, err
	}
	return a, release, nil
}

// agentOf returns the running agent of a session, and starts it if necessary.
func (s *Sessions) agentOf(ctx context.Context, id string) (a *actor, session agent.Session, release func(), err error) {
	a, release, err = s.useAgent(ctx, id)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := a.ensure(ctx); err != nil {
		release()
		return nil, nil, nil, err
	}
	err = a.call(ctx, func() error {
		if a.agent == nil {
			return Fail(api.NotConnected, "the session has no agent")
		}
		session = a.agent.session
		return nil
	})
	if err != nil {
		release()
		return nil, nil, nil, err
	}
	return a, session, release, nil
}

// feature calls an optional interface of the running agent. It returns an error if the agent does
// not implement it.
func feature[T any](ctx context.Context, s *Sessions, id string, f func(ctx context.Context, a *actor, t T) error) error {
	a, session, release, err := s.agentOf(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	t, ok := session.(T)
	if !ok {
		return Fail(api.Unsupported, "the agent of this session cannot do that")
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.CallTimeout)
	defer cancel()
	return f(ctx, a, t)
}

// Agent is the running agent of a session.
type Agent struct {
	Provider agent.Provider
	Session  agent.Session
	Mode     string   // permission mode
	Dirs     []string // working directories
	Env      []string // its environment
	Box      *api.Box // nil without a box
	Release  func()   // ends the use of the session
}

// Agent returns the agent of a session, and starts it if necessary. The caller must call Release.
func (s *Sessions) Agent(ctx context.Context, id string) (*Agent, error) {
	a, session, release, err := s.agentOf(ctx, id)
	if err != nil {
		return nil, err
	}
	found := &Agent{Provider: a.provider, Session: session, Release: release}
	err = a.call(ctx, func() error {
		found.Mode, found.Env, found.Box = a.core.Mode, a.given, a.box()
		found.Dirs = append([]string{a.core.Opened.Dir}, a.core.Opened.Params.AdditionalDirectories...)
		return nil
	})
	if err != nil {
		release()
		return nil, err
	}
	return found, nil
}

// use returns the actor of a session, and loads it if necessary. The caller must call release;
// until then the actor stays.
func (s *Sessions) use(ctx context.Context, id string) (a *actor, release func(), err error) {
	for {
		e, a, loading, err := s.acquire(ctx, id)
		switch {
		case err != nil:
			return nil, nil, err
		case a != nil:
			return a, sync.OnceFunc(func() { s.release(e) }), nil
		case loading == nil:
			if err := s.loadEntry(ctx, id, e); err != nil {
				return nil, nil, err
			}
			continue
		}
		select {
		case <-loading:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// loadEntry loads a session into its entry and starts its actor.
func (s *Sessions) loadEntry(ctx context.Context, id string, e *entry) error {
	a, err := s.load(ctx, id)
	if ended := s.loadEnded(e, a, s.run); err == nil {
		err = ended
	}
	return err
}
