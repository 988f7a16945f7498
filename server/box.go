package server

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
	"github.com/seed7221b0f9/parley/spawn"
	"github.com/seed7221b0f9/parley/spawn/box"
)

// The kinds of boxes that a session can ask for.
const (
	boxBwrap = "bwrap"
	boxNone  = "none"
)

// Boxes configures the boxes that agents run in. See package box.
type Boxes struct {
	// Always runs every agent in a box. Without it, only the agents of sessions that ask for a box run in one.
	Always bool
	// Program is bwrap, Init a program that calls box.Enter first, Supervisor the parley command below which boxes run. A session in a
	// box fails with Missing if there is no Program.
	Program, Init, Supervisor string
	Missing                   error
	Network                   box.Network
	// Allow are the hosts that agents reach with NetworkAllow; see keyproxy.Options.
	Allow []string
	// Caches are directories that all agents can change. Hide are files and directories that no box shows.
	Caches, Hide []string
}

// boxed reports whether the agent of a session runs in a box.
func (s *Server) boxed(sandbox string) bool { return s.opts.Boxes.Always || sandbox == boxBwrap }

// checkSandbox returns an error if a session cannot have the box that it asks for. A session cannot leave the server's.
func (s *Server) checkSandbox(p agent.Provider, sandbox string) error {
	switch {
	case sandbox != "" && sandbox != boxBwrap && sandbox != boxNone:
		return session.Invalid("sandbox is %q, not bwrap or none", sandbox)
	case sandbox == boxNone && s.opts.Boxes.Always:
		return session.Fail(api.AuthFailed, "the server runs all agents in a box")
	case s.boxed(sandbox):
		return s.canBox(p)
	}
	return nil
}

// canBox returns an error if the agents of a provider cannot run in a box.
func (s *Server) canBox(p agent.Provider) error {
	_, boxable := p.(agent.Boxable)
	switch {
	case s.opts.Boxes.Program == "":
		return session.Fail(api.Unsupported, "%v", errors.Join(errors.New("there are no boxes on this machine"), s.opts.Boxes.Missing))
	case !boxable:
		return session.Fail(api.Unsupported, "agent %q cannot run in a box", p.Name())
	case s.opts.Boxes.Network.Closed() && !s.proxied(p):
		return session.Fail(api.Unsupported, "agent %q reaches its model from a box only with an API key of the server", p.Name())
	}
	return nil
}

// proxied reports whether the agents of a provider reach their model through the key proxy.
func (s *Server) proxied(p agent.Provider) bool {
	_, ok := p.(agent.KeyProxied)
	return ok && s.keys != nil
}

// describeBox returns the box of a session, or nil if it has none.
func (s *Server) describeBox(p agent.Provider, sandbox string, secret bool, env []string) *api.Box {
	if !s.boxed(sandbox) || s.canBox(p) != nil {
		return nil
	}
	f := findings{proxied: s.proxied(p), variables: []string{}}
	if f.proxied {
		env = p.(agent.KeyProxied).ProxyEnv(env, "", "")
	}
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		f.variables = append(f.variables, name)
	}
	holds := !f.proxied || len(f.secrets()) > 0 || secret
	return &api.Box{Kind: boxBwrap, Network: string(s.opts.Boxes.Network), Credentials: holds}
}

// boxOf returns the box of an agent.
func (s *Server) boxOf(p agent.Provider, opts *agent.Options) (*box.Box, error) {
	if err := s.canBox(p); err != nil {
		return nil, err
	}
	home := ""
	for _, entry := range opts.Env {
		if value, ok := strings.CutPrefix(entry, "HOME="); ok {
			home = value
		}
	}
	if home == "" {
		return nil, session.Fail(api.Unsupported, "a box needs a HOME in the agent's environment")
	}
	o, needs := s.opts.Boxes, p.(agent.Boxable).BoxNeeds(*opts)
	b := &box.Box{Program: o.Program, Init: o.Init, Home: filepath.Clean(home), Empty: needs.Empty, Network: o.Network,
		Write: slices.Concat(opts.AdditionalDirectories, needs.Write, o.Caches), Hide: slices.Concat([]string{s.opts.Dir}, o.Hide)}
	for _, dir := range needs.Write {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	if !s.proxied(p) {
		b.Logins = slices.DeleteFunc(needs.Logins, func(path string) bool { _, err := os.Stat(path); return err != nil })
	}
	if o.Network.Closed() {
		port, socket, err := s.keyDoor()
		if err != nil {
			return nil, err
		}
		b.Doors = map[int]string{port: socket}
	}
	return b, nil
}

// putInBox makes the agent start in a box. The token is that of the key proxy, if it uses it.
func (s *Server) putInBox(p agent.Provider, opts *agent.Options, token string) error {
	b, err := s.boxOf(p, opts)
	if err != nil {
		return err
	}
	opts.Env = boxEnv(opts.Env, b.Network)
	if b.Network == box.NetworkAllow {
		opts.Env = append(opts.Env, tunnelEnv(s.keys.URL(), token)...)
	}
	opts.Box = func(next spawn.Spawner) spawn.Spawner {
		if next == nil {
			next = proc.LocalOptions{Supervisor: s.opts.Boxes.Supervisor}.Spawner()
		}
		return b.Spawner(next)
	}
	return nil
}

// outsideVariables name files and sockets that a box does not show.
var outsideVariables = []string{"TMPDIR", "TMP", "TEMP", "CLAUDE_CODE_TMPDIR", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS"}

// proxyVariables name the proxy of a program for the network.
var proxyVariables = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}

// boxEnv returns the environment of an agent in a box. IS_SANDBOX lets the CLI run as root without permissions.
func boxEnv(env []string, n box.Network) []string {
	out := []string{"TMPDIR=/tmp", "IS_SANDBOX=1"}
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		proxy := n.Closed() && slices.Contains(proxyVariables, strings.ToUpper(name))
		if !proxy && name != "IS_SANDBOX" && !slices.Contains(outsideVariables, name) {
			out = append(out, entry)
		}
	}
	return out
}

// tunnelEnv returns the variables that make programs reach hosts through the key proxy.
func tunnelEnv(keys, token string) []string {
	address := strings.Replace(keys, "http://", "http://parley:"+token+"@", 1)
	return []string{"HTTPS_PROXY=" + address, "https_proxy=" + address}
}

// keyDoor returns the port of the key proxy and a socket that leads to it from boxes without a network.
func (s *Server) keyDoor() (port int, socket string, err error) {
	if socket, err = s.keys.Door(); err != nil {
		return 0, "", err
	}
	address, err := url.Parse(s.keys.URL())
	if err != nil {
		return 0, "", err
	}
	port, err = strconv.Atoi(address.Port())
	return port, socket, err
}
