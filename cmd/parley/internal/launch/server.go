package launch

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/client/serveragent"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/chat"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/remote"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// The flags of run and chat that apply to a session on a server, and to a new one there.
var (
	sessionFlags    = []string{"server", "session", "output", "stream", "quiet", "timeout", "show-thinking", "no-color", "continue-from", "help"}
	newSessionFlags = []string{
		"agent", "model", "effort", "fallback-model", "system-prompt", "append-system-prompt", "permission-mode", "allowed-tools", "disallowed-tools", "max-turns", "max-budget-usd", "cwd", "add-dir", "machine",
	}
)

// serverAgent returns a session on a server: the one that --session names, or a new one.
func (f *Flags) serverAgent(con *term.Console) (chat.Agent, error) {
	with, flags := "--session", sessionFlags
	if f.session == "" {
		with, flags = "--server", slices.Concat(sessionFlags, newSessionFlags)
	}
	if err := f.supports(with, flags); err != nil {
		return chat.Agent{}, err
	}
	return chat.Agent{Shared: true, Open: func(ctx context.Context, _ func(json.RawMessage)) (agent.Session, error) {
		c, err := (&remote.Flags{Server: f.server, Data: remote.DefaultData()}).Connect()
		if err == nil {
			err = remote.Reach(ctx, c)
		}
		if err != nil {
			return nil, err
		}
		s, err := f.openOn(ctx, &serveragent.Provider{Client: c, Agent: f.agent, Machine: f.machine})
		if err == nil && f.session == "" && !f.quiet {
			con.Note("session " + s.ID() + "; continue with: parley attach " + s.ID())
		}
		return s, err
	}}, nil
}

func (f *Flags) openOn(ctx context.Context, p *serveragent.Provider) (agent.Session, error) {
	if f.session != "" {
		return p.Resume(ctx, f.session, agent.Options{})
	}
	o := &f.options
	opts := agent.Options{
		Model: o.Model, Effort: string(o.Effort), FallbackModel: o.FallbackModel, Mode: f.mode, SystemPrompt: f.systemPrompt, AppendSystemPrompt: f.appendPrompt,
		AllowedTools: o.AllowedTools, DisallowedTools: o.DisallowedTools, AdditionalDirectories: o.AdditionalDirectories, MaxTurns: int64(o.MaxTurns), Partial: true,
	}
	if f.changed("max-budget-usd") {
		opts.MaxBudgetUSD = &f.budget
	}
	switch {
	case !f.changed("cwd"):
	case f.machine != "":
		opts.Dir = f.workDirectory
	default:
		var err error
		if opts.Dir, err = filepath.Abs(f.workDirectory); err != nil {
			return nil, term.Usagef("--cwd: %v", err)
		}
	}
	return p.Open(ctx, opts)
}

// TalkOn runs a conversation with a session on a server and returns the exit code.
func TalkOn(ctx context.Context, s agent.Session) (int, error) {
	open := func(context.Context, func(json.RawMessage)) (agent.Session, error) { return s, nil }
	con := term.NewConsole(term.WantColor(false, os.Getenv))
	return chat.Talk(ctx, chat.Options{Console: con, Agent: chat.Agent{Open: open, Shared: true}})
}
