package joined

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/agents"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/hostctl"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/remote"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/host/join"
	"github.com/seed7221b0f9/parley/server"
	"github.com/seed7221b0f9/parley/workspace"
)

// Settings are the flags of parley host join.
type Settings struct {
	name, data, tokenFile, maxMode, cli string
	sandbox                             string
	labels, dirs, passEnv, trustGit     []string
	slots                               int
	stdio                               bool
}

// Register adds the flags.
func (f *Settings) Register(p *pflag.FlagSet) {
	p.StringVar(&f.name, "name", "", "name of this machine at the server (default: its host name)")
	p.StringArrayVar(&f.labels, "label", nil, "text that the server shows with this machine; repeatable")
	p.StringArrayVar(&f.dirs, "dir", nil, "directory in which, and below which, agents may run; repeatable (default: the current one)")
	p.StringVar(&f.maxMode, "max-mode", DefaultMode, "maximum permission mode of agents: "+strings.Join(MaxModes, ", "))
	p.StringVar(&f.sandbox, "sandbox", "none", "box for all agents, regardless of the server: bwrap or none. Its network is that of this machine")
	p.IntVar(&f.slots, "slots", 0, "maximum number of concurrent agents (default: no limit)")
	p.StringVar(&f.tokenFile, "token-file", "", "file with the token, readable only by its owner (default: PARLEY_TOKEN, a line of standard input, or the token of an earlier code)")
	p.StringVar(&f.cli, "cli", "", "the claude program (default $PARLEY_CLI, else the installed one)")
	p.StringArrayVar(&f.passEnv, "pass-env", nil, "further variable that agents get; NAME* is a prefix; repeatable")
	p.StringArrayVar(&f.trustGit, "trust-git", nil, "hash, as printed on standard error, of programs in a repository's git configuration that git may run; repeatable")
	p.BoolVar(&f.stdio, "stdio", false, "serve the server that started this command over standard input and output, as with parley serve --ssh; URL is its id")
	p.StringVar(&f.data, "data", remote.DefaultData(), "directory for the host of the agents")
}

// Join joins a server until a signal arrives.
func (f *Settings) Join(ctx context.Context, server string, in *os.File, out io.Writer) (err error) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	dir, err := f.check(server)
	if err != nil {
		return err
	}
	if f.stdio {
		return f.over(ctx, dir, server, in, out)
	}
	token, kept, err := f.credential(ctx, server, dir, in, out)
	if errors.Is(err, context.Canceled) {
		return nil // a signal, as below
	}
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(term.StandardError(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	policy, end, err := f.policy(ctx, dir, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	r, err := f.registration(policy)
	if err != nil {
		return err
	}
	teller := &teller{out: out, server: server, name: r.Name, agents: r.Agents}
	err = join.Run(ctx, join.Config{Server: server, Token: token, Registration: r, DataDir: f.data, Policy: policy, Logger: log, OnState: teller.state})
	if kept {
		err = forgetToken(dir, err)
	}
	teller.end(dir, running(context.WithoutCancel(ctx), dir))
	return err
}

// over serves a server over standard input and standard output.
func (f *Settings) over(ctx context.Context, dir, id string, in io.Reader, out io.Writer) (err error) {
	log := slog.New(slog.NewTextHandler(term.StandardError(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	policy, end, err := f.policy(ctx, dir, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	r, err := f.registration(policy)
	if err != nil {
		return err
	}
	err = join.Over(ctx, join.Config{Registration: r, DataDir: f.data, Policy: policy, Logger: log}, id, in, out)
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil // the server or a signal has ended the link
	}
	return err
}

// check returns the directory of the host, or an error for an invalid command line.
func (f *Settings) check(server string) (dir string, err error) {
	if dir, err = join.HostDir(f.data, server); f.stdio {
		dir, err = join.OverDir(f.data, server)
	}
	switch {
	case err != nil:
		return "", &term.UsageError{Text: err.Error()}
	case !slices.Contains(MaxModes, f.maxMode):
		return "", term.Usagef("--max-mode %s: it is one of %s", f.maxMode, strings.Join(MaxModes, ", "))
	case f.sandbox != boxBwrap && f.sandbox != boxNone:
		return "", term.Usagef("--sandbox %s: it is bwrap or none", f.sandbox)
	case f.slots < 0:
		return "", term.Usagef("--slots %d is negative", f.slots)
	}
	return dir, nil
}

// policy returns the policy of this machine, and a function that releases its agents' resources.
func (f *Settings) policy(ctx context.Context, dir string, log *slog.Logger) (*Policy, func() error, error) {
	env := server.AgentEnv(os.Environ(), f.passEnv)
	set, err := agents.Choose(Supported, agents.Place{Data: dir, Env: env, CLI: f.cli}, log)
	if err != nil {
		return nil, nil, err
	}
	dirs := f.dirs
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	count := func(ctx context.Context) (int, error) {
		l, err := hostctl.Ask(ctx, dir)
		return l.Count(), err
	}
	mark, err := marks(dir)
	if err != nil {
		return nil, nil, errors.Join(err, set.Close())
	}
	o := Options{Providers: set.Providers, Dirs: dirs, MaxMode: f.maxMode, Slots: f.slots, Running: count, Mark: mark, Logger: log}
	if f.sandbox == boxBwrap {
		if o.Box, err = openBox(ctx, env, f.data); err != nil {
			return nil, nil, errors.Join(err, set.Close())
		}
	}
	var p *Policy
	o.Worktrees = func(ctx context.Context) (*workspace.Manager, error) {
		return workspace.Open(ctx, GitOptions(dir, env, p.Dirs(), f.trustGit, log))
	}
	if p, err = New(o); err != nil {
		return nil, nil, errors.Join(err, set.Close())
	}
	return p, func() error { return errors.Join(p.Close(), set.Close()) }, nil
}

// running returns the number of agents that the host runs, or 0 if the host does not answer.
func running(ctx context.Context, dir string) int {
	l, _ := hostctl.Ask(ctx, dir) // l has no agents if the host does not answer
	return l.Count()
}

// registration describes this machine.
func (f *Settings) registration(p *Policy) (host.Registration, error) {
	name := f.name
	if name == "" {
		var err error
		if name, err = os.Hostname(); err != nil {
			return host.Registration{}, fmt.Errorf("this machine has no name, set --name: %w", err)
		}
	}
	sandbox := f.sandbox
	if sandbox == boxNone {
		sandbox = ""
	}
	return host.Registration{Name: name, Box: sandbox, Labels: f.labels, Agents: p.Agents(), Dirs: p.Dirs(), Slots: f.slots, MaxMode: p.MaxMode()}, nil
}
