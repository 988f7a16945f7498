package session

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/admission"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/budget"
	"github.com/seed7221b0f9/parley/webhook"
	"github.com/seed7221b0f9/parley/workspace"
)

// Create makes a session: its log begins with what it was made with.
func (s *Sessions) Create(ctx context.Context, id string, o Opened) error {
	p := o.Params
	provider, env, err := s.opts.Provider(ctx, o.Tenant, p.Provider)
	if err != nil {
		return err
	}
	if s.size() >= s.opts.MaxSessions {
		return LimitReached("there are %d sessions; delete some", s.opts.MaxSessions)
	}
	a := s.newActor(id, "")
	a.provider, a.env = provider, env
	a.core.Provider = provider.Name()
	o.Provider, o.Dir = provider.Name(), p.CWD
	if err := s.hideSecrets(id, &o); err != nil {
		a.cancel()
		return err
	}
	f := &facts{Opened: &o, AgentID: p.ResumeSessionID, State: Starting}
	if title, ok := ValidTitle(p.Title); ok {
		f.Title, f.TitleBy = title, "person"
	}
	info := &event.SessionInfo{Header: a.core.header(""), CWD: &p.CWD, PermissionMode: &p.PermissionMode}
	if f.Title != "" {
		info.Title = &f.Title
	}
	a.draft(draft{event: info, facts: f}, a.core.stateDraft(Starting))
	if err := a.write(); err != nil {
		a.cancel()
		return err
	}
	at, err := a.log.Last(ctx)
	if err != nil {
		a.cancel()
		return err
	}
	a.hub.epoch = at.Epoch
	if p.ResumeSessionID != "" {
		if err := a.importHistory(ctx, p.ResumeSessionID); err != nil {
			a.logger.Warn("the history was not read", "err", err)
		}
	}
	return s.add(id, a, s.run)
}

// Connected waits until the agent of a session runs.
func (s *Sessions) Connected(ctx context.Context, id string) (api.ConnectResult, error) {
	a, session, release, err := s.agentOf(ctx, id)
	if err != nil {
		return api.ConnectResult{}, err
	}
	defer release()
	result := api.ConnectResult{SessionID: id, Status: "connected", Capabilities: s.Capabilities(a.provider, session)}
	err = a.call(ctx, func() error {
		result.Provider, result.Model, result.CWD = a.core.Provider, a.core.Model, a.core.Opened.Dir
		return nil
	})
	return result, err
}

// Capabilities are those of an agent in the terms of package api.
func (s *Sessions) Capabilities(p agent.Provider, session agent.Session) api.Capabilities {
	c := agent.CapabilitiesOf(p, session)
	modes := slices.DeleteFunc(append([]string{}, c.Modes...), func(m string) bool { return m == "bypassPermissions" && !s.opts.AllowBypass })
	return api.Capabilities{
		CanInterrupt: true, CanSwitchModel: c.Model, CanSwitchPermissionMode: len(modes) > 0, SupportedPermissionModes: modes,
		CanSkipPermissions: s.opts.AllowBypass && slices.Contains(modes, "bypassPermissions"), CanSendRichContent: true, CanThink: c.Thinking,
		CanResumeSession: c.Resume, CanRunInBackground: c.Background, SupportedEfforts: c.Efforts, CanFork: c.Fork, CanRewind: c.Rewind,
	}
}

// Delete ends a session and deletes its log, with agentFiles also the files of its agent. It
// returns the directory of the session, empty if its log has lost that.
func (s *Sessions) Delete(ctx context.Context, id string, agentFiles bool) (dir string, err error) {
	a, release, err := s.use(ctx, id)
	if err != nil {
		return "", err
	}
	defer release()
	if err := a.end(ctx); err != nil {
		return "", err
	}
	var agentID string
	if err := a.call(ctx, func() error { agentID, dir = a.core.AgentID, a.core.Opened.Dir; return nil }); err != nil {
		return "", err
	}
	if agentFiles && agentID != "" {
		keeper, ok := a.provider.(agent.HistoryKeeper)
		if !ok {
			return "", Fail(api.Unsupported, "the agent's files cannot be deleted; delete without them")
		}
		if err := keeper.History().Delete(ctx, agentID); err != nil && FailureOf(err).Reason != api.SessionExpired {
			return "", err
		}
	}
	s.hide(id)
	a.cancel()
	<-a.done
	if err := a.log.Delete(ctx); err != nil {
		return "", err
	}
	_ = os.Remove(a.shown.path) // there is none, unless its last turn could not be stored
	s.remove(id)
	if err := os.Remove(s.secretPath(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	return dir, nil
}

// Undisturbed is a context for a change that a caller who is gone does not stop half-way.
func (s *Sessions) Undisturbed(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(s.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// Dir returns the directory that a session runs in.
func (s *Sessions) Dir(ctx context.Context, id string) (dir string, err error) {
	err = s.with(ctx, id, func(a *actor) error { dir = a.core.Opened.Dir; return nil })
	return dir, err
}

// Owned returns an error if a session cannot be changed here.
func (s *Sessions) Owned(ctx context.Context, id string) error {
	return s.with(ctx, id, (*actor).owned)
}

// Options is what sessions need of the server that holds them. Every field is required.
type Options struct {
	Store Store
	Dir   string // where what viewers saw is kept until the log has it
	// SecretDir is where parameters of sessions that may hold passwords are kept.
	SecretDir string
	List      string // the file with what lists show of sessions
	Logger    *slog.Logger
	Tracer    Tracer
	Now       func() time.Time // the clock of limits

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
	// Reserve decides whether a turn may begin; Release ends it and returns the sessions that wait no longer.
	Reserve(acc budget.Account, dearest budget.Amount) budget.Verdict
	Release(session string) []string
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

// Sessions holds the sessions of a server and runs their agents. What clients do with them is in
// [Details], [Queues], [Requests], [Agents], [Terminals], [Workspaces] and [Reviews]. Its methods
// may be called from any goroutine.
type Sessions struct {
	*table
	opts       Options
	logger     *slog.Logger
	admission  *admission.Admission
	remembered remembered
	keys       keyLock
	trimming   chan struct{} // held by the session whose deltas are trimmed

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup // everything that sessions have started

	lives lives
}

// Part is a group of the calls of clients. It has no state of its own: Of makes one.
type Part interface{ ~struct{ *Sessions } }

// Of returns the calls of one kind.
func Of[P Part](s *Sessions) P { return P(struct{ *Sessions }{s}) }

// Open reads the sessions of the store. Those whose agent ran when the last server died
// are brought in order: their turns are interrupted, their requests expired and their queues held.
func Open(ctx context.Context, opts Options) (*Sessions, error) {
	s := &Sessions{
		opts: opts, logger: opts.Logger, trimming: make(chan struct{}, 1), lives: lives{found: map[agent.Provider]found{}},
		table: &table{visible: opts.Visible, entries: map[string]*entry{}},
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

// Close ends the agents and waits until everything is written.
func (s *Sessions) Close() {
	s.close()
	s.cancel()
	for _, a := range s.loaded() {
		<-a.done
	}
	s.wg.Wait()
	s.remembered.close()
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

// evictIdle ends the agent that has been idle longest, because another waits for a place.
func (s *Sessions) evictIdle() {
	_, candidates := s.selected(func(_ string, e *entry) bool { return e.actor != nil && e.summary.State == string(Idle) })
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

// Places returns how many places for agents are free, and how many agents wait for one.
func (s *Sessions) Places() (free, waiting int) { return s.admission.Places() }

// agentsWait reports whether an agent waits for a place.
func (s *Sessions) agentsWait() bool {
	_, waiting := s.admission.Places()
	return waiting > 0
}

// HasAgent reports whether a session that the caller in ctx may know of has the agent's session with
// that id.
func (s *Sessions) HasAgent(ctx context.Context, agentID string) bool {
	return slices.ContainsFunc(s.All(ctx), func(i Info) bool { return i.AgentID == agentID })
}

// IsMissing reports whether a log does not exist.
func IsMissing(err error) bool { return errors.Is(err, eventlog.ErrNotFound) }
