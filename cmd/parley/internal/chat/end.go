package chat

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// twice is the time in which a second Ctrl-C ends the program.
const twice = 2 * time.Second

// watchSignals handles signals in the loop until the returned function is called.
func (c *loop) watchSignals() (stop func()) {
	caught := make(chan os.Signal, 8)
	pipe := make(chan os.Signal, 1)
	signal.Notify(caught, append([]os.Signal{os.Interrupt, syscall.SIGTERM}, term.ResizeSignals...)...)
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		signal.Notify(caught, syscall.SIGHUP)
	}
	signal.Notify(pipe, syscall.SIGPIPE) // otherwise a write without a reader kills the program
	c.work.Go(func() {
		for sig := range caught {
			c.take(sig)
		}
	})
	return func() {
		signal.Stop(caught)
		close(caught)
	}
}

func (c *loop) take(sig os.Signal) {
	switch {
	case term.IsResize(sig):
		c.post(func() {
			if t, ok := c.ui.(*screenUI); ok {
				t.resize()
			}
		})
	case !c.connected.Load():
		c.end(&term.SignalError{Signal: sig})
	case sig == os.Interrupt:
		c.post(func() { c.ctrlC(true) })
	default:
		c.post(func() {
			s, _ := sig.(syscall.Signal)
			c.signal = &term.SignalError{Signal: s}
			c.leave()
		})
	}
}

// ctrlC interrupts the turn or ends the conversation: on the second press within a short time,
// or at once if the input is not a person.
func (c *loop) ctrlC(empty bool) {
	again := time.Since(c.lastCtrlC) < twice
	c.lastCtrlC = time.Now()
	switch {
	case again, !c.busy() && !c.person():
		if c.lines() {
			c.signal = &term.SignalError{Signal: syscall.SIGINT}
		}
		c.leave()
	case c.busy():
		c.interrupt()
	case empty:
		c.note("Ctrl-C again ends the conversation")
	}
}

// interrupt stops the running turn.
func (c *loop) interrupt() {
	if !c.busy() {
		c.note("nothing is running")
		return
	}
	c.interrupts++
	c.note("interrupting; Ctrl-C again ends the program")
	c.do(func(ctx context.Context) func() {
		done, err := c.session.Interrupt(ctx)
		if err != nil && c.ctx.Err() == nil {
			return func() { c.con.Complain("interrupting: " + err.Error()) }
		}
		return func() {
			c.prompts.end(errTakenBack, func(p *prompt) bool { return slices.Contains(done.Dropped, p.id) && p.begun.IsZero() })
		}
	})
}

// leaveLimit is the time that the agent has to end by itself.
const leaveLimit = 3 * time.Second

// leave ends the conversation. It interrupts a running turn, so that the agent ends by itself
// and saves its work; the loop ends when the session has ended.
func (c *loop) leave() {
	if c.leaving {
		return
	}
	c.leaving = true
	busy := c.busy() && !c.o.Agent.Shared
	c.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), leaveLimit)
		defer cancel()
		if busy {
			_, _ = c.session.Interrupt(ctx) // Close does the rest
		}
		if f, ok := c.session.(agent.Finisher); ok && f.Finish(ctx) == nil {
			select {
			case <-c.gone:
			case <-ctx.Done():
			}
		}
		_ = c.session.Close() // the events end with the same error
	})
}

// verdict returns the exit code and shows remaining output.
func (c *loop) verdict(err error) (int, error) {
	if usage, ok := errors.AsType[*term.UsageError](err); ok {
		return 0, usage
	}
	if c.session != nil {
		c.farewell()
	}
	if cause := context.Cause(c.ctx); err != nil && cause != nil {
		err = cause
	}
	if err != nil && c.busy() && !c.leaving {
		c.lost = cmp.Or(c.lost, err)
	}
	v := verdict{}
	switch {
	case c.signal != nil:
		v.code = c.signal.Code()
	case c.leaving && c.lines() && c.lost != nil:
		if v = judge(c.lost, nil, false, ""); c.told {
			v.say = ""
		}
	case c.leaving && c.lines() && c.last != nil && bad(c.last):
		v = judge(nil, c.last, c.interrupts > 0, "")
	case c.leaving && !errors.As(err, new(*term.OutputError)):
	case err != nil && c.o.Agent.Shared:
		v = verdict{term.ExitFailed, err.Error()}
	case err != nil:
		v = judge(err, c.last, false, c.o.Agent.Missing)
	default:
		v = verdict{term.ExitCLIDied, "the agent has ended"}
	}
	if v.say != "" {
		c.con.Complain(v.say)
	}
	return v.code, nil
}

// farewell prints the command that resumes the conversation.
func (c *loop) farewell() {
	c.con.Lock()
	defer c.con.Unlock()
	c.out.live.flush()
	c.con.Out.End()
	id := term.Sanitize(c.session.ID())
	text := "session " + id
	switch {
	case id == "" || c.last == nil:
		return
	case c.o.Agent.Shared:
		return
	case c.o.Agent.Resume != "":
		text += "\ncontinue with: " + c.o.Agent.Resume + " " + id
	default:
		text += " (it is not stored)"
	}
	c.con.Err.Line(c.con.Err.Paint(term.Dim, text))
}
