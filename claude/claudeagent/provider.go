package claudeagent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/claudestore"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/agentkit"
	"github.com/seed7221b0f9/parley/internal/claudedir"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/spawn"
	"github.com/seed7221b0f9/parley/transcript"
)

// Provider starts sessions of Claude Code. Its fields must be set before use and not changed; its
// methods are safe for concurrent use.
type Provider struct {
	// Options are the common options of all sessions. Each session sets the callbacks and the
	// fields of agent.Options; its environment replaces the common one.
	Options claude.Options
	// As is the provider's name; empty means claude.
	As string
	// RegistryDir is the directory that records running CLIs, so that Sweep can end those of a
	// crashed server; empty disables it.
	RegistryDir string
	// Archive has copies of sessions that the CLI may have deleted; nil means no archive. Every
	// session of the provider can be restored from it.
	Archive *transcript.Archive
	// Copies has copies of sessions for other machines; nil means none. See [agent.Mirrored].
	Copies *claudestore.Mirror

	registry agentkit.Registry
	mu       sync.Mutex
	running  map[*Session]bool
	catalog  *claude.ServerInfo
	asking   chan struct{} // held while a CLI is asked for the catalogue
}

var (
	_ agent.Resumer       = (*Provider)(nil)
	_ agent.Catalog       = (*Provider)(nil)
	_ agent.HistoryKeeper = (*Provider)(nil)
	_ agent.UsageReporter = (*Provider)(nil)
	_ agent.Witness       = (*Provider)(nil)
	_ agent.Restorer      = (*Provider)(nil)
	_ agent.Mirrored      = (*Provider)(nil)
	_ agent.LiveFinder    = (*Provider)(nil)
	_ agent.LiveLister    = (*Provider)(nil)
	_ agent.Follower      = (*Provider)(nil)
	_ agent.Sweeper       = (*Provider)(nil)
	_ agent.Authenticator = (*Provider)(nil)
)

// Name returns the field As, or "claude" if it is empty.
func (p *Provider) Name() string {
	if p.As != "" {
		return p.As
	}
	return claudeevent.Provider
}

// Open starts a CLI with a new session, with the id opts.ID or a new one. If the CLI reports that
// it is not logged in, the error is agent.ErrAuth.
func (p *Provider) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	id := opts.ID
	if id == "" {
		id = random.UUID()
	}
	if !claudedir.ValidID(id) {
		return nil, fmt.Errorf("%w: the id %q is not a UUID", agent.ErrInvalid, id)
	}
	return p.start(ctx, opts, id, func(o *claude.Options) { o.SessionID = id })
}

// Resume starts a CLI that continues a session, in the session's directory unless opts.Dir is
// set. With opts.Fork it continues a copy that ends with the message opts.At.
func (p *Provider) Resume(ctx context.Context, id string, opts agent.Options) (agent.Session, error) {
	if s, ok := opts.Spawner.(spawn.Locality); ok && !s.Local() { // the session is on another machine
		return p.start(ctx, opts, id, func(o *claude.Options) { o.Resume, o.ForkSession = id, opts.Fork })
	}
	session, err := p.dir().Session(id)
	if err != nil {
		return nil, translate(err)
	}
	if opts.Dir == "" {
		if info, err := session.Info(ctx); err == nil {
			opts.Dir = info.CWD
		}
	}
	if opts.Fork {
		fork, err := p.dir().Fork(ctx, id, &transcript.ForkOptions{UpTo: opts.At})
		if err != nil {
			return nil, translate(err)
		}
		id = fork.ID
	}
	return p.start(ctx, opts, id, func(o *claude.Options) { o.Resume = id })
}

func (p *Provider) start(ctx context.Context, opts agent.Options, id string, choose func(*claude.Options)) (agent.Session, error) {
	o, err := p.options(opts)
	if err != nil {
		return nil, err
	}
	choose(o)
	s := newSession(p, opts, id)
	o.CanUseTool, o.OnElicitation = s.permit, s.elicit
	client, err := claude.Connect(ctx, o)
	if err != nil {
		return nil, translate(err)
	}
	if loggedOut(client.ServerInfo().Account) {
		return nil, errors.Join(fmt.Errorf("%w: run claude and /login, or set ANTHROPIC_API_KEY", agent.ErrAuth), client.Close())
	}
	s.begin(client)
	return s, nil
}

// loggedOut reports whether the CLI reports that it has no credentials. A CLI that does not
// report them, or uses another provider of models, may have some.
func loggedOut(a claude.AccountInfo) bool {
	return a.TokenSource == "none" && a.APIKeySource == "" && a.APIProvider == "firstParty"
}

// Sweep ends the CLIs that an ended server has left running, and starts recording those of this
// one.
func (p *Provider) Sweep(context.Context) (int, error) { return p.registry.Sweep(p.RegistryDir) }

// Close removes the record of running CLIs. All sessions must be closed before: while one is
// running, Close returns claude.ErrChildren and has no effect.
func (p *Provider) Close() error { return p.registry.Close() }

// forget removes an ended session from the running ones.
func (p *Provider) forget(s *Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.running, s)
}

// options returns the CLI's options for a session.
func (p *Provider) options(opts agent.Options) (*claude.Options, error) {
	if opts.Mode != "" && !slices.Contains(modes(opts.AllowBypass), opts.Mode) {
		return nil, fmt.Errorf("%w: mode %q", agent.ErrInvalid, opts.Mode)
	}
	o := p.Options
	if r := p.registry.Current(); r != nil {
		o.Registry = r
	}
	if opts.Spawner != nil {
		o.Spawner, o.Registry = opts.Spawner, nil // the host ends leftover processes
	}
	if opts.Box != nil {
		o.Spawner = opts.Box(o.Spawner)
	}
	o.Dir = cmp.Or(opts.Dir, o.Dir)
	o.Model, o.FallbackModel = cmp.Or(opts.Model, o.Model), cmp.Or(opts.FallbackModel, o.FallbackModel)
	o.PermissionMode, o.AllowDangerouslySkipPermissions = message.PermissionMode(opts.Mode), opts.AllowBypass
	o.AdditionalDirectories = slices.Concat(o.AdditionalDirectories, opts.AdditionalDirectories)
	o.AllowedTools = slices.Concat(o.AllowedTools, opts.AllowedTools)
	o.DisallowedTools = slices.Concat(o.DisallowedTools, opts.DisallowedTools)
	o.IncludePartialMessages, o.EnableFileCheckpointing, o.ForwardSubagentText = opts.Partial, true, true
	if opts.SettingSources != nil {
		o.SettingSources = opts.SettingSources
	}
	if opts.MaxTurns > 0 {
		o.MaxTurns = int(opts.MaxTurns)
	}
	if opts.MaxBudgetUSD != nil {
		o.MaxBudgetUSD = opts.MaxBudgetUSD
	}
	if opts.Thinking != nil {
		o.MaxThinkingTokens = new(int(*opts.Thinking))
	}
	if opts.Env != nil {
		o.Env, o.CleanEnv = environ(opts.Env), true
	}
	o.Effort = cmp.Or(opts.Effort, o.Effort)
	o.SystemPrompt = systemPrompt(o.SystemPrompt, opts)
	o.MaxAbsence = max(o.MaxAbsence, opts.MaxAbsence)
	if opts.Files != nil {
		o.Hooks = withFiles(o.Hooks, opts.Files)
	}
	return &o, addDefinitions(&o, opts)
}

// systemPrompt returns the prompt of the session, else the provider's, else Claude Code's.
func systemPrompt(own claude.SystemPrompt, opts agent.Options) claude.SystemPrompt {
	switch {
	case opts.SystemPrompt != "" && opts.AppendSystemPrompt != "":
		return claude.PromptText(opts.SystemPrompt + "\n\n" + opts.AppendSystemPrompt)
	case opts.SystemPrompt != "":
		return claude.PromptText(opts.SystemPrompt)
	case opts.AppendSystemPrompt != "" || own == nil:
		return &claude.PromptPreset{Append: opts.AppendSystemPrompt}
	}
	return own
}

// addDefinitions adds the MCP servers and the subagents of a session to the provider's.
func addDefinitions(o *claude.Options, opts agent.Options) error {
	if len(opts.MCPServers) > 0 {
		var servers map[string]claude.MCPServer
		if err := json.Unmarshal(opts.MCPServers, &servers); err != nil {
			return fmt.Errorf("%w: the MCP servers: %w", agent.ErrInvalid, err)
		}
		o.MCPServers = merged(o.MCPServers, servers)
	}
	if len(opts.Agents) > 0 {
		var agents map[string]claude.AgentDefinition
		if err := json.Unmarshal(opts.Agents, &agents); err != nil {
			return fmt.Errorf("%w: the subagents: %w", agent.ErrInvalid, err)
		}
		o.Agents = merged(o.Agents, agents)
	}
	return nil
}

func merged[V any](a, b map[string]V) map[string]V {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]V{}
	}
	maps.Copy(out, b)
	return out
}

func environ(list []string) map[string]string {
	env := map[string]string{}
	for _, kv := range list {
		if k, v, ok := strings.Cut(kv, "="); ok && k != "" {
			env[k] = v
		}
	}
	return env
}

// modes returns the permission modes of a session.
func modes(bypass bool) []string {
	list := []message.PermissionMode{message.ModeDefault, message.ModeAcceptEdits, message.ModePlan, message.ModeDontAsk, message.ModeAuto}
	if bypass {
		list = append(list, message.ModeBypassPermissions)
	}
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = string(m)
	}
	return names
}

// translate converts an error of the packages below to one of package agent.
func translate(err error) error {
	if err == nil {
		return nil
	}
	for _, t := range []struct{ from, to error }{
		{claude.ErrNotFound, agent.ErrNotInstalled}, {claude.ErrNoSession, agent.ErrNotFound}, {claude.ErrSessionBusy, agent.ErrBusy},
		{claude.ErrUnsupported, agent.ErrUnsupported}, {claude.ErrClosed, agent.ErrClosed}, {claude.ErrNotOpen, agent.ErrNotOpen},
		{transcript.ErrNoSession, agent.ErrNotFound}, {transcript.ErrNoMessage, agent.ErrNotFound}, {transcript.ErrLive, agent.ErrBusy},
	} {
		if errors.Is(err, t.from) {
			return fmt.Errorf("%w: %w", t.to, err)
		}
	}
	if _, ok := errors.AsType[*claude.OptionError](err); ok {
		return fmt.Errorf("%w: %w", agent.ErrInvalid, err)
	}
	return err
}

// getenv returns a variable in the environment of the provider's CLIs.
func (p *Provider) getenv(name string) string {
	if v, ok := p.Options.Env[name]; ok {
		return v
	}
	if p.Options.CleanEnv {
		return ""
	}
	return os.Getenv(name)
}

// configDir returns the CLI's configuration directory.
func (p *Provider) configDir() string {
	if i := p.Options.Isolation; i != nil && i.ConfigDir != "" {
		return i.ConfigDir
	}
	return claudedir.Config(p.getenv)
}

func (p *Provider) dir() *transcript.Dir { return transcript.Open(p.configDir()) }
