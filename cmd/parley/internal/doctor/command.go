package doctor

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/agents"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// Server checks whether a server can run here.
type Server interface {
	// Register adds the flags of the server.
	Register(fs *pflag.FlagSet)
	// Examine runs the checks.
	Examine(ctx context.Context) []Check
}

// flags are the flags of parley doctor.
type flags struct {
	cli     string
	json    bool
	noColor bool
	timeout time.Duration

	server Server
}

// New returns the command parley doctor.
func New(code *int, server Server) *cobra.Command {
	f := &flags{server: server}
	cmd := &cobra.Command{
		Use:     "doctor [flags]",
		Short:   "Check whether agents can run here",
		Long:    long,
		Example: example,
		Args:    term.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			*code, err = f.run(cmd.Context())
			return err
		},
		ValidArgsFunction:     cobra.NoFileCompletions,
		DisableFlagsInUseLine: true,
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.cli, "cli", "", "the `path` of the agent's CLI (default $PARLEY_CLI, else claude is searched for)")
	fs.DurationVar(&f.timeout, "timeout", 30*time.Second, "time limit for the start of the CLI")
	f.server.Register(fs)
	fs.BoolVar(&f.json, "json", false, "write JSON")
	fs.BoolVar(&f.noColor, "no-color", false, "disable colours")
	return cmd
}

func (f *flags) run(ctx context.Context) (int, error) {
	if f.timeout <= 0 {
		return 0, term.Usagef("--timeout %v: it must be positive", f.timeout)
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	return term.Run(ctx, f.noColor, func(ctx context.Context, con *term.Console) error {
		checks := Examine(ctx, Patient{CLIPath: f.cli, Env: os.Environ(), Dir: dir, Timeout: f.timeout, Others: agents.Others()})
		checks = append(checks, f.server.Examine(ctx)...)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !f.json:
			f.write(con.Out, checks)
		default:
			if err := con.Out.Encode(struct {
				OK     bool    `json:"ok"`
				Checks []Check `json:"checks"`
			}{Healthy(checks), checks}, "  "); err != nil {
				return term.OutputFailed(err)
			}
		}
		if con.Out.Err == nil && !Healthy(checks) {
			return term.ErrFailed
		}
		return nil
	})
}

// write writes a line for each check, with the fix.
func (f *flags) write(to *term.Pen, checks []Check) {
	marks := map[Status]string{
		OK: to.Paint(term.Green, term.OKMark), Warn: to.Paint(term.Yellow, "!"), Fail: to.Paint(term.Red, term.FailMark),
	}
	for _, c := range checks {
		to.Line(fmt.Sprintf("%s %-18s %s", marks[c.Status], c.Name, term.OneLine(c.Detail)))
		if c.Fix != "" {
			to.Line(strings.Repeat(" ", 21) + to.Paint(term.Bold, "→ "+term.OneLine(c.Fix)))
		}
	}
	if checks[0].Status == Fail && f.cli == "" {
		to.Line("Until then a simulated agent answers parley chat and parley run on a terminal; --agent sim selects it elsewhere.")
	}
}

const long = `Check whether an agent's CLI can run here, and suggest remedies if it cannot.

The command searches the CLI like parley run and parley chat, checks its file, and
starts it to read its version; it does not use a model and causes no cost. Without
Claude Code, another installed agent is enough. It searches
credentials by name and never shows them. For parley serve it checks the port, the data
directory, the tokens, the disk and NATS, according to its settings.

Each check has a line with ✓, ! for a possible problem, or ✗.

Exit codes:
    0  an agent and a server can run
    1  something essential is missing
    2  invalid command line`

const example = `  parley doctor
  parley doctor --cli ~/.local/bin/claude
  parley doctor --json | jq '.checks[] | select(.status != "ok")'`
