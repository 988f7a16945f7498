package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
	_ "time/tzdata" // where the system has no time zones

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/transcript/usage"
)

// ledgerReport is one of the commands below parley usage.
type ledgerReport struct {
	name, short string
	by          usage.By // "" is blocks
}

var ledgerReports = []ledgerReport{
	{"daily", "Tokens and cost by day", usage.ByDay},
	{"weekly", "Tokens and cost by week", usage.ByWeek},
	{"monthly", "Tokens and cost by month", usage.ByMonth},
	{"hourly", "Tokens and cost by hour", usage.ByHour},
	{"session", "Tokens and cost by session, beside the CLI's own bill", usage.BySession},
	{"project", "Tokens and cost by project", usage.ByProject},
	{"model", "Tokens and cost by model", usage.ByModel},
	{"branch", "Tokens and cost by Git branch", usage.ByBranch},
	{"agent", "Tokens and cost by subagent", usage.ByAgent},
	{"blocks", "Tokens and cost by blocks of five hours, with burn rate and projection", ""},
}

func newUsage(code *int) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "usage",
		Short:   "Show what sessions have used and cost",
		Long:    usageLong,
		Example: usageExample,
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, r := range ledgerReports {
		cmd.AddCommand(newLedgerReport(code, r))
	}
	return cmd
}

func newLedgerReport(code *int, r ledgerReport) *cobra.Command {
	f := &ledgerFlags{}
	cmd := &cobra.Command{
		Use:   r.name + " [flags]",
		Short: r.short,
		Args:  noArguments,
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

func (f *ledgerFlags) run(ctx context.Context, r ledgerReport) (int, error) {
	v, err := f.view()
	if err != nil {
		return 0, err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	con := newConsole(wantColor(f.noColor, os.Getenv))
	sigs := watchSignals(ctx, end, con.note)
	defer sigs.stop()
	err = f.show(ctx, con, r, v)
	if err == nil {
		err = con.out.err
		if err != nil {
			err = &outputError{err}
		}
	}
	switch {
	case err == nil:
		return exitOK, nil
	case ctx.Err() != nil:
		return judge(context.Cause(ctx), nil, false).code, nil
	}
	if output, ok := errors.AsType[*outputError](err); ok {
		return judge(output, nil, false).code, nil
	}
	con.complain(err.Error())
	return exitFailed, nil
}

// show scans, and writes the report; with --live again and again.
func (f *ledgerFlags) show(ctx context.Context, con *console, r ledgerReport, v usage.View) error {
	bar := newProgress(con, f.now)
	ledger, err := f.scan(ctx, bar.update)
	bar.clear()
	if err != nil {
		return err
	}
	if f.live {
		return f.watch(ctx, con, r, v, ledger)
	}
	return f.write(con, r, v, ledger)
}

// write writes the report once.
func (f *ledgerFlags) write(con *console, r ledgerReport, v usage.View, l *books) error {
	if f.json {
		if err := f.writeJSON(con.out, r, v, l.Ledger); err != nil {
			return &outputError{err}
		}
		return nil
	}
	lines, notes := f.lines(con.out, r, v, l.Ledger)
	for _, line := range lines {
		con.out.line(line)
	}
	for _, note := range append(notes, l.notes()...) {
		con.note(note)
	}
	return nil
}

// liveRows is how many rows --live shows on a terminal, which has no room for all.
const liveRows = 10

// watch writes the report again whenever it has changed, or, on a terminal, when
// the time does it. Only the end of ctx ends it.
func (f *ledgerFlags) watch(ctx context.Context, con *console, r ledgerReport, v usage.View, l *books) error {
	tick := time.NewTicker(f.interval)
	defer tick.Stop()
	redraw := con.out.tty && !f.json && os.Getenv("TERM") != "dumb"
	if redraw && f.last == 0 {
		f.last = liveRows
	}
	var last int64 = -1
	for {
		if bytes := l.bytes(); bytes != last || redraw {
			last = bytes
			if redraw {
				con.out.control(eraseScreen)
			}
			if err := f.write(con, r, v, l); err != nil {
				return err
			}
			if con.out.err != nil {
				return &outputError{con.out.err}
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

// progress shows how far the reading is, on a terminal, when it takes long.
type progress struct {
	to    *pen // nil where there is no terminal to show it on
	now   func() time.Time
	start time.Time
	last  time.Time
	shown bool
}

// quietly is how long nothing is shown.
const quietly = 300 * time.Millisecond

func newProgress(con *console, now func() time.Time) *progress {
	p := &progress{now: now, start: now()}
	if con.err.tty {
		p.to = con.err
	}
	return p
}

func (p *progress) update(done, total int64) {
	now := p.now()
	if p.to == nil || now.Sub(p.start) < quietly || now.Sub(p.last) < 100*time.Millisecond {
		return
	}
	p.last, p.shown = now, true
	p.to.control(eraseLine)
	fmt.Fprintf(p.to.w, "reading sessions: %d %% of %.1f GB", 100*done/max(1, total), float64(total)/1e9)
}

func (p *progress) clear() {
	if p.shown {
		p.to.control(eraseLine)
	}
}
