package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/acp/acphttp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/agentkit"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/server/blob"
	"github.com/seed7221b0f9/parley/server/place"
	"github.com/seed7221b0f9/parley/server/session"
	"github.com/seed7221b0f9/parley/spawn"
	"github.com/seed7221b0f9/parley/workspace"
)

// Server holds sessions, runs their agents and serves them to clients. Its methods may be
// called from any goroutine.
type Server struct {
	opts       Options
	store      session.Store
	logger     *slog.Logger
	commands   agentkit.Registry // of HookCommand and workspaces
	tenants    *tenants
	sessions   *session.Sessions
	tokens     *tokens
	audit      *audit
	workspaces *workspace.Manager
	local      *place.Local
	filter     *filter
	accounts   *accounts
	webhooks   *webhooks
	uploaded   blob.Store // images
	secrets    blob.Store // of sessions; nil for a single server
	keys       keyProxy   // nil if agents use Env
	settleKeys func()     // ends the access of agents that were not taken over
	previews   *previews  // nil if disabled
	peers      *peers     // nil for a single server
	metrics    *metrics
	tracer     session.Tracer
	conns      chan struct{} // limits the connections
	streams    places        // sockets and streams, by address
	remoteACP  *acphttp.Handler
	acpClients places // connections of ACP clients, by token
	tries      tries
	flight     *flight
	pairings   onces[pairing]
	notices    onces[notice]
	machines   *session.Machines
	linked     context.Context // context of the links to machines, which must last until the sessions are closed
	unlink     context.CancelFunc
	listenMu   sync.Mutex
	listens    []net.Addr // of Serve
	stopTokens func()     // stops the wait for expiring tokens
	began      time.Time

	ctx             context.Context
	cancel          context.CancelFunc
	wg              sync.WaitGroup // all goroutines of the server
	closeWorkspaces sync.Once
}

// New returns a server for the sessions in opts.Store. Before it returns, it recovers the sessions
// with an agent that ran when the last server died: their turns are interrupted, their requests
// expired and their queues held.
func New(ctx context.Context, opts Options) (*Server, error) {
	return newServer(ctx, opts, session.StoreOf(opts.Store))
}

func newServer(ctx context.Context, opts Options, st session.Store) (*Server, error) {
	if len(opts.Providers) == 0 {
		return nil, errors.New("server: no provider")
	}
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	s := &Server{
		opts: opts, store: st, logger: opts.Logger, tenants: newTenants(opts),
		conns: make(chan struct{}, opts.MaxConnections), streams: places{max: maxAddressConns}, acpClients: places{max: maxACPClients}, tries: tries{now: opts.now}, flight: newFlight(maxFlight, opts.WriteTimeout), began: time.Now(),
		pairings: onces[pairing]{now: opts.now, max: maxPairings}, notices: onces[notice]{now: opts.now, max: maxNotices},
		stopTokens: func() {}, settleKeys: func() {},
	}
	s.remoteACP = acphttp.New(acphttp.Options{Heartbeat: opts.Heartbeat, Stall: opts.WriteTimeout, Logger: opts.Logger})
	s.metrics, s.tracer = newMetrics(), session.NewTracer(opts.TracerProvider, opts.Version)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.linked, s.unlink = context.WithCancel(context.Background())
	s.machines = session.NewMachines(filepath.Join(opts.Dir, machinesDir), session.HostOptions{}, opts.Logger)
	if err := s.prepare(ctx); err != nil {
		s.cancel()
		s.unlink()
		s.stopTokens()
		s.wg.Wait()
		s.closeKeyProxy()
		return nil, errors.Join(err, s.commands.Close())
	}
	return s, nil
}

// prepare reads the data on disk.
func (s *Server) prepare(ctx context.Context) error {
	if err := privateDir(s.opts.Dir); err != nil {
		return err
	}
	var err error
	s.tokens = newTokens(filepath.Join(s.opts.Dir, tokensName))
	if err := s.readTokens(ctx); err != nil {
		return err
	}
	if s.filter, err = newFilter(s.opts); err != nil {
		return err
	}
	if err := errors.Join(s.openBlobs(ctx), s.openOnces(ctx)); err != nil {
		return err
	}
	if s.audit, err = openAudit(ctx, s.store.Log(auditLogName)); err != nil {
		return err
	}
	if s.accounts, err = openAccounts(ctx, s.store.Log(ledgerLogName), s.opts); err != nil {
		return err
	}
	if err := s.shareDesk(ctx); err != nil {
		return err
	}
	if s.webhooks, err = openWebhooks(ctx, s); err != nil {
		return err
	}
	if err := s.openKeyProxy(ctx); err != nil {
		return err
	}
	if err := s.openPreviews(); err != nil {
		return err
	}
	s.stopTokens = s.tokens.watch(s.recheckPreviews)
	if err := s.sweep(ctx); err != nil {
		return err
	}
	if err := s.openWorkspaces(ctx); err != nil {
		return err
	}
	for _, dir := range []string{shownDir, secretDir} {
		if err := privateDir(filepath.Join(s.opts.Dir, dir)); err != nil {
			return errors.Join(err, s.workspaces.Close())
		}
	}
	if s.sessions, err = session.Open(ctx, s.sessionOptions()); err != nil {
		return errors.Join(err, s.workspaces.Close())
	}
	if err := s.joinCluster(ctx); err != nil {
		s.sessions.Close()
		return errors.Join(err, s.workspaces.Close())
	}
	if s.peers == nil {
		s.settleKeys() // another server of the cluster may have adopted the agents
	}
	s.webhooks.start()
	s.watchDesk()
	s.keepLimits()
	return nil
}

// sweep kills leftover processes of agents and commands of a killed server.
func (s *Server) sweep(ctx context.Context) error {
	agents, err := sweep(ctx, s.opts.Providers)
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	commands, err := s.commands.Sweep(filepath.Join(s.opts.Dir, commandsDir))
	if err != nil {
		return fmt.Errorf("server: ending the processes of the last server: %w", err)
	}
	if n := agents + commands; n > 0 {
		s.logger.Warn("ended processes that the last server left running", "count", n)
	}
	return nil
}

// Directories and files below Options.Dir.
const (
	commandsDir   = "commands"      // running commands of HookCommand and workspaces
	shownDir      = "shown"         // the text of answers that viewers saw and the logs do not have yet
	secretDir     = "secrets"       // parameters of sessions that may contain passwords
	uploadsDir    = "uploads"       // images, one directory per session
	machinesDir   = "machines"      // the epochs of the links to machines
	workspacesDir = "workspaces"    // of package workspace
	listName      = "sessions.list" // a file: the sessions in lists
)

// sessionOptions returns the options of the sessions.
func (s *Server) sessionOptions() session.Options {
	o := s.opts
	return session.Options{
		Owners: s.owners(),
		Store:  s.store, Dir: filepath.Join(o.Dir, shownDir), SecretDir: filepath.Join(o.Dir, secretDir), Secrets: s.secrets, List: filepath.Join(o.Dir, listName), Logger: s.logger, Tracer: s.tracer, Now: o.now, AllowBypass: o.AllowBypass, MaxAgents: o.MaxAgents, MaxSessions: o.MaxSessions,
		IdleTimeout: o.IdleTimeout, UnloadAfter: o.UnloadAfter, StartTimeout: o.StartTimeout, CallTimeout: o.CallTimeout,
		DeltaInterval: o.DeltaInterval, JoinInterval: o.JoinInterval, ViewerInterval: o.ViewerInterval, Stall: o.Stall,
		Host: o.Host, Machines: s.machines, Provider: s.provider, Visible: visible, Prepare: s.prepareAgent, Box: s.describeBox,
		Accounts: s.accounts, Metrics: s.metrics, Notices: s.webhooks, Local: s.local,
	}
}

// privateDir creates a directory that only its owner can enter.
func privateDir(dir string) error {
	if dir == "" {
		return errors.New("server: no data directory")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return nil
}

// ErrLeave, as the cause for ending the context of [Server.Serve], leaves the agents of the host running for the next
// server.
var ErrLeave = errors.New("server: it stops and leaves its agents running")

// leave ends the server and leaves the agents of the host running.
func (s *Server) leave(ctx context.Context) error {
	s.sessions.Leave(ctx)
	return s.Close()
}

// Close ends the server at once: agents are closed and their turns interrupted. Acknowledged data
// stays, and sessions can be resumed. Drain stops gracefully.
func (s *Server) Close() error {
	s.cancel()
	s.stopTokens()
	s.closePreviews()
	s.remoteACP.Close()
	s.sessions.Close()
	if s.peers != nil {
		s.peers.tellNow()
	}
	s.unlink()
	s.wg.Wait()
	s.tokens.endBegun()
	err := s.tokens.close()
	s.closeKeyProxy()
	s.closeWorkspaces.Do(func() { _ = s.workspaces.Close() }) // only releases a lock
	return errors.Join(err, s.commands.Close())
}

// Drain stops the server gracefully: new work is rejected with the reason draining, running turns
// have until ctx ends or Options.DrainTimeout to finish, the rest is interrupted, and everything is
// written. It returns when the server is closed.
func (s *Server) Drain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.DrainTimeout)
	defer cancel()
	s.sessions.Drain(ctx)
	return s.Close()
}

// provider returns a provider of a tenant by name, empty for the default, with the environment of
// the tenant's agents.
func (s *Server) provider(ctx context.Context, tenant, name string) (agent.Provider, []string, error) {
	t, err := s.tenants.get(ctx, tenant)
	if err != nil {
		return nil, nil, err
	}
	p, err := t.provider(name)
	return p, t.Env, err
}

// Ready returns nil while the server can accept work, and the reason otherwise.
func (s *Server) Ready(ctx context.Context) error {
	if err := s.sessions.Working(); err != nil {
		return err
	}
	return s.store.Health(ctx)
}

// spawnCommand starts a command of the operator or of a workspace. Everything that the command starts ends with it.
func (s *Server) spawnCommand(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
	return s.commands.Spawner(nil, proc.LocalOptions{Supervisor: s.opts.Supervisor}).Spawn(ctx, cmd)
}

// spawnSetup starts a setup command of a workspace. Close waits for it: its context ends with the sessions.
func (s *Server) spawnSetup(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
	s.wg.Add(1)
	return proc.OnExit(spawn.Func(s.spawnCommand), s.wg.Done).Spawn(ctx, cmd)
}

// openWorkspaces opens the directory of worktrees. Git searches for repositories only up to the
// directories that sessions may run in.
func (s *Server) openWorkspaces(ctx context.Context) error {
	var ceilings []string
	for _, dir := range s.opts.Directories {
		ceilings = append(ceilings, filepath.Dir(dir))
	}
	var err error
	trust := place.GitTrust{Hashes: s.opts.TrustGit, Logger: s.logger}
	s.workspaces, err = workspace.Open(ctx, workspace.Options{
		Dir: filepath.Join(s.opts.Dir, workspacesDir), Env: s.opts.GitEnv, SetupEnv: s.opts.Env, Ceilings: ceilings, Trust: trust.Allows, Logger: s.logger,
		Spawner: spawn.Func(s.spawnSetup),
	})
	s.local = &place.Local{Roots: s.opts.Directories, Manager: s.workspaces, Mark: s.markOf}
	return err
}
