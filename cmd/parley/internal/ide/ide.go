// Package ide makes the program the agent of an editor.
package ide

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/acp/editor"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeagent"
	"github.com/seed7221b0f9/parley/client/serveragent"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/agents"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/remote"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/internal/supervise"
)

// Flags are the flags of parley acp.
type Flags struct {
	agent          string
	server         string
	cli            string
	login          string
	noPrewarm      bool
	editorFiles    bool
	backgroundWait time.Duration
	keep           bool
	verbose        bool
}

// Register adds the flags.
func (f *Flags) Register(flags *pflag.FlagSet) {
	flags.StringVar(&f.agent, "agent", "", "the agent: claude, codex, sim, acp:COMMAND or a name of parley agents list (default: claude)")
	flags.StringVar(&f.server, "server", "", "use sessions of the server at this `ADDRESS`; the token is in it or in PARLEY_TOKEN")
	flags.StringVar(&f.cli, "cli", "", "the claude program (default $PARLEY_CLI, else the installed one)")
	flags.StringVar(&f.login, "login", "", "log in with `METHOD`, claudeai or console, in this terminal and end")
	flags.BoolVar(&f.noPrewarm, "no-prewarm", false, "do not start an agent before a session is requested")
	flags.BoolVar(&f.editorFiles, "editor-files", false, "keep files in step with the editor's buffers: unsaved text is saved before the agent uses a file")
	flags.DurationVar(&f.backgroundWait, "background-wait", 10*time.Second, "time that a turn waits for its background commands")
	flags.BoolVar(&f.keep, "keep-children", false, agents.KeepHelp)
	flags.BoolVar(&f.verbose, "verbose", false, "write details to the standard error")
}

// logger returns a logger to standard error.
func (f *Flags) logger() *slog.Logger {
	level := slog.LevelWarn
	if f.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(term.StandardError(), &slog.HandlerOptions{Level: level}))
}

// provider returns the agent that the flags select. The default is Claude: an editor must not
// get simulated answers.
func (f *Flags) provider(logger *slog.Logger) (agent.Provider, error) {
	if f.editorFiles && (f.server != "" || f.agent != "" && f.agent != agents.Claude) {
		return nil, term.Usagef("--editor-files goes with the agent claude only, and not with --server")
	}
	if f.server != "" {
		if f.agent != "" || f.cli != "" {
			return nil, term.Usagef("--server goes with neither --agent nor --cli: the server has its own")
		}
		c, err := (&remote.Flags{Server: f.server}).Connect()
		return &serveragent.Provider{Client: c}, err
	}
	switch f.agent {
	case "", agents.Claude:
		path, err := proc.Find(f.cli, os.Environ())
		if e, ok := errors.AsType[*proc.NotFoundError](err); ok {
			path, err = e.Path, later(err, logger)
		}
		return &claudeagent.Provider{Options: claude.Options{CLIPath: path, Logger: logger, Supervisor: supervise.Self(), KeepChildren: f.keep}}, err
	case agents.Codex:
		p, err := agents.NewCodex(os.Environ(), f.keep, logger)
		if errors.Is(err, codex.ErrNotFound) {
			err = later(err, logger)
		}
		return p, err
	case agents.Sim:
		return agents.NewSim(remote.DefaultData(), false), nil
	}
	if command, ok := strings.CutPrefix(f.agent, agents.ACP); ok {
		return agents.NewACP(command, f.keep, logger)
	}
	return agents.Named(f.agent, f.keep, logger)
}

// later makes the first session report a missing agent: an editor shows responses, but little
// output of a program that exits at once.
func later(err error, logger *slog.Logger) error {
	logger.Warn(err.Error())
	return nil
}

// bypass reports whether the CLI allows bypassing permissions: not as root, unless in a sandbox.
func bypass() bool { return os.Geteuid() != 0 || os.Getenv("IS_SANDBOX") == "1" }

// Run serves the editor until it closes the input.
func (f *Flags) Run(ctx context.Context, code *int) error {
	if f.login != "" {
		return f.runLogin(ctx, code)
	}
	dropPlaceholders()
	logger := f.logger()
	p, err := f.provider(logger)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	ignored := make(chan os.Signal, 1)
	signal.Notify(ignored, syscall.SIGPIPE) // a closed pipe ends the input and does not kill the program
	defer signal.Stop(ignored)
	wait := f.backgroundWait
	if wait == 0 {
		wait = -1
	}
	opts := editor.Options{
		Provider: p, Name: "parley", Title: "Parley", Version: claude.Version, AuthMethods: loginMethods(), BackgroundWait: wait, Rest: debug.FreeOSMemory, Logger: logger,
		ClientFiles: f.editorFiles,
		Session:     agent.Options{SettingSources: []string{"user", "project", "local"}, AllowBypass: bypass()},
	}
	if dir, err := os.Getwd(); err == nil && !f.noPrewarm && f.server == "" && filepath.IsAbs(dir) {
		opts.PrewarmDir = dir
	}
	err = editor.Serve(ctx, os.Stdin, term.ProtocolOutput(), opts)
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(term.StandardError(), "parley:", err)
		*code = 1
	}
	return nil
}

// dropPlaceholders removes variables that have their own name as the value. Editors that fill in a variable which is not
// set pass such ones, and they would count more than a stored login.
func dropPlaceholders() {
	for _, name := range []string{"CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_API_KEY"} {
		if os.Getenv(name) == name {
			_ = os.Unsetenv(name) // it fails for invalid names only
		}
	}
}

// loginMethods returns the ways to log in: the editor runs this command with these arguments in
// a terminal.
func loginMethods() []acp.AuthMethod {
	method := func(id, name, description, value string) acp.AuthMethod {
		return acp.AuthMethod{Type: acp.AuthMethodIsTerminal, Value: &acp.AuthMethodTerminal{
			ID: acp.AuthMethodID(id), Name: name, Description: acp.Some(description), Args: []string{"--login", value},
		}}
	}
	return []acp.AuthMethod{
		method("claude-ai-login", "Claude Subscription", "Use a Claude subscription", "claudeai"),
		method("console-login", "Anthropic Console", "Use the Anthropic Console (API usage billing)", "console"),
	}
}

// runLogin runs the CLI's login in this terminal.
func (f *Flags) runLogin(ctx context.Context, code *int) error {
	if f.login != "claudeai" && f.login != "console" {
		return term.Usagef("--login %s: it is claudeai or console", f.login)
	}
	path, err := proc.Find(f.cli, os.Environ())
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, path, "auth", "login", "--"+f.login)
	term.Lend(cmd)
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(term.StandardError(), "parley:", err)
		*code = 1
	}
	return nil
}
