package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/top"
	"github.com/seed7221b0f9/parley/server/api"
)

const topLong = `Top shows what a server does, again and again: its sessions with their state, model, tokens
and cost, the requests that wait for a person, what is spent of each budget, the queue, its
memory, and the time within which 99 of 100 calls were answered. Sessions that need a person
are first.

Ctrl-C ends it. Where standard output is not a terminal, and with --once and --json, it
prints one table or one JSON object and ends. A server that cannot be reached is said, and
asked again.

Exit codes:
    0  ended by Ctrl-C, or one table was printed
    1  the server did not answer, or refused
    2  the command line makes no sense`

// topFlags are the settings of parley top.
type topFlags struct {
	remoteFlags
	once, json, noColor bool
	interval            time.Duration
}

func newTop(code *int) *cobra.Command {
	f := &topFlags{}
	cmd := &cobra.Command{
		Use: "top [flags]", Short: "Show what a server does, live", Long: topLong, Args: term.NoArguments, DisableFlagsInUseLine: true,
		Example: "  parley top\n  parley top --server https://agents.example:7717\n  parley top --once\n  parley top --json | jq '.sessions[] | select(.prompts > 0)'",
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if f.interval < 100*time.Millisecond {
			return term.Usagef("--interval %v is shorter than 100ms", f.interval)
		}
		if err := f.run(cmd.Context()); err != nil {
			fmt.Fprintln(term.StandardError(), "parley:", term.OneLine(err.Error()))
			*code = 1
		}
		return nil
	}
	cmd.Flags().BoolVar(&f.once, "once", false, "print one table and end")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object and end")
	cmd.Flags().DurationVar(&f.interval, "interval", 2*time.Second, "how often the server is asked")
	cmd.Flags().BoolVar(&f.noColor, "no-color", false, "no colours")
	f.register(cmd)
	return cmd
}

func (f *topFlags) run(ctx context.Context) error {
	c, err := f.connect()
	if err != nil {
		return err
	}
	out := term.StandardOutput()
	view := &topView{c: c, server: c.URL(), out: out}
	if f.once || f.json || !out.TTY {
		return view.once(ctx, f.json)
	}
	view.style = topStyle(term.NewPen(out, term.WantColor(f.noColor, os.Getenv)))
	return view.live(ctx, f.interval)
}

// once prints one frame.
func (v *topView) once(ctx context.Context, asJSON bool) error {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	frame, err := v.frame(ctx, 0)
	if err != nil {
		return err
	}
	if !asJSON {
		_, err = fmt.Fprintln(v.out, strings.Join(frame.Lines(v.columns(), 0, top.Style{}), "\n"))
		return err
	}
	data, err := json.Marshal(frame)
	if err != nil {
		return err
	}
	return v.out.WriteJSON(append(data, '\n'))
}

// topStyle are the colours of the view.
func topStyle(p *term.Pen) top.Style {
	look := func(s term.Style) func(string) string { return func(text string) string { return p.Paint(s, text) } }
	return top.Style{Strong: look(term.Bold), Faint: look(term.Dim), Good: look(term.Green), Warn: look(term.Yellow), Bad: look(term.Red)}
}

// topView asks a server and shows what it says.
type topView struct {
	c      *client.Client
	server string
	out    *term.Outlet
	style  top.Style
	usage  top.Usage
	last   top.Frame
}

// maxAsked is how many sessions at most are asked what they have used.
const maxAsked = 100

// columns is the width of the terminal, 0 where there is none.
func (v *topView) columns() int {
	if !v.out.TTY {
		return 0
	}
	columns, _, err := v.out.Size()
	if err != nil {
		return 0
	}
	return columns
}

// frame asks the server. Of the sessions only those that are shown are asked what they used.
func (v *topView) frame(ctx context.Context, rows int) (top.Frame, error) {
	frame := top.Frame{Server: v.server, At: time.Now(), Budgets: []api.Budget{}}
	var list api.ListResult
	if err := call(ctx, v.c, "session.list", api.ListParams{}, &list); err != nil {
		return frame, err
	}
	frame.Sessions = top.Sort(list.Sessions)
	var budgets api.BudgetListResult
	if err := call(ctx, v.c, "budget.list", api.BudgetListParams{}, &budgets); err == nil { // a link to a session may not
		frame.Budgets = append(frame.Budgets, budgets.Budgets...)
	}
	if text, err := v.c.Metrics(ctx); err == nil { // as above
		frame.Metrics = top.ParseMetrics(text)
	}
	asked := min(len(frame.Sessions), maxAsked)
	if rows > 0 {
		asked = min(asked, rows)
	}
	v.usage.Fill(frame.Sessions[:asked], func(session string) (r api.UsageSessionResult, err error) {
		return r, call(ctx, v.c, "usage.session", api.SessionRef{SessionID: session}, &r)
	})
	return frame, ctx.Err()
}

// live shows frames until a signal.
func (v *topView) live(ctx context.Context, interval time.Duration) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	resized := make(chan os.Signal, 1)
	if len(term.ResizeSignals) > 0 {
		signal.Notify(resized, term.ResizeSignals...)
		defer signal.Stop(resized)
	}
	v.out.Control(term.OtherScreen)
	defer v.out.Control(term.OwnScreen)
	v.last = top.Frame{Server: v.server, At: time.Now(), Problem: "asking the server"}
	frames := v.ask(ctx, interval)
	for {
		v.draw()
		select {
		case v.last = <-frames:
		case <-resized:
		case <-ctx.Done():
			for range frames { // until the asking has ended
			}
			return nil
		}
	}
}

// ask asks the server again and again until ctx ends, and gives each answer to the channel,
// which it closes then.
func (v *topView) ask(ctx context.Context, interval time.Duration) <-chan top.Frame {
	frames := make(chan top.Frame)
	go func() {
		defer close(frames)
		var good top.Frame
		for {
			_, rows, err := v.out.Size()
			if err != nil || rows <= 0 {
				rows = 24
			}
			bound, cancel := context.WithTimeout(ctx, askLimit)
			frame, err := v.frame(bound, rows)
			cancel()
			if err == nil {
				good = frame
			} else { // what was is shown, and why it is old
				frame = good
				frame.Server, frame.At, frame.Problem = v.server, time.Now(), "the server does not answer: "+err.Error()
			}
			select {
			case frames <- frame:
			case <-ctx.Done():
				return
			}
			timer := time.NewTimer(interval)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return
			}
		}
	}()
	return frames
}

// askLimit bounds the questions for one frame.
const askLimit = 30 * time.Second

// draw writes the last frame over the one before.
func (v *topView) draw() {
	columns, rows, err := v.out.Size()
	if err != nil || columns <= 0 || rows <= 0 {
		columns, rows = 80, 24
	}
	v.out.Control(term.CursorHome)
	for i, line := range v.last.Lines(columns, rows, v.style) {
		if i > 0 {
			_, _ = v.out.Write([]byte("\n")) // the next question or the end says that the terminal is gone
		}
		_, _ = v.out.Write([]byte(line))
		v.out.Control(term.EraseRight)
	}
	v.out.Control(term.EraseBelow)
}
