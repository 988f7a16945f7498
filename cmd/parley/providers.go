package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/simagent"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeagent"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/internal/sim"
	"github.com/seed7221b0f9/parley/server"
)

// agents are the agents that a server offers.
type agents struct {
	all       []agent.Provider // the default first
	simulated bool             // the default is
	note      string           // what has to be said about it; "" if nothing
	closers   []func() error
	names     []string // as --agent has them, in the order of all
}

// keep adds what close calls. The server opens tenants one after the other, and none after its
// end.
func (a *agents) keep(closers ...func() error) { a.closers = append(a.closers, closers...) }

// close ends what the agents share. It is called once, after the server has ended.
func (a *agents) close() error {
	var failed error
	for _, end := range a.closers {
		failed = errors.Join(failed, end())
	}
	return failed
}

// errNotInstalled says that the program of an agent is not on this machine.
var errNotInstalled = errors.New("not installed")

// providerKind is a kind of agent that a server can hold. The function new returns the
// provider and what ends it, or an error that wraps errNotInstalled.
type providerKind struct {
	name string
	new  func(h place, logger *slog.Logger) (agent.Provider, func() error, error)
}

// place is where agents keep their files, and their environment.
type place struct {
	data string
	env  []string
}

// home is that of sessions without a tenant.
func (f *serveFlags) home() place {
	return place{f.data, server.AgentEnv(os.Environ(), f.passEnv)}
}

// providerKinds are the agents that --agent can name, in the order in which they are the
// default. The simulated one is not among them: it takes part where it is named, and where
// no other is installed.
var providerKinds = []providerKind{
	{agentClaude, place.claudeProvider},
	{agentCodex, place.codexProvider},
}

// providers chooses the agents: those that --agent names, the first as the default, else
// all that are installed, else the simulated one.
func (f *serveFlags) providers(logger *slog.Logger) (agents, error) {
	if len(f.agents) == 0 {
		return f.installed(logger)
	}
	var a agents
	for i, name := range f.agents {
		if slices.Contains(f.agents[:i], name) {
			return agents{}, errors.Join(term.Usagef("--agent %s is given twice", name), a.close())
		}
		if err := a.add(f.home(), name, logger); err != nil {
			return agents{}, errors.Join(err, a.close())
		}
	}
	if a.simulated = f.agents[0] == agentSim; a.simulated {
		a.note = simagent.Note
	}
	return a, nil
}

// installed are the agents whose programs are on this machine.
func (f *serveFlags) installed(logger *slog.Logger) (agents, error) {
	var a agents
	for _, kind := range providerKinds {
		if err := a.add(f.home(), kind.name, logger); err != nil && !errors.Is(err, errNotInstalled) {
			return agents{}, errors.Join(err, a.close())
		}
	}
	if len(a.all) > 0 {
		return a, nil
	}
	a.simulated, a.note = true, "There is no "+kindNames(" and no ")+" on this machine (parley doctor says more). "+simagent.Note
	return a, a.add(f.home(), agentSim, logger)
}

// kindNames are the names of the real agents.
func kindNames(separator string) string {
	var names []string
	for _, kind := range providerKinds {
		names = append(names, kind.name)
	}
	return strings.Join(names, separator)
}

// add adds the agent with this name.
func (a *agents) add(h place, name string, logger *slog.Logger) error {
	if name == agentSim {
		a.all, a.names = append(a.all, h.simProvider()), append(a.names, name)
		return nil
	}
	if command, ok := strings.CutPrefix(name, agentACP); ok {
		p, err := acpProvider(command, logger)
		if err != nil {
			return err
		}
		a.all, a.names = append(a.all, p), append(a.names, name)
		return nil
	}
	i := slices.IndexFunc(providerKinds, func(k providerKind) bool { return k.name == name })
	if i < 0 {
		return term.Usagef("--agent %s: it is one of %s, %s and %sCOMMAND", name, kindNames(", "), agentSim, agentACP)
	}
	p, end, err := providerKinds[i].new(h, logger)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	a.all, a.names, a.closers = append(a.all, p), append(a.names, name), append(a.closers, end)
	return nil
}

// byName is the environment of agents by name.
func (h place) byName() map[string]string {
	env := map[string]string{}
	for _, entry := range h.env {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	return env
}

func (h place) claudeProvider(logger *slog.Logger) (agent.Provider, func() error, error) {
	path, err := proc.Find("", os.Environ())
	if _, missing := errors.AsType[*proc.NotFoundError](err); missing {
		return nil, nil, fmt.Errorf("%w: %w", errNotInstalled, err)
	}
	if err != nil {
		return nil, nil, err
	}
	p := &claudeagent.Provider{
		Options:     claude.Options{CLIPath: path, Env: h.byName(), CleanEnv: true, Logger: logger},
		RegistryDir: filepath.Join(h.data, "agents"),
	}
	return p, p.Close, nil
}

func (h place) simProvider() agent.Provider {
	dir := filepath.Join(h.data, "sim")
	if os.MkdirAll(dir, 0o700) != nil {
		dir = "" // its sessions cannot be resumed then
	}
	p := &simagent.Provider{Dir: dir}
	if ms, err := strconv.Atoi(os.Getenv(sim.PaceVariable)); err == nil && ms >= 0 {
		if p.Pace = time.Duration(ms) * time.Millisecond; ms == 0 {
			p.Pace = -1
		}
	}
	return p
}
