// Package usage has the commands below parley usage.
package usage

import (
	"context"
	"fmt"
	"os"
	"time"
	_ "time/tzdata" // for systems without time zone data

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/transcript/usage"
)

// report is a subcommand of parley usage.
type report struct {
	name, short string
	by          usage.By // "" is blocks
}

var reports = []report{
	{"daily", "Tokens and cost by day", usage.ByDay},
	{"weekly", "Tokens and cost by week", usage.ByWeek},
	{"monthly", "Tokens and cost by month", usage.ByMonth},
	{"hourly", "Tokens and cost by hour", usage.ByHour},
	{"session", "Tokens and cost by session, compared with the CLI's own bill", usage.BySession},
	{"project", "Tokens and cost by project", usage.ByProject},
	{"model", "Tokens and cost by model", usage.ByModel},
	{"branch", "Tokens and cost by Git branch", usage.ByBranch},
	{"agent", "Tokens and cost by subagent", usage.ByAgent},
	{"blocks", "Tokens and cost by blocks of five hours, with burn rate and projection", ""},
}

func New(code *int) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "usage",
		Short:   "Show the usage and the cost of sessions",
		Long:    usageLong,
		Example: usageExample,
		Args:    term.NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, r := range reports {
		cmd.AddCommand(newReport(code, r))
	}
	return cmd
}

func newReport(code *int, r report) *cobra.Command {
	f := &reportFlags{}
	cmd := &cobra.Command{
		Use:   r.name + " [flags]",
		Short: r.short,
		Args:  term.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			*code, err = f.run(cmd.Context(), r)
			return err
		},
		ValidArgsFunction:     cobra.NoFileCompletions,
		DisableFlagsInUseLine: true,
	}
	if f.weekStart = ""; r.name != "weekly" {
		f.weekStart = weekdays[0]
	}
	f.register(cmd, r.name)
	return cmd
}

func (f *reportFlags) run(ctx context.Context, r report) (int, error) {
	v, err := f.view()
	if err != nil {
		return 0, err
	}
	return term.Run(ctx, f.noColor, func(ctx context.Context, con *term.Console) error { return f.show(ctx, con, r, v) })
}

// show scans the sessions and writes the report; with --live repeatedly.
func (f *reportFlags) show(ctx context.Context, con *term.Console, r report, v usage.View) error {
	bar := newProgress(con, f.now)
	found, err := f.scan(ctx, bar.update)
	bar.clear()
	if err != nil {
		return err
	}
	if f.live {
		return f.watch(ctx, con, r, v, found)
	}
	return f.write(con, r, v, found)
}

// write writes the report once.
func (f *reportFlags) write(con *term.Console, r report, v usage.View, l *totals) error {
	if f.json {
		if err := f.writeJSON(con.Out, r, v, l.Ledger); err != nil {
			return term.OutputFailed(err)
		}
		return nil
	}
	lines, notes := f.lines(con.Out, r, v, l.Ledger)
	for _, line := range lines {
		con.Out.Line(line)
	}
	for _, note := range append(notes, l.notes()...) {
		con.Note(note)
	}
	return nil
}

// liveRows is the number of rows of --live on a terminal.
const liveRows = 10

// watch writes the report again when it has changed or, on a terminal, when the time
// changes it. It runs until ctx ends.
func (f *reportFlags) watch(ctx context.Context, con *term.Console, r report, v usage.View, l *totals) error {
	tick := time.NewTicker(f.interval)
	defer tick.Stop()
	redraw := con.Out.TTY && !f.json && os.Getenv("TERM") != "dumb"
	if redraw && f.last == 0 {
		f.last = liveRows
	}
	var last int64 = -1
	for {
		if bytes := l.bytes(); bytes != last || redraw {
			last = bytes
			if redraw {
				con.Out.Control(term.EraseScreen)
			}
			if err := f.write(con, r, v, l); err != nil {
				return err
			}
			if con.Out.Err != nil {
				return term.OutputFailed(con.Out.Err)
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		if err := l.update(ctx); err != nil {
			return err
		}
	}
}

// progress shows the progress of a long scan on a terminal.
type progress struct {
	to    *term.Pen // nil without a terminal
	now   func() time.Time
	start time.Time
	last  time.Time
	shown bool
}

// quietly is the delay before progress is shown.
const quietly = 300 * time.Millisecond

func newProgress(con *term.Console, now func() time.Time) *progress {
	p := &progress{now: now, start: now()}
	if con.Err.TTY {
		p.to = con.Err
	}
	return p
}

func (p *progress) update(done, total int64) {
	now := p.now()
	if p.to == nil || now.Sub(p.start) < quietly || now.Sub(p.last) < 100*time.Millisecond {
		return
	}
	p.last, p.shown = now, true
	p.to.Control(term.EraseLine)
	fmt.Fprintf(p.to.W, "reading sessions: %d %% of %.1f GB", 100*done/max(1, total), float64(total)/1e9)
}

func (p *progress) clear() {
	if p.shown {
		p.to.Control(term.EraseLine)
	}
}
