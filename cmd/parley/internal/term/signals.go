package term

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// Signals handles the signals of a run: the first SIGINT interrupts a running turn, any other
// signal ends the run.
type Signals struct {
	end  func(error)
	note func(string)

	caught chan os.Signal
	pipe   chan os.Signal
	work   sync.WaitGroup

	mu          sync.Mutex
	interrupt   func(context.Context) error // nil if no turn is running
	interrupted bool
}

// WatchSignals starts handling signals; end is called with a *SignalError when the run should
// end. Stop restores the default handling.
func WatchSignals(ctx context.Context, end func(error), note func(string)) *Signals {
	s := &Signals{end: end, note: note, caught: make(chan os.Signal, 4), pipe: make(chan os.Signal, 1)}
	signal.Notify(s.caught, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		signal.Notify(s.caught, syscall.SIGHUP)
	}
	// With this, writing to a pipe without a reader returns an error and does not kill the
	// program; an ignored signal would be inherited by the CLI.
	signal.Notify(s.pipe, syscall.SIGPIPE)
	s.work.Go(func() {
		for sig := range s.caught {
			s.take(ctx, sig)
		}
	})
	return s
}

// Stop ends the handling; then SIGINT and the others kill the program.
func (s *Signals) Stop() {
	signal.Stop(s.caught)
	close(s.caught)
	s.work.Wait()
}

// Turn sets the function that interrupts the running turn; nil means no turn.
func (s *Signals) Turn(interrupt func(context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interrupt = interrupt
}

// WasInterrupted reports whether a turn was interrupted.
func (s *Signals) WasInterrupted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.interrupted
}

func (s *Signals) take(ctx context.Context, sig os.Signal) {
	s.mu.Lock()
	interrupt := s.interrupt
	first := sig == os.Interrupt && interrupt != nil && !s.interrupted
	s.interrupted = s.interrupted || first
	s.mu.Unlock()
	if !first {
		s.end(&SignalError{Signal: sig})
		signal.Stop(s.caught) // another signal kills the program
		return
	}
	s.note("interrupting, Ctrl-C again ends the program")
	s.work.Go(func() {
		// If the CLI has ended, the run ends with its own error.
		if err := interrupt(ctx); err != nil && ctx.Err() == nil {
			s.note("interrupting: " + err.Error())
		}
	})
}
