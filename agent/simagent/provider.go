// Package simagent implements agent.Provider for the simulated agent: canned tours instead of a
// model, in the protocol of the Claude CLI inside this process.
//
// It uses no model and charges nothing; a word counts as a token. It works in the directory of the session,
// where it asks before it creates a file, or in a temporary one. Its sessions can be resumed if the provider
// has a directory; their messages are not stored, because no tour depends on them.
package simagent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeagent"
	"github.com/seed7221b0f9/parley/internal/fakecli"
	"github.com/seed7221b0f9/parley/internal/regularfile"
	"github.com/seed7221b0f9/parley/internal/sim"
)

// Name is the name of the provider in events, in server messages and on the command line.
const Name = "sim"

// Note is a sentence that explains this agent to people: a simulation without a model.
const Note = sim.Disclosure

// Provider starts sessions of the simulated agent. Its fields must not be changed after the first
// use; its methods may be called from any goroutine.
type Provider struct {
	// Dir holds one small file per session with the uuids of its prompts. Without it sessions
	// cannot be resumed.
	Dir string
	// Pace is the time between two pieces of text; 0 is 25 ms, a negative value disables the pause.
	Pace time.Duration
	// Project makes the tours that change files do so in the session's directory: in new files, after permission. Otherwise they use a
	// temporary directory.
	Project bool

	once  sync.Once
	inner *claudeagent.Provider
}

var (
	_ agent.Resumer   = (*Provider)(nil)
	_ agent.Catalog   = (*Provider)(nil)
	_ agent.Witness   = (*Provider)(nil)
	_ agent.Simulator = (*Provider)(nil)
)

// Name returns "sim", the name of the provider in events and in server messages.
func (p *Provider) Name() string { return Name }

// Simulated returns true: the sessions of this provider follow a script and have no model.
func (p *Provider) Simulated() bool { return true }

// claude returns the provider of the simulated CLI.
func (p *Provider) claude() *claudeagent.Provider {
	p.once.Do(func() {
		p.inner = &claudeagent.Provider{As: Name, Options: claude.Options{
			Spawner: fakecli.InProcess(sim.Program), CLIPath: "simulated", Env: p.env(), CleanEnv: true,
		}}
	})
	return p.inner
}

// env returns the environment of the simulated CLI, without the caller's variables.
func (p *Provider) env() map[string]string {
	env := map[string]string{}
	switch {
	case p.Pace > 0:
		env[sim.PaceVariable] = strconv.FormatInt(p.Pace.Milliseconds(), 10)
	case p.Pace < 0:
		env[sim.PaceVariable] = "0"
	}
	if p.Project {
		env[sim.ProjectVariable] = "1"
	}
	return env
}

// used reports tokens under the name of the simulated model, whatever name a user has chosen: they
// have no cost.
func used(report func(agent.Used)) func(agent.Used) {
	if report == nil {
		return nil
	}
	return func(u agent.Used) {
		u.Model = sim.Model
		report(u)
	}
}

// Open starts a simulated agent. It uses only the options about the conversation; it has no
// environment, no MCP servers and no subagents.
func (p *Provider) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	s, err := p.claude().Open(ctx, agent.Options{ID: opts.ID, Mode: opts.Mode, AllowBypass: opts.AllowBypass, Model: opts.Model, Partial: opts.Partial, Dir: opts.Dir, OnUsed: used(opts.OnUsed)})
	if err != nil {
		return nil, err
	}
	session := &Session{Session: s.(*claudeagent.Session), inner: s.(*claudeagent.Session), p: p}
	if err := p.note(s.ID(), ""); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return session, nil
}

// Resume starts a simulated agent with the id of an earlier session. A fork is
// agent.ErrUnsupported.
func (p *Provider) Resume(ctx context.Context, id string, opts agent.Options) (agent.Session, error) {
	if _, err := p.prompts(id); err != nil {
		return nil, err
	}
	if opts.Fork {
		return nil, fmt.Errorf("%w: forking a simulated session", agent.ErrUnsupported)
	}
	opts.ID = id
	return p.Open(ctx, opts)
}

// Delivered searches the session's file, which lists each accepted prompt, for the uuid of a
// prompt.
func (p *Provider) Delivered(_ context.Context, sessionID, uuid string) (agent.Delivery, error) {
	prompts, err := p.prompts(sessionID)
	if err != nil && !errors.Is(err, agent.ErrNotFound) {
		return agent.DeliveryUnknown, err
	}
	if prompts[uuid] {
		return agent.Delivered, nil
	}
	return agent.DeliveryUnknown, nil
}

// Models returns the simulated agent's only model. No model exists.
func (p *Provider) Models(ctx context.Context) ([]agent.Entry, error) { return p.claude().Models(ctx) }

// Commands returns the slash commands of the simulated agent, in the form of the real CLI.
func (p *Provider) Commands(ctx context.Context) ([]agent.Entry, error) {
	return p.claude().Commands(ctx)
}

// Agents returns an empty list, because the simulated agent has no subagents.
func (p *Provider) Agents(ctx context.Context) ([]agent.Entry, error) { return p.claude().Agents(ctx) }

var validID = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// note appends the uuid of a prompt to the file of a session.
func (p *Provider) note(id, uuid string) error {
	if p.Dir == "" {
		return nil
	}
	root, err := os.OpenRoot(p.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := root.OpenFile(id+".jsonl", os.O_CREATE|os.O_APPEND|os.O_WRONLY|regularfile.NonBlocking, 0o600)
	if err != nil {
		return err
	}
	line, err := json.Marshal(uuid)
	if err == nil && uuid != "" {
		_, err = f.Write(append(line, '\n'))
	}
	return errors.Join(err, f.Close())
}

// prompts returns the uuids of a session's prompts.
func (p *Provider) prompts(id string) (map[string]bool, error) {
	missing := fmt.Errorf("%w: session %q", agent.ErrNotFound, id)
	if p.Dir == "" || !validID.MatchString(id) {
		return nil, missing
	}
	f, err := regularfile.Open(filepath.Join(p.Dir, id+".jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all := map[string]bool{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var uuid string
		if json.Unmarshal(lines.Bytes(), &uuid) == nil {
			all[uuid] = true
		}
	}
	return all, lines.Err()
}
