package proc

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// Stop ends the process step by step: it closes stdin and waits for CloseGrace, calls Terminate and waits
// for TermGrace, calls Kill and waits for KillGrace. An exit ends the steps at once. The first grace is
// important, because the CLI writes its transcript after the end of its input.
//
// Stop returns nil when Done is closed. If the process survives Kill, Stop returns an error and the
// supervision continues. Concurrent calls share the steps, a later call only reports the outcome. Remaining
// output of stdout can still be read.
func (s *Supervisor) Stop() error {
	s.ladderOnce.Do(s.ladder)
	return s.finish()
}

func (s *Supervisor) ladder() {
	_ = s.step(s.stdin.Close, s.opts.CloseGrace) ||
		s.step(s.proc.Terminate, s.opts.TermGrace) ||
		s.step(s.kill, s.opts.KillGrace)
}

// Terminate is Stop without the first grace: stdin is closed and Terminate called at once. During or after a
// Stop it only reports the outcome.
func (s *Supervisor) Terminate() error {
	s.ladderOnce.Do(func() {
		_ = s.step(func() error { return errors.Join(s.stdin.Close(), s.proc.Terminate()) }, s.opts.TermGrace) ||
			s.step(s.kill, s.opts.KillGrace)
	})
	return s.finish()
}

// Kill is Stop without the first two steps. It cuts a running Stop short.
func (s *Supervisor) Kill() error {
	s.step(s.kill, s.opts.KillGrace)
	return s.finish()
}

func (s *Supervisor) kill() error {
	s.killed.Store(true)
	return s.proc.Kill()
}

// Close calls Stop and then releases all resources, including stdout with its unread data.
func (s *Supervisor) Close() error {
	err := s.Stop()
	s.stdout.Close()
	s.stderr.src.Close()
	return err
}

// step calls act and waits for the exit of the process, at most grace. It reports whether the process has
// exited. act runs concurrently, because that of a foreign Process may block.
func (s *Supervisor) step(act func() error, grace time.Duration) bool {
	if isClosed(s.exited) {
		return true
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		s.noteFailure(act())
	}()
	select {
	case <-s.exited:
	case <-timer.C:
		return isClosed(s.exited)
	}
	select {
	case <-returned:
	case <-timer.C:
	}
	return true
}

// finish waits for Done if the process has exited. The work after an exit is limited by DrainDelay, unless a
// foreign stream does not end when it is closed.
func (s *Supervisor) finish() error {
	if isClosed(s.exited) {
		timer := time.NewTimer(s.opts.KillGrace + 4*s.opts.DrainDelay)
		defer timer.Stop()
		select {
		case <-s.done:
		case <-timer.C:
		}
	}
	if isClosed(s.done) {
		return nil
	}
	s.failMu.Lock()
	defer s.failMu.Unlock()
	stuck := fmt.Errorf("process %d has not ended within %v of being killed", s.PID(), s.opts.KillGrace)
	return errors.Join(append([]error{stuck}, s.failures...)...)
}

// noteFailure records the error of a step, in case all steps fail.
func (s *Supervisor) noteFailure(err error) {
	if err == nil || errors.Is(err, os.ErrClosed) {
		return
	}
	s.failMu.Lock()
	defer s.failMu.Unlock()
	s.failures = append(s.failures, err)
}

// within calls f and waits for it, at most d.
func within(d time.Duration, f func() error) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		_ = f()
	}()
	select {
	case <-returned:
	case <-timer.C:
	}
}
