package launch

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/chat"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/history"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codexagent"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/codex/rollout"
	"github.com/seed7221b0f9/parley/internal/supervise"
)

// codexFlags are the flags of run and chat that apply to Codex.
var codexFlags = []string{
	"agent", "cli", "model", "effort", "system-prompt", "append-system-prompt", "permission-mode", "cwd", "resume", "continue", "continue-from",
	"fork-session", "json-schema", "output", "stream", "quiet", "timeout", "show-thinking", "no-color", "verbose", "keep-children", "help",
}

// codexModes are the permission modes of Codex.
var codexModes = []string{"default", "acceptEdits", "plan", "bypassPermissions"}

// codexAgent returns Codex with the options of the flags.
func (f *Flags) codexAgent(con *term.Console) (chat.Agent, error) {
	if err := f.supports("--agent codex", codexFlags); err != nil {
		return chat.Agent{}, err
	}
	dir, err := filepath.Abs(f.workDirectory)
	switch {
	case err != nil:
		return chat.Agent{}, term.Usagef("--cwd: %v", err)
	case f.mode != "" && !slices.Contains(codexModes, f.mode):
		return chat.Agent{}, term.Usagef("--permission-mode %s is unsupported with --agent codex: it is one of %s", f.mode, strings.Join(codexModes, ", "))
	case f.options.ForkSession && f.options.Resume == "" && !f.options.Continue:
		return chat.Agent{}, term.Usagef("--fork-session goes with --resume or --continue")
	}
	schema, err := readSchema(f.schema)
	if err != nil {
		return chat.Agent{}, term.Usagef("--json-schema: %v", err)
	}
	o := codex.Options{Path: f.options.CLIPath, Logger: f.logger(con), ClientVersion: claude.Version, Supervisor: supervise.Self(), KeepChildren: f.options.KeepChildren}
	if f.options.Effort != "" {
		o.Config = map[string]any{"model_reasoning_effort": f.options.Effort}
	}
	if f.verbose {
		o.OnStderr = con.Pass
	}
	return chat.Agent{
		Open: func(ctx context.Context, _ func(json.RawMessage)) (agent.Session, error) {
			return f.openCodex(ctx, con, &codexagent.Provider{Options: o, OutputSchema: item.JSON(schema)}, dir)
		},
		Resume: "parley chat --agent codex --resume", Missing: "--cli or PARLEY_CODEX names the program, --agent sim a simulated agent.",
	}, nil
}

// openCodex starts a session with the options of the flags.
func (f *Flags) openCodex(ctx context.Context, con *term.Console, p *codexagent.Provider, dir string) (agent.Session, error) {
	opts := agent.Options{
		Dir: dir, Model: f.options.Model, Mode: f.mode, AllowBypass: f.mode == "bypassPermissions", SystemPrompt: f.systemPrompt,
		AppendSystemPrompt: f.appendPrompt, Fork: f.options.ForkSession, Partial: true,
	}
	id, err := f.options.Resume, error(nil)
	switch {
	case id == "" && !f.options.Continue:
		return p.Open(ctx, opts)
	case id == "":
		id, err = newestThread(ctx, dir)
	default:
		id, err = history.CodexThread(ctx, con, id)
	}
	if err != nil {
		return nil, err
	}
	return p.Resume(ctx, id, opts)
}

// newestThread returns the most recently changed session of Codex in a directory.
func newestThread(ctx context.Context, dir string) (string, error) {
	home, err := rollout.DefaultHome()
	if err != nil {
		return "", err
	}
	list, _, err := rollout.Open(home).List(ctx)
	if err != nil {
		return "", err
	}
	for _, s := range list { // the newest first
		if codexagent.SameDir(dir, s.CWD) && s.ParentThreadID == "" && !s.Archived {
			return s.ThreadID, nil
		}
	}
	return "", term.Usagef("--continue: no session of codex in %s", dir)
}
