package server

import (
	"sync"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/server/keyproxy"
)

// openKeyProxy starts the proxy that adds the server's key to requests of agents, if the server has
// a key.
func (s *Server) openKeyProxy() error {
	if s.opts.APIKey == "" {
		return nil
	}
	proxy, err := keyproxy.Listen(keyproxy.Options{Key: s.opts.APIKey, Upstream: s.opts.APIUpstream, Logger: s.logger})
	if err != nil {
		return err
	}
	s.keys = proxy
	return nil
}

// closeKeyProxy stops the proxy, after the agents.
func (s *Server) closeKeyProxy() {
	s.closeDoor()
	if s.keys != nil {
		if err := s.keys.Close(); err != nil {
			s.logger.Warn("the key proxy was not closed", "err", err)
		}
	}
}

// prepareAgent gives an agent access to its model, through the proxy if the server has a key and by
// its environment otherwise, a mark for previews, and a box if the session has one. release ends the access.
func (s *Server) prepareAgent(session string, provider agent.Provider, opts *agent.Options) (release func(), err error) {
	release = func() {}
	if p, ok := provider.(agent.KeyProxied); ok && s.keys != nil {
		token, revoke := s.keys.Grant(session)
		opts.Env = p.ProxyEnv(opts.Env, s.keys.URL(), token)
		release = sync.OnceFunc(revoke)
	}
	s.mark(session, opts)
	if s.boxed(opts.Sandbox) {
		if err := s.putInBox(provider, opts); err != nil {
			release()
			return nil, err
		}
	}
	return release, nil
}
