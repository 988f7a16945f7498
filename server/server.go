package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/keyproxy"
	"github.com/seed7221b0f9/parley/workspace"
)

// Server holds sessions, runs their agents and serves them to clients. Its methods may be
// called from any goroutine.
type Server struct {
	opts       Options
	store      store
	logger     *slog.Logger
	tenants    *tenants
	admission  *admission
	tokens     *tokens
	audit      *audit
	workspaces *workspace.Manager
	guard      *guard
	ledger     *ledger
	hooks      *hooks
	keys       *keyproxy.Proxy // nil where agents use what Env gives
	previews   *previews       // nil where there are none
	metrics    *metrics
	tracer     tracer
	conns      chan struct{} // a place for each connection
	trimming   chan struct{} // held by the session whose deltas are trimmed
	began      time.Time

	ctx             context.Context
	cancel          context.CancelFunc
	wg              sync.WaitGroup // everything that the server has started
	closeWorkspaces sync.Once

	liveMu    sync.Mutex
	liveAt    map[agent.Provider]time.Time             // when it was last asked
	liveFound map[agent.Provider]map[string]agent.Live // by the agent's id

	mu       sync.Mutex
	sessions map[string]*entry
	draining bool
	closed   bool
	ready    bool
}

// entry is a session in the server's table.
type entry struct {
	summary api.SessionSummary
	agentID string        // the agent's own id of the session
	actor   *actor        // nil while it is not in memory
	loading chan struct{} // closed when a load has ended; nil while none runs
	refs    int           // calls that use the actor
	epoch   string
	gone    bool // it is being deleted
	tenant  string
}

// New returns a server for the sessions in opts.Store. Sessions whose agent ran when the
// last server died are brought in order before it returns: their turns are interrupted,
// their requests expired and their queues held.
func New(ctx context.Context, opts Options) (*Server, error) {
	return newServer(ctx, opts, eventStore{opts.Store})
}

func newServer(ctx context.Context, opts Options, st store) (*Server, error) {
	if len(opts.Providers) == 0 {
		return nil, errors.New("server: there is no provider")
	}
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	s := &Server{
		opts: opts, store: st, logger: opts.Logger, tenants: newTenants(opts), sessions: map[string]*entry{},
		conns: make(chan struct{}, opts.MaxConnections), trimming: make(chan struct{}, 1), began: time.Now(),
		liveAt: map[agent.Provider]time.Time{}, liveFound: map[agent.Provider]map[string]agent.Live{},
	}
	s.metrics, s.tracer = newMetrics(), newTracer(opts)
	s.admission = newAdmission(opts.MaxAgents, s.evictIdle)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.prepare(ctx); err != nil {
		s.cancel()
		s.wg.Wait()
		s.closeKeyProxy()
		return nil, err
	}
	return s, nil
}

// prepare reads what is on disk.
func (s *Server) prepare(ctx context.Context) error {
	if err := privateDir(s.opts.Dir); err != nil {
		return err
	}
	var err error
	if s.tokens, err = openTokens(filepath.Join(s.opts.Dir, tokensName)); err != nil {
		return err
	}
	if s.guard, err = newGuard(s.opts); err != nil {
		return err
	}
	if s.audit, err = openAudit(ctx, s.store.Log(auditLogName)); err != nil {
		return err
	}
	if s.ledger, err = openLedger(ctx, s.store.Log(ledgerLogName), s.opts); err != nil {
		return err
	}
	if s.hooks, err = openHooks(ctx, s); err != nil {
		return err
	}
	if err := s.openKeyProxy(); err != nil {
		return err
	}
	s.openPreviews()
	n, err := sweep(ctx, s.opts.Providers)
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	if n > 0 {
		s.logger.Warn("agents of the last server were ended", "count", n)
	}
	if err := s.openWorkspaces(ctx); err != nil {
		return err
	}
	if err := s.recover(ctx); err != nil {
		return errors.Join(err, s.workspaces.Close())
	}
	s.hooks.start()
	return nil
}

// privateDir makes a directory that only its owner can enter.
func privateDir(dir string) error {
	if dir == "" {
		return errors.New("server: there is no data directory")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return nil
}

// Close ends the server at once: agents are closed and their turns interrupted. What was
// acknowledged stays, and sessions can be resumed. See Drain for the gentle way.
func (s *Server) Close() error {
	s.mu.Lock()
	s.draining, s.closed, s.ready = true, true, false
	var actors []*actor
	for _, e := range s.sessions {
		if e.actor != nil {
			actors = append(actors, e.actor)
		}
	}
	s.mu.Unlock()
	s.cancel()
	s.closePreviews()
	for _, a := range actors {
		<-a.done
	}
	s.wg.Wait()
	s.closeKeyProxy()
	s.closeWorkspaces.Do(func() { _ = s.workspaces.Close() }) // a lock that is given back
	return nil
}

// Drain ends the server gently: new work is refused with the reason draining, running
// turns have until ctx ends or Options.DrainTimeout to finish, the rest is interrupted, and
// everything is written. It returns when the server is closed.
func (s *Server) Drain(ctx context.Context) error {
	s.mu.Lock()
	s.draining, s.ready = true, false
	var actors []*actor
	for _, e := range s.sessions {
		if e.actor != nil {
			actors = append(actors, e.actor)
		}
	}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, s.opts.DrainTimeout)
	defer cancel()
	var wg sync.WaitGroup
	for _, a := range actors {
		wg.Go(func() { a.drain(ctx) })
	}
	wg.Wait()
	return s.Close()
}

// working returns an error while the server takes no new work.
func (s *Server) working() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return failure(api.Draining, "the server is stopping; try again when it is back")
	}
	return nil
}

// provider returns a provider of a tenant by name; empty is the default.
func (s *Server) provider(ctx context.Context, tenant, name string) (agent.Provider, error) {
	t, err := s.tenants.get(ctx, tenant)
	if err != nil {
		return nil, err
	}
	return t.provider(name)
}

// evictIdle ends the agent that has been idle longest, because another waits for a place.
func (s *Server) evictIdle() {
	s.mu.Lock()
	var candidates []*actor
	for _, e := range s.sessions {
		if e.actor != nil && e.summary.State == string(Idle) {
			candidates = append(candidates, e.actor)
		}
	}
	s.mu.Unlock()
	s.wg.Go(func() {
		var oldest *actor
		var since time.Time
		for _, a := range candidates {
			_ = a.call(s.ctx, func() error { // an actor that has ended has no agent
				if a.evictable() && (oldest == nil || a.quiet.Before(since)) {
					oldest, since = a, a.quiet
				}
				return nil
			})
		}
		if oldest != nil {
			_ = oldest.call(s.ctx, func() error {
				if oldest.evictable() {
					oldest.stop(onEvict)
				}
				return nil
			})
		}
	})
}

// updated keeps what lists show of a session.
func (s *Server) updated(id, agentID string, summary api.SessionSummary) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.sessions[id]; e != nil {
		e.summary, e.agentID = summary, agentID
	}
}

// Ready returns nil while the server can take work, and an error with the reason while it
// cannot.
func (s *Server) Ready(ctx context.Context) error {
	if err := s.working(); err != nil {
		return err
	}
	return s.store.Health(ctx)
}

// isMissing reports whether a log does not exist.
func isMissing(err error) bool { return errors.Is(err, eventlog.ErrNotFound) }

// randomHex returns n random bytes in hexadecimal.
func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// newUUID returns a random UUID, version 4.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
