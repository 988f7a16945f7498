package main

import (
	"context"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// twice is the time in which a second Ctrl-C ends the program.
const twice = 2 * time.Second

// watchSignals posts what the signals of the program mean until the returned
// function is called.
func (c *chatLoop) watchSignals() (stop func()) {
	caught := make(chan os.Signal, 8)
	pipe := make(chan os.Signal, 1)
	signal.Notify(caught, append([]os.Signal{os.Interrupt, syscall.SIGTERM}, term.ResizeSignals...)...)
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		signal.Notify(caught, syscall.SIGHUP)
	}
	signal.Notify(pipe, syscall.SIGPIPE) // else writing without a reader kills the program
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

func (c *chatLoop) take(sig os.Signal) {
	switch {
	case term.IsResize(sig):
		c.post(func() {
			if t, ok := c.ui.(*terminalUI); ok {
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

// ctrlC interrupts the turn, or ends the conversation: twice in a short time, or at once where
// no user types who could be asked once more.
func (c *chatLoop) ctrlC(empty bool) {
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

// interrupt breaks the running turn off.
func (c *chatLoop) interrupt() {
	if !c.busy() {
		c.note("nothing is running")
		return
	}
	c.interrupts++
	c.note("interrupting; Ctrl-C again ends the program")
	c.do(func(ctx context.Context) func() {
		_, err := c.client.Interrupt(ctx)
		if err == nil || c.ctx.Err() != nil {
			return nil
		}
		return func() { c.con.Complain("interrupting: " + err.Error()) }
	})
}

// leaveLimit is how long the CLI may take to end by itself.
const leaveLimit = 3 * time.Second

// leave ends the conversation. What runs is interrupted, so that the CLI ends by
// itself and keeps what it has done; the loop ends when the CLI has.
func (c *chatLoop) leave() {
	if c.leaving {
		return
	}
	c.leaving = true
	busy := c.busy()
	gone := make(chan struct{})
	c.work.Go(func() {
		defer close(gone)
		_ = c.client.Wait() // the messages end with the same
	})
	c.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), leaveLimit)
		defer cancel()
		if busy {
			_, _ = c.client.Interrupt(ctx) // Close does the rest
		}
		c.client.CloseInput()
		select {
		case <-gone:
		case <-ctx.Done():
		}
		c.client.Close()
	})
}
