// Package agents finds agents by the names of the flag --agent, and builds the set that a server offers.
package agents

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

	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/simagent"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeagent"
	"github.com/seed7221b0f9/parley/claude/claudestore"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codexagent"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/internal/sim"
	"github.com/seed7221b0f9/parley/internal/supervise"
	"github.com/seed7221b0f9/parley/transcript"
)

// The values of --agent.
const (
	Claude = "claude"
	Codex  = "codex"
	Sim    = "sim"
	Replay = "replay:" // and a directory
	ACP    = "acp:"    // and the command of an agent that speaks the Agent Client Protocol
)

// KeepHelp is the help text of the flag --keep-children.
const KeepHelp = "when an agent ends, keep its background processes running, such as development servers"

// Set holds the agents that a server offers.
type Set struct {
	Providers []agent.Provider // the default first
	Simulated bool             // the default agent is simulated
	Note      string           // a notice for the user, or ""
	closers   []func() error
	names     []string // values of --agent, in the order of Providers
}

// Close ends the resources that the agents share. It is called once, after the server has ended.
func (s *Set) Close() error {
	var failed error
	for _, end := range s.closers {
		failed = errors.Join(failed, end())
	}
	return failed
}

// errNotInstalled reports that the program of an agent is not on this machine.
var errNotInstalled = errors.New("not installed")

// kind is a kind of agent. open returns the provider and the function that ends it, or an error that
// wraps errNotInstalled.
type kind struct {
	name string
	open func(p Place, logger *slog.Logger) (agent.Provider, func() error, error)
}

// Place is the location of the agents' files, and their environment.
type Place struct {
	Data    string
	Env     []string
	CLI     string // the claude program; empty means the installed one
	Archive string // of transcripts; empty means none
	Keep    bool   // spare background processes of agents
	Copies  Copies // of the agents' files, for other machines
	demo    bool   // the simulated agent changes files of the project
}

// Copies are the stores that several machines share. Nil means none.
type Copies struct {
	Claude, Codex claudestore.MirrorStore
}

// kinds are the agents that --agent can name, in the order of preference. They do not include the
// simulated agent, which is used only by name or if no other is installed.
var kinds = []kind{{Claude, Place.claude}, {Codex, Place.codex}}

// Choose returns the agents with these names, the first as the default. Without names it returns all installed agents,
// or the simulated agent if no agent is installed.
func Choose(names []string, at Place, logger *slog.Logger) (*Set, error) {
	s := &Set{}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, errors.Join(term.Usagef("--agent %s is given twice", name), s.Close())
		}
		if err := s.add(at, name, logger); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	if len(names) > 0 {
		if s.Simulated = names[0] == Sim; s.Simulated {
			s.Note = simagent.Note
		}
		return s, nil
	}
	for _, name := range append(strings.Split(kindNames(" "), " "), installed(logger)...) {
		if err := s.add(at, name, logger); err != nil && !errors.Is(err, errNotInstalled) {
			return nil, errors.Join(err, s.Close())
		}
	}
	if len(s.Providers) > 0 {
		return s, nil
	}
	s.Simulated, s.Note = true, "There is no "+kindNames(" and no ")+" on this machine (parley doctor has details). "+simagent.Note
	at.demo = true
	return s, s.add(at, Sim, logger)
}

// Again returns the providers of the same agents for another place. Closing s also closes them. The caller must not
// call it concurrently or after Close.
func (s *Set) Again(at Place, logger *slog.Logger) ([]agent.Provider, error) {
	var own Set
	for _, name := range s.names {
		if err := own.add(at, name, logger); err != nil {
			return nil, errors.Join(err, own.Close())
		}
	}
	s.closers = append(s.closers, own.closers...)
	return own.Providers, nil
}

// kindNames returns the names of the real agents.
func kindNames(separator string) string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return strings.Join(names, separator)
}

// installed returns the names of the registry's agents with a program on this machine, except those that parley runs
// without an adapter. If the user's file cannot be read, only its agents are missing.
func installed(logger *slog.Logger) (names []string) {
	list, err := Registry()
	if err != nil {
		logger.Warn("agents: the list of agents", "err", err)
	}
	for i := range list {
		if list[i].Native == "" && list[i].Path() != "" {
			names = append(names, list[i].Name)
		}
	}
	return names
}

// Others returns the names of the installed agents except for Claude Code.
func Others() (names []string) {
	if _, err := (&codex.Options{}).Program(); err == nil {
		names = append(names, "codex")
	}
	return append(names, installed(slog.New(slog.DiscardHandler))...)
}

// add adds the agent with this name.
func (s *Set) add(at Place, name string, logger *slog.Logger) error {
	var p agent.Provider
	var err error
	end := func() error { return nil }
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	switch command, acp := strings.CutPrefix(name, ACP); {
	case name == Sim:
		p = NewSim(at.Data, at.demo)
	case acp, i < 0:
		one, err := named(name, command, acp, at.Keep, logger)
		if err != nil {
			return err
		}
		one.RegistryDir = at.registry()
		p, end = one, one.Close
	default:
		if p, end, err = kinds[i].open(at, logger); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	s.Providers, s.names, s.closers = append(s.Providers, p), append(s.names, name), append(s.closers, end)
	return nil
}

// named returns the agent of a command or of a name in the registry.
func named(name, command string, isCommand, keep bool, logger *slog.Logger) (*acpagent.Provider, error) {
	if isCommand {
		return NewACP(command, keep, logger)
	}
	return Named(name, keep, logger)
}

// Named returns an agent of the registry. The error names the values of --agent.
func Named(name string, keep bool, logger *slog.Logger) (*acpagent.Provider, error) {
	k, ok, err := Find(name)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, term.Usagef("unknown agent %q: the agents are %s, %s, %sCOMMAND and those of parley agents list", name, kindNames(", "), Sim, ACP)
	}
	return k.Provider(keep, logger), nil
}

// NewACP returns an agent that speaks the Agent Client Protocol. The words of its command are
// separated by spaces. Its background processes are ended unless keep is set.
func NewACP(command string, keep bool, logger *slog.Logger) (*acpagent.Provider, error) {
	words := strings.Fields(command)
	if len(words) == 0 {
		return nil, term.Usagef("--agent acp: needs a command, as in --agent \"acp:gemini --acp\"")
	}
	return &acpagent.Provider{Command: words, Version: claude.Version, Logger: logger, Supervisor: supervise.Self(), KeepChildren: keep}, nil
}

// NewCodex returns Codex with this environment, and an error that wraps codex.ErrNotFound if its
// program is missing. Its background processes are ended unless keep is set.
func NewCodex(env []string, keep bool, logger *slog.Logger) (*codexagent.Provider, error) {
	o := codex.Options{Path: os.Getenv("PARLEY_CODEX"), Env: env, Logger: logger, ClientVersion: claude.Version, Supervisor: supervise.Self(), KeepChildren: keep}
	path, err := o.Program()
	o.Path = path
	return &codexagent.Provider{Options: o}, err
}

func (at Place) codex(logger *slog.Logger) (agent.Provider, func() error, error) {
	p, err := NewCodex(at.Env, at.Keep, logger)
	if errors.Is(err, codex.ErrNotFound) {
		err = fmt.Errorf("%w: %w", errNotInstalled, err)
	}
	p.RegistryDir = at.registry()
	if at.Copies.Codex != nil {
		p.Copies = &claudestore.Files{Store: at.Copies.Codex, Project: Codex}
	}
	return p, p.Close, err
}

// registry returns the directory in which the running agents of a place are recorded.
func (at Place) registry() string { return filepath.Join(at.Data, "agents") }

func (at Place) claude(logger *slog.Logger) (agent.Provider, func() error, error) {
	path, err := proc.Find(at.CLI, os.Environ())
	if e, ok := errors.AsType[*proc.NotFoundError](err); ok && e.Path == "" {
		err = fmt.Errorf("%w: %w", errNotInstalled, err)
	}
	if err != nil {
		return nil, nil, err
	}
	env := map[string]string{}
	for _, entry := range at.Env {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	p := &claudeagent.Provider{
		Options:     claude.Options{CLIPath: path, Env: env, CleanEnv: true, Logger: logger, Supervisor: supervise.Self(), KeepChildren: at.Keep},
		RegistryDir: at.registry(),
	}
	if at.Archive != "" {
		p.Archive = transcript.OpenArchive(at.Archive)
	}
	if at.Copies.Claude != nil {
		p.Copies = &claudestore.Mirror{Store: at.Copies.Claude}
	}
	return p, p.Close, nil
}

// NewSim returns the simulated agent, which keeps its sessions below the data directory of a server. project is its field Project.
func NewSim(data string, project bool) agent.Provider {
	dir := filepath.Join(data, "sim")
	if os.MkdirAll(dir, 0o700) != nil {
		dir = "" // then its sessions cannot be resumed
	}
	p := &simagent.Provider{Dir: dir, Project: project}
	if ms, err := strconv.Atoi(os.Getenv(sim.PaceVariable)); err == nil && ms >= 0 {
		if p.Pace = time.Duration(ms) * time.Millisecond; ms == 0 {
			p.Pace = -1
		}
	}
	return p
}
