package main

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// timeoutError is a run that took longer than --timeout.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string { return "timed out after " + e.after.String() }

// verdict is how a run ended: the exit code and what is left to say about it.
type verdict struct {
	code int
	say  string
}

// judge makes a verdict of the error that the run ended with and of its last
// result. What a failed turn has to say the output has said.
func judge(err error, last *message.Result, interrupted bool) verdict {
	sig, signalled := errors.AsType[*term.SignalError](err)
	timeout, timedOut := errors.AsType[*timeoutError](err)
	output, unwritten := errors.AsType[*term.OutputError](err)
	if stalled, ok := errors.AsType[*claude.StalledError](err); ok && stalled.Phase == "exit" && last != nil {
		err = nil // it did not exit and was stopped, but it has said all that it had to say
	}
	_, failed := errors.AsType[*message.ResultError](err)
	switch {
	case signalled:
		return verdict{code: sig.Code()}
	case timedOut:
		return verdict{term.ExitFailed, timeout.Error()}
	case unwritten && errors.Is(output, syscall.EPIPE):
		return verdict{code: term.ExitSignal + int(syscall.SIGPIPE)}
	case unwritten:
		return verdict{term.ExitFailed, output.Error()}
	case interrupted && (err == nil || failed) && (last == nil || last.IsError):
		return verdict{code: term.ExitOnSIGINT}
	case failed:
		return verdict{code: term.ExitFailed}
	case errors.Is(err, claude.ErrNotFound):
		return verdict{term.ExitNoCLI, err.Error() + "\n--cli or PARLEY_CLI tells parley where it is; parley doctor says what was found."}
	case err != nil:
		return verdict{errorCode(err), err.Error()}
	case last == nil:
		return verdict{term.ExitCLIDied, claude.ErrNoResult.Error()}
	case last.IsError:
		return verdict{code: term.ExitFailed}
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
		return term.ExitNoCLI
	case errors.As(err, &exit):
		return term.ExitCLIDied
	case errors.As(err, &handshake):
		return term.ExitNoCLI
	case errors.Is(err, context.Canceled):
		return term.ExitFailed
	}
	return term.ExitCLIDied
}
