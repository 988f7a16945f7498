package chat

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/codex"
)

// timeoutError is the error of a run that exceeded its limit.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string { return "timed out after " + e.after.String() }

// verdict is the outcome of a run: the exit code and the remaining text to show.
type verdict struct {
	code int
	say  string
}

// judge derives the verdict from the error and the last result of a run. The output has already
// shown the text of a failed turn.
func judge(err error, last *event.ResultMessage, stopped bool, missing string) verdict {
	sig, signalled := errors.AsType[*term.SignalError](err)
	timeout, timedOut := errors.AsType[*timeoutError](err)
	output, unwritten := errors.AsType[*term.OutputError](err)
	if stalled, ok := errors.AsType[*claude.StalledError](err); ok && stalled.Phase == "exit" && last != nil {
		err = nil // it did not exit in time, but its output was complete
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
	case stopped && (err == nil || failed) && (last == nil || bad(last)):
		return verdict{code: term.ExitOnSIGINT}
	case failed:
		return verdict{code: term.ExitFailed}
	case errors.Is(err, claude.ErrNotFound), errors.Is(err, agent.ErrNotInstalled):
		if missing != "" {
			missing = "\n" + missing
		}
		return verdict{term.ExitNoCLI, err.Error() + missing}
	case err != nil:
		return verdict{errorCode(err), err.Error()}
	case last == nil:
		return verdict{term.ExitCLIDied, "the agent ended without a result"}
	case bad(last):
		return verdict{code: term.ExitFailed}
	}
	return verdict{}
}

// ExitCode returns the exit code for the error of a command: a signal, or an output that cannot
// be written.
func ExitCode(err error) int { return judge(err, nil, false, "").code }

// bad reports whether a turn failed or was interrupted.
func bad(r *event.ResultMessage) bool { return r.IsError || interrupted(r) }

// errorCode returns the exit code for an error before or instead of a result.
func errorCode(err error) int {
	var (
		spawn     *claude.SpawnError
		handshake *claude.HandshakeError
		exit      *claude.ExitError
		started   *codex.SpawnError
		greeted   *codex.HandshakeError
	)
	switch {
	case errors.As(err, &spawn), errors.As(err, &started):
		return term.ExitNoCLI
	case errors.As(err, &exit):
		return term.ExitCLIDied
	case errors.As(err, &handshake), errors.As(err, &greeted):
		return term.ExitNoCLI
	case errors.Is(err, context.Canceled), errors.Is(err, errRemoved), errors.Is(err, errStopped):
		return term.ExitFailed
	}
	return term.ExitCLIDied
}

// ended reports whether an error only means the end of the session.
func ended(err error) bool {
	_, exit := errors.AsType[*claude.ExitError](err)
	return errors.Is(err, agent.ErrClosed) && !exit
}
