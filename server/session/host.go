package session

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/spawn"
)

// budgetOrphan is the orphan timeout of an agent with a budget. It is short because no server
// counts the agent's cost.
const budgetOrphan = 10 * time.Minute

// HostOptions configures the agents of a host.
type HostOptions struct {
	// Options start the host. An OrphanTimeout of 0 is the default of the host, and 10 minutes for agents with a budget.
	host.Options
	// KeepChildren spares the child processes of an agent when the agent ends.
	KeepChildren bool
	// Leases decides which server of a cluster owns a host; nil means a single server.
	Leases HostLeases
}

// agent returns the options of an agent of a session.
func (o *HostOptions) agent(session string, opts *agent.Options) host.AgentOptions {
	out := host.AgentOptions{Key: session, OrphanTimeout: o.OrphanTimeout, KeepChildren: o.KeepChildren}
	if out.OrphanTimeout == 0 && opts.MaxBudgetUSD != nil {
		out.OrphanTimeout = budgetOrphan
	}
	return out
}

// absence returns how long an agent of a session may have to wait without a server.
func (o *HostOptions) absence(opts *agent.Options) time.Duration {
	return cmp.Or(o.agent("", opts).OrphanTimeout, host.DefaultOrphanTimeout) + absenceMargin
}

// absenceMargin exceeds the half minute between the orphan timeout and the end of the agent.
const absenceMargin = time.Minute

// Host runs the agents of sessions in a process that outlives the server. The process is started with the first agent. Its methods
// may be called from any goroutine.
type Host struct {
	base   string // the data directory of the server
	fixed  bool   // the host is in base, because it belongs to another server
	opts   HostOptions
	logger *slog.Logger

	mu      sync.Mutex
	dir     string // the data directory of the host
	link    *host.Link
	epoch   uint64 // a link existed before
	used    bool   // there was a link
	fenced  bool   // another server owns the host
	closed  bool
	watched bool                  // relink replaces a lost link
	changed chan struct{}         // closed at the next change of link or closed
	back    map[string]*leftAgent // agents to adopt after relink, by their sessions
	relinks int
	// In a cluster: the lease of the host with its key, and a channel that is closed with the end of the ownership.
	owner Ownership
	key   string
	gone  chan struct{}
}

// OpenHost becomes the owner of the running host of a data directory; the previous owner loses it. If no host runs, the first agent
// starts one. The program must call [host.Enter] first.
func OpenHost(ctx context.Context, dataDir string, opts HostOptions, logger *slog.Logger) (*Host, error) {
	return openHost(ctx, dataDir, opts, logger, false)
}

func openHost(ctx context.Context, dataDir string, opts HostOptions, logger *slog.Logger, fixed bool) (*Host, error) {
	h := &Host{base: dataDir, fixed: fixed, dir: dataDir, opts: opts, logger: logger, changed: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.nextEpoch(ctx, false); err != nil {
		return nil, err
	}
	if err := h.dial(ctx); err != nil && !errors.Is(err, host.ErrNotRunning) {
		h.unseat()
		return nil, err
	}
	return h, nil
}

// dial connects to the host as its owner, with the current epoch. The caller holds mu.
func (h *Host) dial(ctx context.Context) error {
	link, err := host.Dial(ctx, h.dir, h.epoch)
	if err == nil {
		h.link, h.used = link, true
		h.change()
	}
	return err
}

// change wakes those that wait for a change of link or closed. The caller holds mu.
func (h *Host) change() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// running returns the link to the host, or nil if the host is not running.
func (h *Host) running() *host.Link {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.link == nil || h.link.Err() != nil {
		return nil
	}
	return h.link
}

// connect returns the link to the host, and starts the host if necessary. If the link has ended, connect waits until relink has replaced
// it, because the agents may still run. It does not take back a host that has another owner by then.
func (h *Host) connect(ctx context.Context) (*host.Link, error) {
	for {
		link, changed, err := h.tryConnect(ctx)
		if changed == nil {
			return link, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, errors.Join(host.ErrLinkLost, ctx.Err())
		}
	}
}

// tryConnect is like connect, but instead of waiting for relink it returns a channel that is closed
// at the next change.
func (h *Host) tryConnect(ctx context.Context) (link *host.Link, changed <-chan struct{}, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed || h.fenced:
		return nil, nil, host.ErrLinkLost
	case h.link != nil && h.link.Err() == nil:
		return h.link, nil, nil
	case h.link != nil && h.watched:
		return nil, h.changed, nil
	}
	link, err = h.begin(ctx)
	return link, nil, err
}

// begin connects to the host, and starts it first if necessary. The caller holds mu.
func (h *Host) begin(ctx context.Context) (*host.Link, error) {
	// A seat without a host has an epoch that no link has used.
	if h.link != nil || h.owner == nil || !h.owner.Held() {
		if err := h.nextEpoch(ctx, true); err != nil {
			return nil, err
		}
	}
	if err := host.Start(ctx, h.dir, "", h.opts.Options); err != nil {
		return nil, err
	}
	if err := h.dial(ctx); err != nil {
		return nil, err
	}
	return h.link, nil
}

// nextEpoch acquires the next epoch, unless another server has acquired one after this server's. If fresh is set, it must not belong to a
// host that may have agents of an earlier owner. The caller holds mu.
func (h *Host) nextEpoch(ctx context.Context, fresh bool) error {
	if h.opts.Leases != nil {
		return h.seat(ctx, fresh)
	}
	next := func() (uint64, error) { return host.NextEpoch(h.dir) }
	if h.epoch > 0 {
		next = func() (uint64, error) { return host.RenewEpoch(h.dir, h.epoch) }
	}
	epoch, err := next()
	if err == nil {
		h.epoch = epoch
	}
	return err
}

// Close closes the link to the host and leaves its agents running.
func (h *Host) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.closed = true
		h.change()
	}
	defer h.unseat()
	if h.link == nil {
		return nil
	}
	return h.link.Close()
}

// Used reports whether this server has started an agent in the host or has found a running host.
func (h *Host) Used() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.used
}

// Stop ends the agents and the host, unless another server owns it or may own it.
func (h *Host) Stop(ctx context.Context) error {
	link := h.running()
	h.mu.Lock()
	lost := link == nil && h.used && !h.fenced && (h.opts.Leases == nil || h.owner != nil)
	h.mu.Unlock()
	if lost {
		guest, err := host.Dial(ctx, h.dir, 0)
		if err != nil && !errors.Is(err, host.ErrNotRunning) {
			return errors.Join(err, h.Close())
		}
		link = guest
	}
	if link == nil {
		return h.Close()
	}
	err := errors.Join(link.Stop(ctx), link.Close())
	if err == nil && h.opts.Leases != nil {
		err = h.opts.Leases.Forget(ctx, h.key)
	}
	return errors.Join(err, h.Close())
}

// hostSpawner starts the agent of a session under a host.
type hostSpawner struct {
	start   func(ctx context.Context, cmd spawn.Command) (*host.Process, error)
	local   bool          // the host runs on this machine
	key     string        // of the host in a cluster
	process *host.Process // nil before the start
	keeper  *keeper       // nil on another machine
}

// spawner starts the agent of a session under the host.
func (h *Host) spawner(session string, opts *agent.Options) *hostSpawner {
	o := h.opts.agent(session, opts)
	s := &hostSpawner{local: true, keeper: h.keeper(o, 0, nil)}
	s.start = func(ctx context.Context, cmd spawn.Command) (*host.Process, error) {
		link, err := h.connect(ctx)
		if err != nil {
			return nil, err
		}
		s.key = h.keyOf(link)
		return link.SpawnAgent(ctx, cmd, o)
	}
	return s
}

// keyOf returns the key of the host in a cluster, or "" if the host has another link now.
func (h *Host) keyOf(link *host.Link) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.link != link {
		return ""
	}
	return h.key
}

// Spawn starts the agent.
func (s *hostSpawner) Spawn(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
	p, err := s.start(ctx, cmd)
	if err != nil {
		return nil, err
	}
	s.process = p
	if s.keeper != nil {
		s.keeper.agent.Store(p.Agent().Number)
	}
	return p, nil
}

// helperKey is the key of processes that work for all agents of the host.
const helperKey = "helper"

// Start runs this program with arguments as a process that works for the agents of the host and
// ends with the host. It returns when the process has written a line.
func (h *Host) Start(ctx context.Context, args, env []string) error {
	program, err := host.Program()
	if err != nil {
		return err
	}
	link, err := h.connect(ctx)
	if err != nil {
		return err
	}
	p, err := link.SpawnAgent(ctx, spawn.Command{Path: program, Args: args, Dir: "/", Env: env}, host.AgentOptions{Key: helperKey, OrphanTimeout: h.opts.OrphanTimeout})
	if err != nil {
		return err
	}
	r, err := p.Next(ctx)
	if err == nil && r.Kind != host.Output {
		err = errors.New("the process ended without a line")
	}
	if err != nil {
		return errors.Join(err, p.Kill())
	}
	return nil
}

// abandon waits for the end of an agent that was not used, and makes the host forget it. If it
// fails, the next server does it.
func (s *hostSpawner) abandon() {
	if s == nil || s.process == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), abandonTime)
	defer cancel()
	if _, err := s.process.Exit(ctx); err == nil {
		_ = s.process.Forget(ctx)
	}
}

// abandonTime bounds abandon.
const abandonTime = 5 * time.Second

// lost reports whether the agent was started over a link that has ended.
func (s *hostSpawner) lost() bool { return s != nil && s.process != nil && s.process.Err() != nil }

// Local reports whether the host runs on this machine.
func (s *hostSpawner) Local() bool { return s.local }

// leftAgent is an agent that an earlier server has left, in a running host or in the files of a killed one.
type leftAgent struct {
	host.Agent
	host *Host // nil on another machine
	open func(ctx context.Context) (spawn.LineProcess, error)
	drop func(ctx context.Context) error // ends the agent and removes its lines
	// wrote reports whether a line to the agent may contain the id of an input; nil if that is unknown.
	wrote func(id string) bool

	link    *host.Link            // to the host; nil if the host has ended
	process *host.Process         // the attached process; nil if the host has ended
	kept    map[string]*leftAgent // processes of its keeper, by name
}

// left returns the agents that earlier servers have left, by session. If a session has several, it
// returns the newest and ends the others.
func (h *Host) left(ctx context.Context) (map[string]*leftAgent, error) {
	if dead, _ := host.ReadSpool(h.dir); len(dead) > 0 && h.running() == nil { // leftAt reports the error
		// A host moves these files when it starts, so it starts before they are read.
		if _, err := h.connect(ctx); err != nil {
			return nil, err
		}
	}
	return h.leftAt(ctx, h.running())
}

// leftAt returns the agents left in the host of a link; nil means no link.
func (h *Host) leftAt(ctx context.Context, link *host.Link) (map[string]*leftAgent, error) {
	dead, err := host.ReadSpool(h.dir)
	if err != nil {
		h.logger.Error("the data of a dead host cannot be read", "err", err) // its sessions are interrupted in any case
	}
	var live []host.Agent
	if link != nil {
		if live, err = link.Agents(ctx); err != nil {
			return nil, err
		}
	}
	all := map[string]*leftAgent{}
	add := func(l *leftAgent) {
		if old := all[l.Key]; old != nil {
			h.discard(ctx, old)
		}
		all[l.Key] = l
	}
	for _, d := range dead {
		if _, _, _, ok := keptKey(d.Key); ok {
			h.discard(ctx, &leftAgent{Agent: d.Agent, host: h, drop: func(context.Context) error { return d.Remove() }})
			continue
		}
		add(&leftAgent{Agent: d.Agent, host: h, wrote: d.Wrote, drop: func(context.Context) error { return d.Remove() },
			open: func(context.Context) (spawn.LineProcess, error) { return d.Process(), nil }})
	}
	for _, a := range live {
		if a.Key == helperKey && a.Exit == nil {
			continue
		}
		l := &leftAgent{Agent: a, host: h, link: link, kept: map[string]*leftAgent{}}
		l.open = func(ctx context.Context) (_ spawn.LineProcess, err error) {
			l.process, err = link.Attach(ctx, a.Number, 0)
			return l.process, err
		}
		l.drop = func(ctx context.Context) error { return errors.Join(l.end(ctx), l.dropKept(ctx)) }
		session, agent, name, kept := keptKey(a.Key)
		owner := all[session] // it was started before
		switch {
		case !kept:
			add(l)
		case owner == nil || owner.Number != agent || owner.kept == nil:
			h.discard(ctx, l)
		default:
			owner.kept[name] = l
		}
	}
	return all, nil
}

// lost reports whether the agent is at a host with a link that has ended.
func (l *leftAgent) lost() bool { return l.link != nil && l.link.Err() != nil }

// discard ends an agent without a session.
func (h *Host) discard(ctx context.Context, l *leftAgent) {
	if err := l.drop(ctx); err != nil {
		h.logger.Warn("an agent of the host was not ended", "agent", l.Number, "session", l.Key, "err", err)
	}
}

// end ends an agent of a running host.
func (l *leftAgent) end(ctx context.Context) error {
	if l.process == nil {
		if _, err := l.open(ctx); errors.Is(err, host.ErrNoAgent) {
			return nil
		} else if err != nil {
			return err
		}
	}
	p := l.process
	if err := errors.Join(p.Stdout().Close(), p.Kill()); err != nil {
		return err
	}
	if _, err := p.Exit(ctx); err != nil {
		return err
	}
	if err := p.Forget(ctx); !errors.Is(err, host.ErrNoAgent) {
		return err
	}
	return nil
}
