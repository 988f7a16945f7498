package session

import (
	"context"
	"errors"
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
	"github.com/seed7221b0f9/parley/server/blob"
	"github.com/seed7221b0f9/parley/server/budget"
	"github.com/seed7221b0f9/parley/server/place"
	"github.com/seed7221b0f9/parley/webhook"
)

// Create creates a session: its log starts with its parameters. It continues where an earlier call with the same
// idempotency key has failed, and returns no error if that one has succeeded.
func (s *Sessions) Create(ctx context.Context, id string, o Opened) error {
	p := o.Params
	unlock, err := s.keys.lock(ctx, id, p.Key)
	if err != nil {
		return err
	}
	defer unlock()
	if p.Key != "" {
		if s.Exists(id) {
			return nil
		}
		switch _, err := s.opts.Store.Log(id).Last(ctx); {
		case err == nil:
			return s.createdBefore(ctx, id, o)
		case !IsMissing(err):
			return err
		}
	}
	provider, env, err := s.providerOf(ctx, o.Tenant, p.Provider, p.Machine)
	if err != nil {
		return err
	}
	if s.size() >= s.opts.MaxSessions {
		return LimitReached("there are %d sessions; delete some", s.opts.MaxSessions)
	}
	owner, err := s.own(ctx, id)
	if err != nil {
		return err
	}
	a := s.newActor(id, "")
	a.owner, a.provider, a.env = owner, provider, env
	a.claim()
	a.core.Provider = provider.Name()
	o.Provider, o.Dir = provider.Name(), p.CWD
	if err := s.hideSecrets(id, &o); err != nil {
		a.discard()
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
		a.discard()
		return err
	}
	at, err := a.log.Last(ctx)
	if err != nil {
		a.discard()
		return err
	}
	a.setEpoch(at.Epoch)
	a.resume(ctx, p.ResumeSessionID)
	return s.add(id, a, s.run)
}

// createdBefore adds a session that exists only in the store, because the call that created it failed afterwards.
func (s *Sessions) createdBefore(ctx context.Context, id string, o Opened) error {
	a, err := s.load(ctx, id)
	if err != nil {
		return err
	}
	if was := a.core.Opened; was.By != o.By || was.Tenant != o.Tenant {
		a.discard()
		return Conflict("session %q exists", id)
	}
	if !slices.ContainsFunc(a.conv.Threads, func(t *event.Thread) bool { return len(t.Items) > 0 }) {
		a.resume(ctx, o.Params.ResumeSessionID)
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
	result := api.ConnectResult{SessionID: id, Status: "connected"}
	err = a.call(ctx, func() error {
		result.Provider, result.Model, result.CWD = a.core.Provider, a.core.Model, a.core.Opened.Dir
		result.Capabilities = CapabilitiesOf(a.provider, session, a.mayBypass())
		return nil
	})
	return result, err
}

// CapabilitiesOf converts the capabilities of an agent to package api. bypass reports whether the
// agent may run without permission checks.
func CapabilitiesOf(p agent.Provider, session agent.Session, bypass bool) api.Capabilities {
	c := agent.CapabilitiesOf(p, session)
	modes := slices.DeleteFunc(append([]string{}, c.Modes...), func(m string) bool { return m == "bypassPermissions" && !bypass })
	return api.Capabilities{
		CanInterrupt: true, CanSwitchModel: c.Model, CanSwitchPermissionMode: len(modes) > 0, SupportedPermissionModes: modes,
		CanSkipPermissions: bypass && slices.Contains(modes, "bypassPermissions"), CanSendRichContent: true, CanThink: c.Thinking,
		CanResumeSession: c.Resume, CanRunInBackground: c.Background, SupportedEfforts: c.Efforts, CanFork: c.Fork, CanRewind: c.Rewind,
	}
}

// Delete ends a session and deletes its log, with agentFiles also the files of its agent. It returns the directory of
// the session, or "" if its log has lost it, and its machine.
func (s *Sessions) Delete(ctx context.Context, id string, agentFiles bool) (dir, machine string, err error) {
	a, release, err := s.use(ctx, id)
	if err != nil {
		return "", "", err
	}
	defer release()
	if err := a.end(ctx); err != nil && !errors.Is(err, eventlog.ErrFull) { // deleting makes room
		return "", "", err
	}
	var agentID string
	err = a.call(ctx, func() error {
		agentID, dir, machine = a.core.AgentID, a.core.Opened.Dir, a.machine()
		return nil
	})
	if err != nil {
		return "", "", err
	}
	if agentFiles && agentID != "" {
		keeper, ok := a.provider.(agent.HistoryKeeper)
		if !ok {
			return "", "", Fail(api.Unsupported, "the agent's files cannot be deleted; delete without them")
		}
		if err := keeper.History().Delete(ctx, agentID); err != nil && FailureOf(err).Reason != api.SessionExpired {
			return "", "", err
		}
	}
	s.hide(id)
	a.cancel()
	<-a.done
	if err := a.log.Delete(ctx); err != nil {
		s.show(id, a)
		return "", "", err
	}
	_ = os.Remove(a.shown.path) // it exists only if its last turn could not be stored
	s.remove(id)
	if s.opts.Owners != nil {
		s.opts.Owners.Show(id, nil)
	}
	return dir, machine, s.removeSecrets(ctx, id)
}

// Undisturbed returns a context for a change that must not stop halfway if the caller disconnects.
func (s *Sessions) Undisturbed(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(s.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// Dir returns the working directory of a session and its machine, which is empty for this machine.
func (s *Sessions) Dir(ctx context.Context, id string) (dir, machine string, err error) {
	err = s.with(ctx, id, func(a *actor) error {
		dir, machine = a.core.Opened.Dir, a.machine()
		return nil
	})
	return dir, machine, err
}

// Place returns a machine; an empty name is this machine.
func (s *Sessions) Place(machine string) (place.Place, error) {
	if machine == "" {
		return s.opts.Local, nil
	}
	return s.opts.Machines.place(machine)
}

// Owned returns an error if a session cannot be changed here.
func (s *Sessions) Owned(ctx context.Context, id string) error {
	return s.with(ctx, id, (*actor).owned)
}

// Options configures sessions. Every field is required.
type Options struct {
	Store Store
	Dir   string // directory of the text that viewers saw until the log has it
	// SecretDir is the directory of session parameters that may contain passwords.
	SecretDir string
	// Secrets stores these parameters for all servers of a cluster; nil means a single server.
	Secrets blob.Store
	List    string // the file with the list entries of sessions
	Logger  *slog.Logger
	Tracer  Tracer
	Now     func() time.Time // the clock of limits

	// AllowBypass allows sessions without permissions.
	AllowBypass bool
	// MaxAgents is the number of concurrent agents, MaxSessions the maximum number of sessions.
	MaxAgents, MaxSessions int
	// The durations of package server's options with these names.
	IdleTimeout, UnloadAfter, StartTimeout, CallTimeout time.Duration
	DeltaInterval, JoinInterval, ViewerInterval         time.Duration
	Stall                                               Stall

	// Provider returns an agent of a tenant by name, with the environment of the tenant's agents.
	Provider func(ctx context.Context, tenant, name string) (agent.Provider, []string, error)
	// Visible reports whether the caller in ctx may see the sessions of a tenant.
	Visible func(ctx context.Context, tenant string) bool
	// Prepare changes the options of an agent before it starts; release is called after its end. After an error it is not started.
	Prepare func(session string, p agent.Provider, opts *agent.Options) (release func(), err error)
	// Box returns the description of the box for a session that requests sandbox; secret reports whether its parameters may contain
	// secrets. nil means no box. Box is optional.
	Box func(p agent.Provider, sandbox string, secret bool, env []string) *api.Box

	// Owners decides which of several servers owns a session; nil for a single server.
	Owners Owners
	// Host runs agents that outlive the server; nil means that agents end with the server. Machines run the agents of sessions
	// that name a machine. Both are optional.
	Host     *Host
	Machines *Machines

	Accounts Accounts
	Metrics  Metrics
	Notices  Notices
	Local    place.Place // this machine
}

// Accounts counts the usage of sessions and checks it against limits.
type Accounts interface {
	Add(ctx context.Context, rows ...budget.Row) error
	Check(acc budget.Account) []budget.Standing
	// Reserve decides whether a turn may start; Release ends it and returns the sessions that no longer wait.
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

// Notices stores the events for webhooks.
type Notices interface {
	// Wants reports whether an event of that time has a receiver.
	Wants(ts string) bool
	// Add stores events of one session, each once.
	Add(ctx context.Context, events []webhook.Event) error
}

// Sessions holds the sessions of a server and runs their agents. The calls of clients are in
// [Details], [Queues], [Requests], [Agents], [Terminals], [Workspaces] and [Reviews]. Its methods
// may be called from any goroutine.
type Sessions struct {
	*table
	opts       Options
	logger     *slog.Logger
	admission  *admission.Admission
	remembered remembered
	keys       keyLock
	trimming   chan struct{} // held by the session that trims its deltas

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup // all goroutines of the sessions

	lives     lives
	followers followers
	hosts     *hostTable
}

// Part is a group of methods that clients call. It has no state; [Of] creates one.
type Part interface{ ~struct{ *Sessions } }

// Of returns the calls of one kind.
func Of[P Part](s *Sessions) P { return P(struct{ *Sessions }{s}) }

// Open reads the sessions of the store. It recovers those with an agent that ran when the last
// server died: their turns are interrupted, their requests expired and their queues held.
func Open(ctx context.Context, opts Options) (*Sessions, error) {
	s := &Sessions{
		opts: opts, logger: opts.Logger, trimming: make(chan struct{}, 1), lives: lives{found: map[agent.Provider]found{}}, followers: followers{all: map[string]*follower{}},
		table: &table{visible: opts.Visible, entries: map[string]*entry{}},
	}
	s.admission = admission.New(int64(opts.MaxAgents), nil, s.evictIdle)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.hosts = newHostTable(s)
	if opts.Machines != nil {
		opts.Machines.reached, opts.Machines.owners = s.reached, opts.Owners
	}
	if err := s.recover(ctx); err != nil {
		s.cancel()
		s.wg.Wait()
		return nil, err
	}
	switch {
	case s.hosts.leases() != nil:
		s.wg.Go(func() { s.hosts.run(hostPoll) })
	case opts.Host != nil:
		opts.Host.watch()
		s.wg.Go(func() { s.keepHost(s.ctx) })
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
	s.hosts.close()
	s.remembered.close()
}

// Drain rejects new work and waits for the running turns until ctx ends; it interrupts the rest.
func (s *Sessions) Drain(ctx context.Context) {
	s.Refuse()
	var wg sync.WaitGroup
	for _, a := range s.loaded() {
		wg.Go(func() { a.drain(ctx) })
	}
	wg.Wait()
}

// Leave is Close for a server that has a host or machines: their agents run on, and the next server takes them over. Agents without one are ended.
func (s *Sessions) Leave(ctx context.Context) {
	s.Refuse()
	for _, a := range s.loaded() {
		a.leave(ctx)
	}
	if s.opts.Host != nil {
		if err := s.opts.Host.Close(); err != nil {
			s.logger.Warn("could not disconnect from the host", "err", err)
		}
	}
	s.hosts.close()
	s.opts.Machines.leave()
	s.Close()
}

// evictIdle ends the agent that has been idle longest, to free a slot for a waiting one.
func (s *Sessions) evictIdle() {
	_, candidates := s.selected(func(_ string, e *entry) bool { return e.actor != nil && e.summary.State == string(Idle) })
	s.wg.Go(func() {
		var oldest *actor
		var since time.Time
		for _, a := range candidates {
			_ = a.call(s.ctx, func() error { // an ended actor has no agent
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

// Places returns the number of free places for agents, and of sessions that wait for one.
func (s *Sessions) Places() (free, waiting int) { return s.admission.Places() }

// agentsWait reports whether an agent waits for a slot.
func (s *Sessions) agentsWait() bool {
	_, waiting := s.admission.Places()
	return waiting > 0
}

// HasAgent reports whether a session that is visible to the caller in ctx has the agent's session
// with that id.
func (s *Sessions) HasAgent(ctx context.Context, agentID string) bool {
	return slices.ContainsFunc(s.All(ctx), func(i Info) bool { return i.AgentID == agentID })
}

// IsMissing reports whether a log does not exist.
func IsMissing(err error) bool { return errors.Is(err, eventlog.ErrNotFound) }
