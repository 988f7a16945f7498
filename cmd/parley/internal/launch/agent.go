package launch

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeagent"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/agents"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/chat"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/replay"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/internal/fakecli"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/internal/sim"
)

// choose returns the agent that the flags select, with o as its options if it runs Claude. The
// default is the CLI; if it is not installed and the output goes to a person, it is the simulated
// agent. run is set for a single prompt.
func (f *Flags) choose(o *claude.Options, con *term.Console, run, person bool) (chat.Agent, error) {
	dir, recorded := strings.CutPrefix(f.agent, agents.Replay)
	command, acp := strings.CutPrefix(f.agent, agents.ACP)
	switch {
	case f.server != "" || f.session != "":
		return f.serverAgent(con)
	case f.agent != "" && f.agent != agents.Claude && f.agent != agents.Codex && f.changed("cli"):
		return chat.Agent{}, term.Usagef("--cli goes with --agent claude, not with %s", f.agent)
	case f.agent == agents.Codex:
		return f.codexAgent(con)
	case acp:
		p, err := agents.NewACP(command, f.options.KeepChildren, f.logger(con))
		if err != nil {
			return chat.Agent{}, err
		}
		return f.acpAgent(p)
	case f.atOnce && !recorded:
		return chat.Agent{}, term.Usagef("--at-once goes with --agent replay:DIR")
	case recorded:
		note, err := replay.Use(o, dir, f.atOnce, run)
		return chat.Agent{Note: note, Lines: true, Open: openClaude(o, agents.Claude, !run)}, err
	case f.agent == agents.Sim && f.schema != "":
		return chat.Agent{}, term.Usagef("--json-schema needs a model, and --agent sim has none")
	case f.agent == agents.Sim:
		return simAgent(o, run, sim.Disclosure), nil
	case f.agent != "" && f.agent != agents.Claude:
		p, err := agents.Named(f.agent, f.options.KeepChildren, f.logger(con))
		if err != nil {
			return chat.Agent{}, err
		}
		return f.acpAgent(p)
	}
	if f.agent == "" && o.CLIPath == "" && person && f.output == chat.OutputText && f.schema == "" {
		// A program that reads the answer must not get a simulated one.
		_, err := proc.Find("", os.Environ())
		if e, ok := errors.AsType[*proc.NotFoundError](err); ok && e.Path == "" {
			return simAgent(o, run, "There is no claude on this machine (parley doctor has details). "+sim.Disclosure), nil
		}
	}
	return chat.Agent{
		Lines: true, Open: openClaude(o, agents.Claude, !run), Resume: "parley chat --resume",
		Missing: "parley doctor lists what was found. --cli or PARLEY_CLI names the program, --agent sim a simulated agent.",
	}, nil
}

// openClaude opens a session with the CLI that o names. Unless ask is set, the CLI denies calls
// that need permission. Options that the CLI refuses are a usage error.
func openClaude(o *claude.Options, name string, ask bool) func(context.Context, func(json.RawMessage)) (agent.Session, error) {
	return func(ctx context.Context, onLine func(json.RawMessage)) (agent.Session, error) {
		s, err := (&claudeagent.Provider{Options: *o, As: name}).Connect(ctx, ask, onLine)
		if err == nil {
			return s, nil
		}
		var (
			notFound  *claude.CLINotFoundError
			spawn     *claude.SpawnError
			handshake *claude.HandshakeError
			failed    *message.ResultError
		)
		switch {
		case errors.As(err, &notFound), errors.As(err, &spawn), errors.As(err, &handshake), errors.As(err, &failed), ctx.Err() != nil:
			return nil, err
		}
		return nil, &term.UsageError{Text: err.Error(), Plain: true}
	}
}

func simAgent(o *claude.Options, run bool, note string) chat.Agent {
	useSim(o)
	return chat.Agent{Note: note, Must: true, Mark: sim.Mark, Lines: true, Open: openClaude(o, agents.Sim, !run)}
}

// acpAgentFlags are the flags of run and chat that apply to an agent of the Agent Client
// Protocol.
var acpAgentFlags = []string{
	"agent", "model", "effort", "permission-mode", "cwd", "add-dir", "resume", "continue-from", "output", "stream", "quiet", "timeout", "show-thinking", "no-color", "verbose", "keep-children", "help",
}

// supports returns an error for flags that cannot be combined with another one.
func (f *Flags) supports(with string, flags []string) error {
	var bad string
	f.visit(func(flag *pflag.Flag) {
		if !slices.Contains(flags, flag.Name) && bad == "" {
			bad = flag.Name
		}
	})
	if bad != "" {
		return term.Usagef("--%s is unsupported with %s", bad, with)
	}
	return nil
}

// logger returns a logger for the agent's package, if logging is enabled.
func (f *Flags) logger(con *term.Console) *slog.Logger {
	if f.verbose {
		return slog.New(slog.NewTextHandler(con.Err.W, nil))
	}
	return slog.New(slog.DiscardHandler)
}

// acpAgent returns an agent that speaks the Agent Client Protocol.
func (f *Flags) acpAgent(p *acpagent.Provider) (chat.Agent, error) {
	if err := f.supports("--agent "+f.agent, acpAgentFlags); err != nil {
		return chat.Agent{}, err
	}
	dir, err := filepath.Abs(f.workDirectory)
	if err != nil {
		return chat.Agent{}, term.Usagef("--cwd: %v", err)
	}
	opts := agent.Options{Dir: dir, AdditionalDirectories: f.options.AdditionalDirectories, Model: f.options.Model, Effort: string(f.options.Effort), Mode: f.mode, AllowBypass: f.mode == "bypassPermissions", Partial: true}
	open := func(ctx context.Context, _ func(json.RawMessage)) (agent.Session, error) {
		if f.options.Resume != "" {
			return p.Resume(ctx, f.options.Resume, opts)
		}
		return p.Open(ctx, opts)
	}
	return chat.Agent{Open: open, Resume: `parley chat --agent "` + f.agent + `" --resume`, Missing: "parley agents list shows the installed agents; acp:COMMAND names a program and its arguments."}, nil
}

// simEnv are the environment variables that the simulated agent inherits.
var simEnv = []string{"PATH", "TMPDIR", "TMP", "TEMP", "PATHEXT", "COMSPEC", "GOCOVERDIR", sim.PaceVariable}

// useSim makes o run the simulated agent, which is this executable.
func useSim(o *claude.Options) {
	fake := fakecli.Options(sim.Name)
	o.CLIPath, o.Env, o.CleanEnv = fake.CLIPath, fake.Env, fake.CleanEnv
	for _, name := range simEnv {
		if value, ok := os.LookupEnv(name); ok {
			o.Env[name] = value
		}
	}
}
