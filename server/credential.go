package server

import (
	"sync"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/server/keyproxy"
)

// openKeyProxy starts the proxy that adds the server's key to requests of agents, if the
// server has one.
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

// closeKeyProxy ends the proxy, after the agents.
func (s *Server) closeKeyProxy() {
	if s.keys != nil {
		if err := s.keys.Close(); err != nil {
			s.logger.Warn("the key proxy was not closed", "err", err)
		}
	}
}

// lend gives an agent access to its model: through the proxy where the server has a key, and
// as the server's environment says otherwise. The access ends with release.
func (a *actor) lend(opts *agent.Options) (release func()) {
	p, ok := a.provider.(agent.KeyProxied)
	if a.srv.keys == nil || !ok {
		return func() {}
	}
	token, revoke := a.srv.keys.Grant(a.id)
	opts.Env = p.ProxyEnv(opts.Env, a.srv.keys.URL(), token)
	return sync.OnceFunc(revoke)
}
