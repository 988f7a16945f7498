package server

import (
	"cmp"
	"context"
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
	BoxBwrap  = "bwrap"
	BoxDocker = "docker"
	BoxPodman = "podman"
	BoxNone   = "none"
)

// Boxes configures the boxes that agents run in. See package box.
type Boxes struct {
	// Always runs every agent in a box. Without it, only the agents of sessions that ask for a box run in one.
	Always bool
	// Kind is BoxBwrap, BoxDocker or BoxPodman; empty means BoxBwrap.
	Kind string
	// Image, Label and Env are for containers: the image, the label of this server, and the variables of the client.
	Image, Label string
	Env          []string
	// Program is bwrap, docker or podman, Init a program that calls box.Enter first, Supervisor the parley command below which boxes run. A session in a
	// box fails with Missing if there is no Program.
	Program, Init, Supervisor string
	Missing                   error
	Network                   box.Network
	// Allow are the hosts that agents reach with NetworkAllow; see keyproxy.Options.
	Allow []string
	// Caches are directories that all agents can change. Hide are files and directories that no box shows.
	Caches, Hide []string
}

// boxKind returns the kind of box that this server makes.
func (s *Server) boxKind() string { return cmp.Or(s.opts.Boxes.Kind, BoxBwrap) }

// boxed reports whether the agent of a session runs in a box.
func (s *Server) boxed(sandbox string) bool {
	return s.opts.Boxes.Always || sandbox == s.boxKind()
}

// checkSandbox returns an error if a session cannot have the box that it asks for. If the server
// requires a box, a session cannot opt out.
func (s *Server) checkSandbox(p agent.Provider, sandbox string) error {
	switch {
	case sandbox != "" && sandbox != s.boxKind() && sandbox != BoxNone:
		return session.Invalid("sandbox is %q, not %s or none", sandbox, s.boxKind())
	case sandbox == BoxNone && s.opts.Boxes.Always:
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
		return session.Fail(api.Unsupported, "%v", errors.Join(errors.New("boxes are not available on this machine"), s.opts.Boxes.Missing))
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

// describeBox returns the box of a session, or returns nil.
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
	return &api.Box{Kind: s.boxKind(), Network: string(s.opts.Boxes.Network), Credentials: holds}
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

// confinement is a box of any kind.
type confinement interface {
	Spawner(next spawn.Spawner) spawn.Spawner
	Try(ctx context.Context, dir string, env []string, t box.Trial) (box.Seen, error)
}

// confine returns the box of a session's agent.
func (s *Server) confine(b *box.Box, id string) confinement {
	if s.boxKind() == BoxBwrap {
		return b
	}
	return s.container(b, id)
}

func (s *Server) container(b *box.Box, id string) *box.Container {
	return &box.Container{Box: *b, Image: s.opts.Boxes.Image, Host: s.opts.Boxes.Label, Session: id, Env: s.opts.Boxes.Env}
}

// endBox ends the leftovers of a session's box: a container outlives its client, a box of bubblewrap ends with its process.
func (s *Server) endBox(id string) {
	if s.boxKind() == BoxBwrap {
		return
	}
	if err := s.container(&box.Box{Program: s.opts.Boxes.Program}, id).End(context.Background()); err != nil {
		s.logger.Warn("the container of a session was not ended", "session", id, "err", err)
	}
}

// putInBox configures the agent of a session to start in a box. token is the agent's token for the
// key proxy, if it uses it.
func (s *Server) putInBox(p agent.Provider, id string, opts *agent.Options, token string) error {
	b, err := s.boxOf(p, opts)
	if err != nil {
		return err
	}
	in := s.confine(b, id)
	opts.Env = BoxEnv(opts.Env, b.Network)
	if b.Network == box.NetworkAllow {
		opts.Env = append(opts.Env, tunnelEnv(s.keys.URL(), token)...)
	}
	opts.Box = func(next spawn.Spawner) spawn.Spawner {
		if next == nil {
			next = proc.LocalOptions{Supervisor: s.opts.Boxes.Supervisor}.Spawner()
		}
		return in.Spawner(next)
	}
	return nil
}

// outsideVariables name files and sockets that do not exist in a box.
var outsideVariables = []string{"TMPDIR", "TMP", "TEMP", "CLAUDE_CODE_TMPDIR", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS"}

// proxyVariables name the network proxy of a program.
var proxyVariables = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}

// BoxEnv returns the environment of an agent in a box. It sets IS_SANDBOX, without which the CLI
// refuses to run as root with permission checks disabled.
func BoxEnv(env []string, n box.Network) []string {
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
