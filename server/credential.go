package server

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/server/keyproxy"
)

// keyProxy adds the server's key to requests of agents, in this process or in one that outlives it.
type keyProxy interface {
	URL() string
	Door() (socket string, err error)
	Grant(session string) (token string, revoke func(), err error)
	Close() error
}

// Names of the files of the key proxy below Options.Dir.
const (
	doorName = "door.sock" // of a proxy in this process
	keysName = "keys.sock" // of a proxy in another one
)

// openKeyProxy opens the key proxy, if the server has a key: with a host in a process that outlives the server, as the agents do.
func (s *Server) openKeyProxy(ctx context.Context) error {
	o := s.opts
	switch {
	case o.APIKey == "":
		return nil
	case o.Host != nil:
		path, err := filepath.Abs(filepath.Join(o.Dir, keysName))
		if err != nil {
			return err
		}
		r, err := keyproxy.OpenRemote(ctx, keyproxy.RemoteOptions{Path: path, Key: o.APIKey, Upstream: o.APIUpstream, Allow: o.Boxes.Allow, Start: o.Host.Start, Env: filterEnv(os.Environ(), keyProxyVariables)})
		if err != nil {
			return err
		}
		s.keys, s.settleKeys = r, r.Settle
	default:
		p, err := keyproxy.Listen(keyproxy.Options{Key: o.APIKey, Upstream: o.APIUpstream, Allow: o.Boxes.Allow, Door: filepath.Join(o.Dir, doorName), Logger: s.logger})
		if err != nil {
			return err
		}
		s.keys = p
	}
	return nil
}

// keyProxyVariables are the variables of the server's environment that a key proxy in another process gets.
var keyProxyVariables = []string{"TMPDIR", "RUNTIME_DIRECTORY", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}

// closeKeyProxy stops the proxy, after the agents. A proxy in another process continues.
func (s *Server) closeKeyProxy() {
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
	token := ""
	if p, ok := provider.(agent.KeyProxied); ok && s.keys != nil {
		given, revoke, err := s.keys.Grant(session)
		if err != nil {
			return nil, err
		}
		token = given
		opts.Env = p.ProxyEnv(opts.Env, s.keys.URL(), token)
		release = sync.OnceFunc(revoke)
	}
	s.mark(session, opts)
	if s.boxed(opts.Sandbox) {
		if err := s.putInBox(provider, session, opts, token); err != nil {
			release()
			return nil, err
		}
		revoke := release
		release = func() {
			revoke()
			s.endBox(session)
		}
	}
	return release, nil
}
