package proc

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// Stop ends the process step by step: it closes stdin and waits for CloseGrace, calls Terminate and waits
// for TermGrace, calls Kill and waits for KillGrace. An exit ends the steps at once. The first
// grace matters: the CLI writes its transcript after the end of its input.
//
// Stop returns nil when Done is closed. If the process outlives even Kill, Stop returns an error and the
// supervision goes on. Calls at the same time share the steps, a later one only reports. What is left in
// stdout can still be read.
func (s *Supervisor) Stop() error {
	s.ladderOnce.Do(s.ladder)
	return s.finish()
}

func (s *Supervisor) ladder() {
	_ = s.step(s.stdin.Close, s.opts.CloseGrace) ||
		s.step(s.proc.Terminate, s.opts.TermGrace) ||
		s.step(s.kill, s.opts.KillGrace)
}

// Terminate is Stop without the first grace: stdin is closed and Terminate called at once. During a Stop, or
// after it, it only reports.
func (s *Supervisor) Terminate() error {
	s.ladderOnce.Do(func() {
		_ = s.step(func() error { return errors.Join(s.stdin.Close(), s.proc.Terminate()) }, s.opts.TermGrace) ||
			s.step(s.kill, s.opts.KillGrace)
	})
	return s.finish()
}

// Kill is Stop without the first two steps. It cuts short a Stop under way.
func (s *Supervisor) Kill() error {
	s.step(s.kill, s.opts.KillGrace)
	return s.finish()
}

func (s *Supervisor) kill() error {
	s.killed.Store(true)
	return s.proc.Kill()
}

// Close is Stop, and then gives back everything, also stdout with what has not been read of it.
func (s *Supervisor) Close() error {
	err := s.Stop()
	s.stdout.Close()
	s.stderr.src.Close()
	return err
}

// step does act and waits until the process has exited, but not longer than grace. It reports whether it
// has. act runs beside, because that of a foreign Process may block.
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

// finish waits for Done if the process has exited. What follows an exit is bounded by DrainDelay, unless a
// foreign stream does not end when closed.
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

// noteFailure keeps why a step failed, in case that they all did.
func (s *Supervisor) noteFailure(err error) {
	if err == nil || errors.Is(err, os.ErrClosed) {
		return
	}
	s.failMu.Lock()
	defer s.failMu.Unlock()
	s.failures = append(s.failures, err)
}

// within calls f and waits for it, but not longer than d.
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
