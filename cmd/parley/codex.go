package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codexagent"
	"github.com/seed7221b0f9/parley/codex/rollout"
)

// codexFlags are the flags of run and chat that mean something to Codex.
var codexFlags = []string{
	"agent", "cli", "model", "effort", "system-prompt", "append-system-prompt", "permission-mode", "cwd", "resume", "continue", "continue-from",
	"fork-session", "output", "stream", "quiet", "timeout", "show-thinking", "no-color", "verbose", "help",
}

// codexModes are the permission modes that Codex has.
var codexModes = []string{"default", "acceptEdits", "plan", "bypassPermissions"}

// checkCodex refuses flags that Codex has nothing for. An error is one of usage.
func (f *runFlags) checkCodex() error {
	var bad string
	f.visit(func(flag *pflag.Flag) {
		if !slices.Contains(codexFlags, flag.Name) && bad == "" {
			bad = flag.Name
		}
	})
	switch {
	case bad != "":
		return term.Usagef("--%s is unsupported with --agent codex", bad)
	case f.mode != "" && !slices.Contains(codexModes, f.mode):
		return term.Usagef("--permission-mode %s is unsupported with --agent codex: it is one of %s", f.mode, strings.Join(codexModes, ", "))
	case f.options.ForkSession && f.options.Resume == "" && !f.options.Continue:
		return term.Usagef("--fork-session goes with --resume or --continue")
	}
	return nil
}

// codexProvider is Codex as the flags ask for it.
func (f *runFlags) codexProvider(con *term.Console) *codexagent.Provider {
	o := codex.Options{Path: f.options.CLIPath, Logger: slog.New(slog.DiscardHandler), ClientVersion: claude.Version}
	if o.Path == "" {
		o.Path = os.Getenv("PARLEY_CODEX")
	}
	if f.options.Effort != "" {
		o.Config = map[string]any{"model_reasoning_effort": f.options.Effort}
	}
	if f.verbose {
		o.OnStderr = con.Pass
		o.Logger = slog.New(slog.NewTextHandler(con.Err.W, nil))
	}
	return &codexagent.Provider{Options: o}
}

// openCodex starts a session as the flags ask for it.
func (f *runFlags) openCodex(ctx context.Context, con *term.Console) (agent.Session, error) {
	dir, err := filepath.Abs(f.workDirectory)
	if err != nil {
		return nil, term.Usagef("--cwd: %v", err)
	}
	opts := agent.Options{
		Dir: dir, Model: f.options.Model, Mode: f.mode, AllowBypass: f.mode == "bypassPermissions", SystemPrompt: f.systemPrompt,
		AppendSystemPrompt: f.appendPrompt, Fork: f.options.ForkSession, Partial: true,
	}
	p := f.codexProvider(con)
	id := f.options.Resume
	switch {
	case id == "" && !f.options.Continue:
		return p.Open(ctx, opts)
	case id == "":
		id, err = newestThread(ctx, dir)
	default:
		id, err = resumedThread(ctx, con, id)
	}
	if err != nil {
		return nil, err
	}
	return p.Resume(ctx, id, opts)
}

// newestThread is the session of Codex in a directory that changed last.
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
		if sameDir(dir, s.CWD) && s.ParentThreadID == "" && !s.Archived {
			return s.ThreadID, nil
		}
	}
	return "", term.Usagef("--continue: there is no session of codex in %s", dir)
}

// resumedThread is the session of Codex that --resume means.
func resumedThread(ctx context.Context, con *term.Console, arg string) (string, error) {
	home, err := rollout.DefaultHome()
	if err != nil {
		return "", err
	}
	id, err := (&sessionWork{ctx: ctx, con: con, codexHome: home}).thread(arg)
	if err != nil {
		return "", term.Usagef("--resume: %v", err)
	}
	return id, nil
}

// codexVerdict is the exit code of a conversation with Codex, and what is left to say.
func codexVerdict(err error, last *event.ResultMessage, interrupted bool) verdict {
	exit, died := errors.AsType[*codex.ExitError](err)
	spawned := errors.As(err, new(*codex.SpawnError)) || errors.As(err, new(*codex.HandshakeError))
	switch {
	case errors.Is(err, agent.ErrNotInstalled):
		return verdict{term.ExitNoCLI, err.Error() + "\n--cli or PARLEY_CODEX tells parley where it is."}
	case spawned:
		return verdict{term.ExitNoCLI, err.Error()}
	case died:
		return verdict{term.ExitCLIDied, exit.Error()}
	case err != nil:
		return judge(err, nil, interrupted)
	case interrupted:
		return verdict{code: term.ExitOnSIGINT}
	case last == nil:
		return verdict{term.ExitCLIDied, "codex ended without a result"}
	case last.IsError || last.Subtype == "interrupted":
		return verdict{code: term.ExitFailed}
	}
	return verdict{}
}

// requestText says what an agent asks for, on one line.
func requestText(r *event.PermissionRequest) string {
	name := r.DisplayName
	if name == "" {
		name = r.ToolName
	}
	text := name
	if command, ok := r.Input.Member("command"); ok && command.Text() != "" {
		text += " " + command.Text()
	} else if r.Input != "" {
		text += " " + string(r.Input)
	}
	if r.Description != "" {
		text = fmt.Sprintf("%s (%s)", text, r.Description)
	}
	return term.OneLine(text)
}
