// Package joined decides what a server may do on a machine that has joined it: which agents it may
// start, in which directories and with which options, and which lines it may write to them. It
// refuses unknown options and lines.
package joined

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/agents"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/server/ports"
	"github.com/seed7221b0f9/parley/spawn"
	"github.com/seed7221b0f9/parley/workspace"
)

// Options are the limits that a machine sets.
type Options struct {
	// Providers are the agents of the machine. Only those in [Supported] are offered.
	Providers []agent.Provider
	// Dirs are the directories below which agents run.
	Dirs []string
	// MaxMode is the highest permission mode of an agent; "" means default.
	MaxMode string
	// Slots is the maximum number of concurrent agents; 0 means no limit. Running returns the
	// current number.
	Slots   int
	Running func(ctx context.Context) (int, error)
	// Box confines all agents; nil means no box.
	Box *Box
	// Mark returns the mark of a session's agent, by which its ports are found; see package ports. Without it sessions have no ports.
	Mark func(session string) string
	// Worktrees opens the manager of worktrees for sessions of the server.
	Worktrees func(context.Context) (*workspace.Manager, error)
	Logger    *slog.Logger
}

// Supported are the names of the agents that can run on a joined machine.
var Supported = []string{agents.Claude}

// Policy is the [host.Policy] of a machine.
type Policy struct {
	providers map[string]agent.Provider
	names     []string
	files     files
	ceiling   ceiling
	slots     int
	running   func(ctx context.Context) (int, error)
	log       *slog.Logger
	mark      func(session string) string
	box       *Box
	line      shape      // checks a line to an agent
	starting  sync.Mutex // so that concurrent starts do not exceed the slots
}

// discard is the logger of a policy without a Logger.
var discard = slog.New(slog.DiscardHandler)

var _ host.Policy = (*Policy)(nil)

// New returns the policy of a machine. It returns an error if a directory does not exist, the mode
// is unknown, or no agent can be offered.
func New(o Options) (*Policy, error) {
	p := &Policy{providers: map[string]agent.Provider{}, slots: o.Slots, running: o.Running, mark: o.Mark, box: o.Box, log: o.Logger}
	if p.log == nil {
		p.log = discard
	}
	if p.mark == nil {
		p.mark = func(string) string { return "" }
	}
	for _, provider := range o.Providers {
		if name := provider.Name(); slices.Contains(Supported, name) {
			p.providers[name], p.names = provider, append(p.names, name)
		}
	}
	if len(p.names) == 0 {
		return nil, fmt.Errorf("this machine has no agent that a server can use: %v", Supported)
	}
	var err error
	if p.ceiling, err = newCeiling(cmp.Or(o.MaxMode, DefaultMode)); err != nil {
		return nil, err
	}
	p.line = p.message()
	for _, dir := range o.Dirs {
		resolved, err := resolve(dir)
		if err != nil {
			return nil, err
		}
		p.files.dirs = append(p.files.dirs, resolved)
	}
	p.files.open, p.files.from, p.files.mark = o.Worktrees, slices.Collect(maps.Values(p.providers)), p.mark
	return p, nil
}

// Agents returns the names of the offered agents.
func (p *Policy) Agents() []string { return slices.Clone(p.names) }

// Dirs returns the offered directories, without symbolic links.
func (p *Policy) Dirs() []string { return slices.Clone(p.files.dirs) }

// MaxMode returns the highest permission mode of an agent.
func (p *Policy) MaxMode() string { return p.ceiling.mode }

// Start makes the command for a launch, with the provider of the agent, and calls start with it.
func (p *Policy) Start(ctx context.Context, l host.Launch, start func(spawn.Command) error) error {
	provider := p.providers[l.Agent]
	if provider == nil {
		return fmt.Errorf("agent %q cannot run on this machine", l.Agent)
	}
	dir, err := p.allowed(ctx, l.Dir)
	if err != nil {
		return err
	}
	o, err := p.options(l.Options)
	if err != nil {
		return err
	}
	p.starting.Lock()
	defer p.starting.Unlock()
	if err := p.room(ctx); err != nil {
		return err
	}
	opts := o.Agent()
	opts.Dir = dir
	confine, err := p.confined(provider, &opts)
	if err != nil {
		return err
	}
	c := &capture{start: func(cmd spawn.Command) error {
		cmd, err := confine(p.marked(cmd, l.Key))
		if err != nil {
			return err
		}
		return start(cmd)
	}}
	opts.Spawner = c
	opts.Mode, opts.AllowBypass = cmp.Or(opts.Mode, DefaultMode), p.ceiling.allows(bypassMode)
	if o.Resume == "" {
		_, err = provider.Open(ctx, opts)
	} else {
		err = p.resume(ctx, provider, o.Resume, opts)
	}
	return c.outcome(err)
}

// confined returns a function that puts a command into the machine's box, if it has one.
func (p *Policy) confined(provider agent.Provider, opts *agent.Options) (func(spawn.Command) (spawn.Command, error), error) {
	if p.box == nil {
		return func(cmd spawn.Command) (spawn.Command, error) { return cmd, nil }, nil
	}
	b, err := p.box.of(provider, opts)
	if err != nil {
		return nil, err
	}
	return b.Command, nil
}

// marked returns a command with the session's mark in its environment.
func (p *Policy) marked(cmd spawn.Command, session string) spawn.Command {
	if mark := p.mark(session); mark != "" && cmd.Env != nil {
		cmd.Env = append(slices.Clone(cmd.Env), ports.Variable+"="+mark)
	}
	return cmd
}

// room returns an error if all slots are in use.
func (p *Policy) room(ctx context.Context) error {
	if p.slots <= 0 {
		return nil
	}
	n, err := p.running(ctx)
	if err != nil {
		return err
	}
	if n >= p.slots {
		return fmt.Errorf("%d agents run on this machine, which has %d slots", n, p.slots)
	}
	return nil
}

// resume continues a session if it belongs to one of the offered directories.
func (p *Policy) resume(ctx context.Context, provider agent.Provider, id string, opts agent.Options) error {
	resumer, canResume := provider.(agent.Resumer)
	keeper, hasHistory := provider.(agent.HistoryKeeper)
	if !canResume || !hasHistory {
		return fmt.Errorf("%w: sessions of %s cannot be continued here", agent.ErrUnsupported, provider.Name())
	}
	session, err := keeper.History().Metadata(ctx, id)
	if err != nil {
		return err
	}
	if _, err := p.allowed(ctx, session.Dir); err != nil {
		return fmt.Errorf("the session %s: %w", id, err)
	}
	_, err = resumer.Resume(ctx, id, opts)
	return err
}

// capture is a spawner that passes the provider's command to the host instead of starting it.
type capture struct {
	start   func(spawn.Command) error
	called  bool
	started error
}

// errCaptured makes the provider return after its command was captured.
var errCaptured = errors.New("the host runs the agent")

func (c *capture) Spawn(_ context.Context, cmd spawn.Command) (spawn.Process, error) {
	if !c.called {
		c.called = true
		c.started = c.start(cmd)
	}
	return nil, cmp.Or(c.started, errCaptured)
}

// Local returns true: the program and its files are on this machine.
func (c *capture) Local() bool { return true }

// outcome returns the error of the host, or the provider's error if it has made no command.
func (c *capture) outcome(err error) error {
	if c.called {
		return c.started
	}
	if err == nil {
		err = errors.New("the provider has started no agent")
	}
	return err
}
