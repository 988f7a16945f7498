package term

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// Signals turns the signals of the program into what they mean for a run: the
// first SIGINT interrupts the turn, if one is under way, anything else ends the
// run.
type Signals struct {
	end  func(error)
	note func(string)

	caught chan os.Signal
	pipe   chan os.Signal
	work   sync.WaitGroup

	mu          sync.Mutex
	interrupt   func(context.Context) error // nil when no turn is under way
	interrupted bool
}

// WatchSignals begins to watch; end is called with a *signalError when the run
// is to end. The signals are the program's until stop.
func WatchSignals(ctx context.Context, end func(error), note func(string)) *Signals {
	s := &Signals{end: end, note: note, caught: make(chan os.Signal, 4), pipe: make(chan os.Signal, 1)}
	signal.Notify(s.caught, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		signal.Notify(s.caught, syscall.SIGHUP)
	}
	// With this, writing to a pipe without a reader is an error and does not kill the program;
	// ignoring the signal would be passed on to the CLI.
	signal.Notify(s.pipe, syscall.SIGPIPE)
	s.work.Go(func() {
		for sig := range s.caught {
			s.take(ctx, sig)
		}
	})
	return s
}

// Stop ends the watching; from here on SIGINT and the others kill the program.
func (s *Signals) Stop() {
	signal.Stop(s.caught)
	close(s.caught)
	s.work.Wait()
}

// Turn sets the function that interrupts the turn under way; nil means that none is.
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
		signal.Stop(s.caught) // one more and the program is gone at once
		return
	}
	s.note("interrupting, Ctrl-C again ends the program")
	s.work.Go(func() {
		// The run ends with its own error where the CLI is gone.
		if err := interrupt(ctx); err != nil && ctx.Err() == nil {
			s.note("interrupting: " + err.Error())
		}
	})
}
