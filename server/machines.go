package server

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/seed7221b0f9/parley/host/join"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/place"
	"github.com/seed7221b0f9/parley/server/session"
)

// maxJoinMessage limits a message of the WebSocket, which has at most a frame of the host protocol with its head.
const maxJoinMessage = 9 << 20

// machineRoutes returns the address at which machines join.
func machineRoutes() []route {
	return []route{{&method{name: "host.join", role: roleHost, scope: unlinked, tenancy: ofServer, audit: audited, body: maxBody}, "GET " + join.Path, (*Server).join}}
}

// join serves the link of a machine until it ends.
func (s *Server) join(w http.ResponseWriter, r *http.Request, c *caller, _ *method) error {
	release, err := s.connection(r)
	if err != nil {
		return err
	}
	defer release()
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, address := range s.clusterAddresses(r.Context()) {
		w.Header().Add(join.ServersHeader, address)
	}
	// The filter has checked the origin, more thoroughly than the library.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true, Subprotocols: []string{join.Subprotocol}})
	if err != nil {
		return nil // it has responded
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxJoinMessage)
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	stop := context.AfterFunc(s.linked, cancel)
	defer stop()
	held, release := s.tokens.hold(ctx, c.principal)
	defer release()
	wg.Go(func() { pingLink(ctx, conn) })
	err = s.machines.Serve(held, websocket.NetConn(ctx, conn, websocket.MessageBinary), c.id)
	s.logger.Info("the link of a machine has ended", "by", c.by(), "why", err)
	return nil
}

// The pause between attempts to link a machine. It doubles after each failure.
const (
	minLinkPause = time.Second
	maxLinkPause = 15 * time.Second
)

// LinkMachine keeps a link to a machine that does not dial the server, until ctx ends or the server is closed; dial connects to it. The name
// of the machine belongs to id, as that of a dialing machine belongs to its token.
func (s *Server) LinkMachine(ctx context.Context, id string, dial func(ctx context.Context) (net.Conn, error)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.linked, cancel)()
	pause := minLinkPause
	for {
		began := time.Now()
		conn, err := dial(ctx)
		if err == nil {
			err = s.machines.Serve(ctx, conn, session.LinkedPrefix+id)
		}
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > maxLinkPause {
			pause = minLinkPause
		}
		s.logger.Warn("the link to a machine has ended", "machine", id, "err", err, "next", pause)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, maxLinkPause)
	}
}

// clusterAddresses returns the addresses of all servers of the cluster.
func (s *Server) clusterAddresses(ctx context.Context) (all []string) {
	if s.opts.Cluster == nil {
		return nil
	}
	nodes, err := s.opts.Cluster.Nodes(ctx)
	if err != nil {
		s.logger.Warn("could not send the addresses of the other servers to a machine", "err", err)
	}
	for _, n := range nodes {
		if n.Address != "" && !n.Draining {
			all = append(all, n.Address)
		}
	}
	return all
}

// pingLink closes a link when the machine does not answer.
func pingLink(ctx context.Context, conn *websocket.Conn) {
	ticker := time.NewTicker(join.PingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		bound, cancel := context.WithTimeout(ctx, join.PongWithin)
		err := conn.Ping(bound)
		cancel()
		if err != nil {
			_ = conn.CloseNow()
			return
		}
	}
}

// machinesList lists the machines that have joined.
func machinesList(s *Server, _ context.Context, _ *caller, _ api.Empty) (api.MachinesListResult, error) {
	return api.MachinesListResult{Machines: s.machines.List()}, nil
}

// checkMachine checks the parameters of a session on another machine. The machine checks them
// again.
func (s *Server) checkMachine(ctx context.Context, c *caller, provider string, p *api.ConnectParams) error {
	unsupported := map[string]bool{
		"sandbox": p.Sandbox != "", "fork_session": p.ForkSession, "mcp_servers": p.MCPServers != "",
		"agents": p.Agents != "", "allowed_tools": len(p.AllowedTools) > 0, "additional_directories": len(p.AdditionalDirectories) > 0, "setting_sources": len(p.SettingSources) > 0,
	}
	for name, set := range unsupported {
		if set {
			return session.Fail(api.Unsupported, "%s has no effect on another machine: its own configuration counts", name)
		}
	}
	if c.tenant != "" {
		return session.Fail(api.AuthFailed, "a token of a tenant does not allow sessions on other machines")
	}
	m, err := s.machines.Find(p.Machine)
	switch {
	case err != nil:
		return err
	case !slices.Contains(m.Agents, provider):
		return session.Fail(api.Unsupported, "machine %q has no agent %q", p.Machine, provider)
	case p.WorkspaceID != "":
		w, err := s.workspace(ctx, c, p.Machine, p.WorkspaceID)
		p.CWD = w.Path
		return err
	case p.CWD == "" && len(m.Directories) > 0:
		p.CWD = m.Directories[0]
	case !filepath.IsAbs(p.CWD):
		return session.Invalid("directory %q is not absolute", p.CWD)
	case !slices.ContainsFunc(m.Directories, func(root string) bool { return within(root, filepath.Clean(p.CWD)) }):
		return session.Fail(api.AuthFailed, "directory %q is not one that machine %q offers", p.CWD, p.Machine)
	}
	p.CWD = filepath.Clean(p.CWD)
	return nil
}

// placeFor returns a machine that a caller may use; an empty name is this machine.
func (s *Server) placeFor(c *caller, machine string) (place.Place, error) {
	if machine != "" && c.tenant != "" {
		return nil, session.Fail(api.AuthFailed, "a token of a tenant does not reach other machines")
	}
	return s.sessions.Place(machine)
}

// placeAt returns a machine that a caller may use, and the directory there that the caller names. On this machine the
// directory must be below the roots: a worktree outside of them can belong to another tenant. Other machines check their
// directories themselves.
func (s *Server) placeAt(c *caller, machine, dir string) (place.Place, string, error) {
	at, err := s.placeFor(c, machine)
	if err == nil && machine == "" {
		dir, err = s.directory(dir)
	}
	return at, dir, err
}
