// Package simagent is the simulated agent as an agent.Provider: canned tours instead of a
// model, spoken over the protocol of the Claude CLI inside this process.
//
// It asks no model, spends nothing and works only in a temporary directory of its own.
// Its sessions can be resumed where the provider has a directory; what was said in them is
// not remembered, because no tour depends on it.
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

// Name is the name of the provider in events, in the messages of a server and on the command
// line.
const Name = "sim"

// Note is a sentence that tells a person what this agent is: a simulation without a model.
const Note = sim.Disclosure

// Provider starts sessions of the simulated agent. Its fields are set before use and not
// changed; its methods may be called from any goroutine.
type Provider struct {
	// Dir holds one small file for each session, the uuids of its prompts. Without it
	// sessions cannot be resumed.
	Dir string
	// Pace is the time between two pieces of text; 0 is 25 ms, a negative one none.
	Pace time.Duration

	once  sync.Once
	inner *claudeagent.Provider
}

var (
	_ agent.Resumer   = (*Provider)(nil)
	_ agent.Catalog   = (*Provider)(nil)
	_ agent.Witness   = (*Provider)(nil)
	_ agent.Simulator = (*Provider)(nil)
)

// Name returns "sim", which is the name of the provider in events and in the messages of a
// server.
func (p *Provider) Name() string { return Name }

// Simulated returns true: the sessions of this provider follow a script and have no model.
func (p *Provider) Simulated() bool { return true }

// claude is the provider of the CLI that is simulated.
func (p *Provider) claude() *claudeagent.Provider {
	p.once.Do(func() {
		p.inner = &claudeagent.Provider{As: Name, Options: claude.Options{
			Spawner: fakecli.InProcess(sim.Program), CLIPath: "simulated", Env: p.env(), CleanEnv: true,
		}}
	})
	return p.inner
}

// env is the environment of the simulated CLI, which has nothing of the caller's.
func (p *Provider) env() map[string]string {
	env := map[string]string{}
	switch {
	case p.Pace > 0:
		env[sim.PaceVariable] = strconv.FormatInt(p.Pace.Milliseconds(), 10)
	case p.Pace < 0:
		env[sim.PaceVariable] = "0"
	}
	return env
}

// Open starts a simulated agent. Of the options it takes what concerns the conversation;
// it has no environment, no MCP servers and no subagents.
func (p *Provider) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	s, err := p.claude().Open(ctx, agent.Options{ID: opts.ID, Mode: opts.Mode, AllowBypass: opts.AllowBypass, Model: opts.Model, Partial: opts.Partial})
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

// Delivered looks for a prompt, by its uuid, in the session's file, which notes each prompt it
// took.
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

// Models returns the one model that the simulated agent claims to have. No model exists.
func (p *Provider) Models(ctx context.Context) ([]agent.Entry, error) { return p.claude().Models(ctx) }

// Commands returns the slash commands that the simulated agent lists, as the real CLI lists its
// own.
func (p *Provider) Commands(ctx context.Context) ([]agent.Entry, error) {
	return p.claude().Commands(ctx)
}

// Agents returns an empty list, because the simulated agent has no subagents that could be
// started.
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

// prompts are the uuids of a session's prompts.
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
