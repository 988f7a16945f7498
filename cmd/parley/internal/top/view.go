package top

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/remote"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/server/api"
)

// Options configures the view of a server.
type Options struct {
	Once, JSON, NoColor bool
	Interval            time.Duration
}

// Show shows the view of a server: until a signal on a terminal, else once.
func Show(ctx context.Context, c *client.Client, o Options) error {
	out := term.StandardOutput()
	v := &view{c: c, server: c.URL(), out: out, pen: term.NewPen(out, term.WantColor(o.NoColor, os.Getenv))}
	if o.Once || o.JSON || !out.TTY {
		return v.once(ctx, o.JSON)
	}
	return v.live(ctx, o.Interval)
}

// view queries a server and shows the answers.
type view struct {
	c      *client.Client
	server string
	out    *term.Outlet
	pen    *term.Pen
	usage  Usage
	last   Frame
}

// once prints one frame.
func (v *view) once(ctx context.Context, asJSON bool) error {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	frame, err := v.frame(ctx, 0)
	if err != nil {
		return err
	}
	if !asJSON {
		_, err = fmt.Fprintln(v.out, strings.Join(frame.Lines(v.columns(), 0, &term.Pen{}), "\n"))
		return err
	}
	return v.out.EncodeJSON(frame)
}

// maxAsked limits the sessions that are queried for their usage.
const maxAsked = 100

// columns returns the width of the terminal, or 0 without a terminal.
func (v *view) columns() int {
	if !v.out.TTY {
		return 0
	}
	columns, _, err := v.out.Size()
	if err != nil {
		return 0
	}
	return columns
}

// frame queries the server. It queries the usage only of sessions that are shown.
func (v *view) frame(ctx context.Context, rows int) (Frame, error) {
	frame := Frame{Server: v.server, At: time.Now(), Budgets: []api.Budget{}}
	var list api.ListResult
	if err := remote.Call(ctx, v.c, "session.list", api.ListParams{}, &list); err != nil {
		return frame, err
	}
	frame.Sessions = Sort(list.Sessions)
	var budgets api.BudgetListResult
	if err := remote.Call(ctx, v.c, "budget.list", api.BudgetListParams{}, &budgets); err == nil { // not permitted with a link to a session
		frame.Budgets = append(frame.Budgets, budgets.Budgets...)
	}
	if text, err := v.c.Metrics(ctx); err == nil { // as above
		frame.Metrics = ParseMetrics(text)
	}
	asked := min(len(frame.Sessions), maxAsked)
	if rows > 0 {
		asked = min(asked, rows)
	}
	v.usage.Fill(frame.Sessions[:asked], func(session string) (r api.UsageSessionResult, err error) {
		return r, remote.Call(ctx, v.c, "usage.session", api.SessionRef{SessionID: session}, &r)
	})
	return frame, ctx.Err()
}

// live shows frames until a signal.
func (v *view) live(ctx context.Context, interval time.Duration) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	resized := make(chan os.Signal, 1)
	if len(term.ResizeSignals) > 0 {
		signal.Notify(resized, term.ResizeSignals...)
		defer signal.Stop(resized)
	}
	v.out.Control(term.OtherScreen)
	defer v.out.Control(term.OwnScreen)
	v.last = Frame{Server: v.server, At: time.Now(), Problem: "asking the server"}
	frames := v.ask(ctx, interval)
	for {
		v.draw()
		select {
		case v.last = <-frames:
		case <-resized:
		case <-ctx.Done():
			for range frames { // until the queries have ended
			}
			return nil
		}
	}
}

// ask queries the server repeatedly until ctx ends, sends each answer to the channel, and
// then closes the channel.
func (v *view) ask(ctx context.Context, interval time.Duration) <-chan Frame {
	frames := make(chan Frame)
	go func() {
		defer close(frames)
		var good Frame
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
			} else { // show the old frame with the reason
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

// askLimit limits the queries for one frame.
const askLimit = 30 * time.Second

// draw draws the last frame over the previous one.
func (v *view) draw() {
	columns, rows, err := v.out.Size()
	if err != nil || columns <= 0 || rows <= 0 {
		columns, rows = 80, 24
	}
	v.out.Control(term.CursorHome)
	for i, line := range v.last.Lines(columns, rows, v.pen) {
		if i > 0 {
			_, _ = v.out.Write([]byte("\n")) // the next write or the end reports a closed terminal
		}
		_, _ = v.out.Write([]byte(line))
		v.out.Control(term.EraseRight)
	}
	v.out.Control(term.EraseBelow)
}
