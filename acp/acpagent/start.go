package acpagent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/spawn"
)

// start runs the agent's program.
func (p *Provider) start(ctx context.Context, s *Session, opts agent.Options) (lines spawn.LineProcess, r io.Reader, w io.WriteCloser, err error) {
	if p.Dial != nil {
		r, w, err = p.Dial(ctx, opts)
		return nil, r, w, err
	}
	if len(p.Command) == 0 {
		return nil, nil, nil, fmt.Errorf("%w: no command", agent.ErrInvalid)
	}
	path, err := exec.LookPath(p.Command[0])
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%w: %w", agent.ErrNotInstalled, err)
	}
	spawner := proc.NoteLines(opts.Spawner, &lines) // a host ends leftover processes of the agent
	if spawner == nil {
		spawner = p.spawner(p.Spawner)
	}
	if s.sup, err = proc.Start(ctx, spawn.Command{Path: path, Args: p.Command[1:], Dir: s.dir, Env: s.env}, p.procOptions(spawner)); err != nil {
		return nil, nil, nil, err
	}
	return lines, s.sup.Stdout(), s.sup.Stdin(), nil
}

func (p *Provider) procOptions(spawner spawn.Spawner) proc.Options {
	return proc.Options{Spawner: spawner, OnStderr: func(line string) { p.log().Debug("acpagent: standard error", "line", line) }}
}

// ended adds the exit status and the last output of the process to the error of an agent that has exited.
func (s *Session) ended(err error) error {
	if s.sup == nil || !errors.Is(err, agent.ErrClosed) {
		return err
	}
	exit := s.sup.Exit()
	return fmt.Errorf("%w: %s ended with code %d %s: %.500s", agent.ErrClosed, s.provider.Command[0], exit.Code, exit.Signal, strings.TrimSpace(exit.Stderr))
}

// spawner returns a spawner that records its processes for Sweep.
func (p *Provider) spawner(inner spawn.Spawner) spawn.Spawner {
	return p.registry.Spawner(inner, proc.LocalOptions{Supervisor: p.Supervisor, KeepChildren: p.KeepChildren})
}

// Sweep ends the agents that an earlier server left running and returns their number. From then on it registers the agents that this
// provider starts.
func (p *Provider) Sweep(context.Context) (int, error) { return p.registry.Sweep(p.RegistryDir) }

// Close removes the record of running agents. All sessions must be closed before: while one is
// running, Close returns an error and changes nothing.
func (p *Provider) Close() error { return p.registry.Close() }
