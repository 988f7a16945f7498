package session

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/admission"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/budget"
	"github.com/seed7221b0f9/parley/webhook"
	"github.com/seed7221b0f9/parley/workspace"
)

// Options is what sessions need of the server that holds them. Every field is required.
type Options struct {
	Store  Store
	Logger *slog.Logger
	Tracer Tracer
	Now    func() time.Time // the clock of limits

	// AllowBypass lets sessions run without permissions.
	AllowBypass bool
	// MaxAgents is how many agents run at once, MaxSessions how many sessions there can be.
	MaxAgents, MaxSessions int
	// The times of package server's options with these names.
	IdleTimeout, UnloadAfter, StartTimeout, CallTimeout time.Duration
	DeltaInterval, JoinInterval, ViewerInterval         time.Duration
	Stall                                               Stall

	// Provider returns an agent of a tenant by name, with the environment of the tenant's agents.
	Provider func(ctx context.Context, tenant, name string) (agent.Provider, []string, error)
	// Visible reports whether the caller in ctx may know of the sessions of a tenant.
	Visible func(ctx context.Context, tenant string) bool
	// Prepare changes the options of an agent before it starts; release is called after its end.
	Prepare func(session string, p agent.Provider, opts *agent.Options) (release func())

	Accounts   Accounts
	Metrics    Metrics
	Notices    Notices
	Workspaces *workspace.Manager
}

// Accounts counts what sessions use and checks it against limits.
type Accounts interface {
	Add(ctx context.Context, rows ...budget.Row) error
	Check(acc budget.Account) []budget.Standing
	Reported(ctx context.Context, acc budget.Account, total budget.Amount, fresh bool) (budget.Row, error)
	Spent(session string) budget.Amount
	Used(acc budget.Account, u agent.Used) budget.Row
}

// Metrics receives measurements.
type Metrics interface {
	Turn(provider string, isError bool, took time.Duration)
	Appended(err error, took time.Duration)
	Used(provider string, u agent.Used, usd float64)
	Reconciled(provider string, usd float64)
}

// Notices stores the events that webhooks are called for.
type Notices interface {
	// Wants reports whether anyone is called for events of that time.
	Wants(ts string) bool
	// Add stores events of one session, each once.
	Add(ctx context.Context, events []webhook.Event) error
}

// Sessions holds the sessions of a server and runs their agents. Its methods may be called from
// any goroutine.
type Sessions struct {
	opts      Options
	logger    *slog.Logger
	admission *admission.Admission
	trimming  chan struct{} // held by the session whose deltas are trimmed

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup // everything that sessions have started

	liveMu    sync.Mutex
	liveAt    map[agent.Provider]time.Time             // when it was last asked
	liveFound map[agent.Provider]map[string]agent.Live // by the agent's id

	mu       sync.Mutex
	sessions map[string]*entry
	draining bool
	closed   bool
}

// entry is a session in the table.
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

// Open reads the sessions of the store. Those whose agent ran when the last server died
// are brought in order: their turns are interrupted, their requests expired and their queues held.
func Open(ctx context.Context, opts Options) (*Sessions, error) {
	s := &Sessions{
		opts: opts, logger: opts.Logger, trimming: make(chan struct{}, 1), sessions: map[string]*entry{},
		liveAt: map[agent.Provider]time.Time{}, liveFound: map[agent.Provider]map[string]agent.Live{},
	}
	s.admission = admission.New(int64(opts.MaxAgents), nil, s.evictIdle)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.recover(ctx); err != nil {
		s.cancel()
		s.wg.Wait()
		return nil, err
	}
	return s, nil
}

// Refuse makes the sessions take no new work.
func (s *Sessions) Refuse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = true
}

// Close ends the agents and waits until everything is written.
func (s *Sessions) Close() {
	s.mu.Lock()
	s.draining, s.closed = true, true
	s.mu.Unlock()
	s.cancel()
	for _, a := range s.loaded() {
		<-a.done
	}
	s.wg.Wait()
}

// Drain refuses new work and waits for the running turns until ctx ends; it interrupts the rest.
func (s *Sessions) Drain(ctx context.Context) {
	s.Refuse()
	var wg sync.WaitGroup
	for _, a := range s.loaded() {
		wg.Go(func() { a.drain(ctx) })
	}
	wg.Wait()
}

// loaded returns the sessions that are in memory.
func (s *Sessions) loaded() []*actor {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*actor
	for _, e := range s.sessions {
		if e.actor != nil {
			all = append(all, e.actor)
		}
	}
	return all
}

// Working returns an error while the server takes no new work.
func (s *Sessions) Working() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return Fail(api.Draining, "the server is stopping; try again when it is back")
	}
	return nil
}

// evictIdle ends the agent that has been idle longest, because another waits for a place.
func (s *Sessions) evictIdle() {
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
func (s *Sessions) updated(id, agentID string, summary api.SessionSummary) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.sessions[id]; e != nil {
		e.summary, e.agentID = summary, agentID
	}
}

// Info is what is known of a session without loading it.
type Info struct {
	api.SessionSummary
	AgentID string // the agent's own id of the session
	Tenant  string
	Loaded  bool // it is in memory
}

// All returns every session that the caller in ctx may know of, in no order.
func (s *Sessions) All(ctx context.Context) []Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Info
	for _, e := range s.sessions {
		if !e.gone && s.opts.Visible(ctx, e.tenant) {
			all = append(all, e.info())
		}
	}
	return all
}

func (e *entry) info() Info { return Info{e.summary, e.agentID, e.tenant, e.actor != nil} }

// Lookup returns what is known of a session that the caller in ctx may know of.
func (s *Sessions) Lookup(ctx context.Context, id string) (Info, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.sessions[id]; e != nil && !e.gone && s.opts.Visible(ctx, e.tenant) {
		return e.info(), nil
	}
	return Info{}, Fail(api.SessionExpired, "there is no session %q", id)
}

// Exists reports whether there is a session, also one that is being deleted.
func (s *Sessions) Exists(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id] != nil
}

// Places returns how many places for agents are free, and how many agents wait for one.
func (s *Sessions) Places() (free, waiting int) { return s.admission.Places() }

// agentsWait reports whether an agent waits for a place.
func (s *Sessions) agentsWait() bool {
	_, waiting := s.admission.Places()
	return waiting > 0
}

// HasAgent reports whether a session in memory has the agent's session with that id.
func (s *Sessions) HasAgent(ctx context.Context, agentID string) bool {
	for _, a := range s.loaded() {
		if a.agentID(ctx) == agentID {
			return true
		}
	}
	return false
}

// IsMissing reports whether a log does not exist.
func IsMissing(err error) bool { return errors.Is(err, eventlog.ErrNotFound) }
