package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// The exit codes; the help explains them.
const (
	exitOK       = 0
	exitFailed   = 1
	exitUsage    = 2
	exitNoCLI    = 3
	exitCLIDied  = 4
	exitSignal   = 128 // plus the signal's number
	exitOnSIGINT = exitSignal + int(syscall.SIGINT)
)

// signalError is a run that a signal ended.
type signalError struct{ sig os.Signal }

func (e *signalError) Error() string { return "ended by signal: " + e.sig.String() }

func (e *signalError) code() int {
	if sig, ok := e.sig.(syscall.Signal); ok {
		return exitSignal + int(sig)
	}
	return exitOnSIGINT
}

// timeoutError is a run that took longer than --timeout.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string { return "timed out after " + e.after.String() }

// outputError is standard output that cannot be written to.
type outputError struct{ err error }

func (e *outputError) Error() string { return "writing the output: " + e.err.Error() }

func (e *outputError) Unwrap() error { return e.err }

// verdict is how a run ended: the exit code and what is left to say about it.
type verdict struct {
	code int
	say  string
}

// judge makes a verdict of the error that the run ended with and of its last
// result. What a failed turn has to say the output has said.
func judge(err error, last *message.Result, interrupted bool) verdict {
	sig, signalled := errors.AsType[*signalError](err)
	timeout, timedOut := errors.AsType[*timeoutError](err)
	output, unwritten := errors.AsType[*outputError](err)
	if stalled, ok := errors.AsType[*claude.StalledError](err); ok && stalled.Phase == "exit" && last != nil {
		err = nil // it did not exit and was stopped, but it has said all that it had to say
	}
	_, failed := errors.AsType[*message.ResultError](err)
	switch {
	case signalled:
		return verdict{code: sig.code()}
	case timedOut:
		return verdict{exitFailed, timeout.Error()}
	case unwritten && errors.Is(output, syscall.EPIPE):
		return verdict{code: exitSignal + int(syscall.SIGPIPE)}
	case unwritten:
		return verdict{exitFailed, output.Error()}
	case interrupted && (err == nil || failed) && (last == nil || last.IsError):
		return verdict{code: exitOnSIGINT}
	case failed:
		return verdict{code: exitFailed}
	case errors.Is(err, claude.ErrNotFound):
		return verdict{exitNoCLI, err.Error() + "\n--cli or PARLEY_CLI tells parley where it is; parley doctor says what was found."}
	case err != nil:
		return verdict{errorCode(err), err.Error()}
	case last == nil:
		return verdict{exitCLIDied, claude.ErrNoResult.Error()}
	case last.IsError:
		return verdict{code: exitFailed}
	}
	return verdict{}
}

// errorCode is the exit code for an error that came before or instead of a
// result.
func errorCode(err error) int {
	var (
		spawn     *claude.SpawnError
		handshake *claude.HandshakeError
		exit      *claude.ExitError
	)
	switch {
	case errors.As(err, &spawn):
		return exitNoCLI
	case errors.As(err, &exit):
		return exitCLIDied
	case errors.As(err, &handshake):
		return exitNoCLI
	case errors.Is(err, context.Canceled):
		return exitFailed
	}
	return exitCLIDied
}
