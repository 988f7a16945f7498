package codexagent

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codexevent"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/codex/rollout"
	"github.com/seed7221b0f9/parley/internal/agentkit"
	"github.com/seed7221b0f9/parley/internal/proc"
)

// Provider starts Codex sessions, each with a separate server. Its fields must not be changed after
// the first use.
type Provider struct {
	// Options are the options of the servers, without callbacks, which belong to the
	// sessions. A session's environment replaces theirs.
	Options codex.Options
	// RegistryDir is the directory in which running processes are recorded, so that Sweep can end
	// processes that a crashed server left running; empty disables it.
	RegistryDir string
	// OutputSchema is a JSON Schema for the last message of each turn; the result then has that message as its structured output.
	// Empty allows any text.
	OutputSchema item.JSON
	// Copies has copies of threads for other machines; nil means none. See [agent.Mirrored].
	Copies Copies

	registry agentkit.Registry
	copied   copied
}

var (
	_ agent.Resumer       = (*Provider)(nil)
	_ agent.HistoryKeeper = (*Provider)(nil)
	_ agent.UsageReporter = (*Provider)(nil)
	_ agent.Witness       = (*Provider)(nil)
	_ agent.Sweeper       = (*Provider)(nil)
	_ agent.Adopter       = (*Provider)(nil)
	_ agent.MCPHost       = (*Provider)(nil)
	_ agent.Mirrored      = (*Provider)(nil)
	_ agent.Hosted        = (*Session)(nil)
)

// Name returns "codex", the name of the provider in events and in server messages.
func (p *Provider) Name() string { return codexevent.Provider }

// Open starts a server with a new thread. Codex chooses the id of the thread: with opts.ID set, the
// error is agent.ErrUnsupported.
func (p *Provider) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	if opts.ID != "" {
		return nil, fmt.Errorf("%w: the id of a thread cannot be chosen", agent.ErrUnsupported)
	}
	return p.start(ctx, opts, func(c *codex.Client, t *codex.ThreadOptions) (*codex.Thread, error) {
		return c.StartThread(ctx, t)
	})
}

// Resume starts a server that continues a thread, or with opts.Fork a copy of it up to and
// including the turn of the message opts.At.
func (p *Provider) Resume(ctx context.Context, id string, opts agent.Options) (agent.Session, error) {
	return p.start(ctx, opts, func(c *codex.Client, t *codex.ThreadOptions) (*codex.Thread, error) {
		if opts.Fork {
			turn, err := p.turnOf(ctx, id, opts.At)
			if err != nil {
				return nil, err
			}
			return c.ForkThread(ctx, id, turn, t)
		}
		t.Extra = map[string]any{"excludeTurns": true} // the history is read from the files
		thread, err := c.ResumeThread(ctx, id, t)
		if errors.Is(err, codex.ErrExperimental) { // an older server
			t.Extra = nil
			thread, err = c.ResumeThread(ctx, id, t)
		}
		return thread, err
	})
}

func (p *Provider) start(ctx context.Context, opts agent.Options, open func(*codex.Client, *codex.ThreadOptions) (*codex.Thread, error)) (agent.Session, error) {
	if opts.Mode != "" && !slices.Contains(modes(opts.AllowBypass), opts.Mode) && !slices.Contains(policies, opts.Mode) {
		return nil, fmt.Errorf("%w: mode %q", agent.ErrInvalid, opts.Mode)
	}
	if opts.Effort != "" && !slices.Contains(efforts, opts.Effort) {
		return nil, fmt.Errorf("%w: effort %q", agent.ErrInvalid, opts.Effort)
	}
	thread, err := threadOptions(opts)
	if err != nil {
		return nil, err
	}
	s := newSession(p, opts)
	o := s.options()
	if opts.Spawner != nil {
		o.Spawner = opts.Spawner // the host ends leftover processes
		s.host(&o, agent.Adoption{})
	} else {
		o.Spawner = p.registry.Spawner(o.Spawner, proc.LocalOptions{Supervisor: o.Supervisor, KeepChildren: o.KeepChildren})
	}
	if opts.Box != nil {
		o.Spawner = opts.Box(o.Spawner)
	}
	client, err := codex.Connect(ctx, &o)
	if err != nil {
		return nil, translate(err)
	}
	s.client = client
	if s.thread, err = open(client, thread); err != nil {
		return nil, errors.Join(translate(err), client.Close())
	}
	s.run()
	return s, nil
}

// options returns the options of the session's server.
func (s *Session) options() codex.Options {
	o := s.provider.Options
	if s.opts.Env != nil {
		o.Env = s.opts.Env
	}
	if s.opts.Dir != "" {
		o.Dir = s.opts.Dir
	}
	o.Observe, o.Approve, o.Ask, o.Elicit = s.observe, s.approve, s.ask, s.elicit
	return o
}

// Sweep ends leftover agents of a crashed server, and records those of this one from then on.
func (p *Provider) Sweep(context.Context) (int, error) { return p.registry.Sweep(p.RegistryDir) }

// Close removes the record of running agents. All sessions must be closed first: while one is
// running, Close returns an error and has no effect.
func (p *Provider) Close() error { return p.registry.Close() }

func threadOptions(opts agent.Options) (*codex.ThreadOptions, error) {
	config, err := mcpConfig(opts.MCPServers)
	if err != nil {
		return nil, err
	}
	policy, box := permissions(opts.Mode)
	return &codex.ThreadOptions{
		CWD: opts.Dir, Model: opts.Model, ApprovalPolicy: policy, Sandbox: box,
		BaseInstructions: opts.SystemPrompt, DeveloperInstructions: opts.AppendSystemPrompt, Config: config,
	}, nil
}

// translate converts an error of package codex to one of package agent.
func translate(err error) error {
	for from, to := range map[error]error{
		codex.ErrNotFound: agent.ErrNotInstalled, codex.ErrNoThread: agent.ErrNotFound, codex.ErrBusy: agent.ErrBusy,
		codex.ErrUnsupported: agent.ErrUnsupported, codex.ErrExperimental: agent.ErrUnsupported, codex.ErrClosed: agent.ErrClosed,
		codex.ErrInvalid: agent.ErrInvalid,
	} {
		if errors.Is(err, from) {
			return fmt.Errorf("%w: %w", to, err)
		}
	}
	if _, ok := errors.AsType[*codex.ExitError](err); ok {
		return fmt.Errorf("%w: %w", agent.ErrClosed, err)
	}
	return err
}

// home returns the CODEX_HOME of the provider's servers: from the options, from their environment,
// or below the home directory in it.
func (p *Provider) home() (string, error) {
	if p.Options.Home != "" {
		return p.Options.Home, nil
	}
	if p.Options.Env == nil {
		return rollout.DefaultHome()
	}
	for _, v := range []struct{ name, below string }{{"CODEX_HOME", ""}, {"HOME", ".codex"}, {"USERPROFILE", ".codex"}} {
		for _, e := range slices.Backward(p.Options.Env) {
			if dir, ok := strings.CutPrefix(e, v.name+"="); ok && dir != "" {
				return filepath.Join(dir, v.below), nil
			}
		}
	}
	return "", fmt.Errorf("%w: the environment has no home directory", agent.ErrNotFound)
}

// Delivered searches the files of the thread, which Codex writes continuously, for the uuid of a
// prompt.
func (p *Provider) Delivered(ctx context.Context, sessionID, uuid string) (agent.Delivery, error) {
	home, err := p.home()
	if err != nil {
		return agent.DeliveryUnknown, err
	}
	c, err := rollout.Open(home).Read(ctx, sessionID)
	if c == nil {
		if errors.Is(err, rollout.ErrNoSession) {
			err = nil
		}
		return agent.DeliveryUnknown, err
	}
	for _, turn := range c.Turns {
		for _, i := range turn.Items {
			if u, ok := i.(*item.UserMessage); ok && u.ClientID == uuid {
				return agent.Delivered, nil
			}
		}
	}
	return agent.DeliveryUnknown, nil
}
