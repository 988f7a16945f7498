package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/doctor"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// doctorFlags are the flags of parley doctor.
type doctorFlags struct {
	cli     string
	json    bool
	noColor bool
	timeout time.Duration

	serve    *serveFlags
	serveSet *pflag.FlagSet
}

func newDoctor(code *int) *cobra.Command {
	f := &doctorFlags{serve: &serveFlags{}}
	cmd := &cobra.Command{
		Use:     "doctor [flags]",
		Short:   "Check whether an agent can be run here",
		Long:    doctorLong,
		Example: doctorExample,
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
	fs.StringVar(&f.cli, "cli", "", "the `path` of the agent's CLI (default $PARLEY_CLI, else claude is looked for)")
	fs.DurationVar(&f.timeout, "timeout", 30*time.Second, "how long the CLI may take to start")
	f.registerServer(fs)
	fs.BoolVar(&f.json, "json", false, "write JSON")
	fs.BoolVar(&f.noColor, "no-color", false, "no colours")
	return cmd
}

func (f *doctorFlags) run(ctx context.Context) (int, error) {
	if f.timeout <= 0 {
		return 0, term.Usagef("--timeout %v: it must be more than nothing", f.timeout)
	}
	if f.cli == "" {
		f.cli = os.Getenv("PARLEY_CLI")
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	return term.Run(ctx, f.noColor, func(ctx context.Context, con *term.Console) error {
		checks := doctor.Examine(ctx, doctor.Patient{CLIPath: f.cli, Env: os.Environ(), Dir: dir, Timeout: f.timeout})
		checks = append(checks, f.examineServer(ctx)...)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !f.json:
			f.write(con.Out, checks)
		default:
			if err := writeChecksJSON(con.Out, checks); err != nil {
				return term.OutputFailed(err)
			}
		}
		if con.Out.Err == nil && !doctor.Healthy(checks) {
			return term.ErrFailed
		}
		return nil
	})
}

func writeChecksJSON(to *term.Pen, checks []doctor.Check) error {
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	if err := out.Encode(struct {
		OK     bool           `json:"ok"`
		Checks []doctor.Check `json:"checks"`
	}{doctor.Healthy(checks), checks}); err != nil {
		return err
	}
	to.JSON(text.Bytes())
	return to.Err
}

// write writes a line for each check, and how to mend it.
func (f *doctorFlags) write(to *term.Pen, checks []doctor.Check) {
	marks := map[doctor.Status]string{
		doctor.OK: to.Paint(term.Green, term.OKMark), doctor.Warn: to.Paint(term.Yellow, "!"), doctor.Fail: to.Paint(term.Red, term.FailMark),
	}
	for _, c := range checks {
		to.Line(fmt.Sprintf("%s %-18s %s", marks[c.Status], c.Name, term.OneLine(c.Detail)))
		if c.Fix != "" {
			to.Line(strings.Repeat(" ", 21) + to.Paint(term.Bold, "→ "+term.OneLine(c.Fix)))
		}
	}
	if checks[0].Status == doctor.Fail && f.cli == "" {
		to.Line("Until then parley chat and parley run talk to a simulated agent.")
	}
}
