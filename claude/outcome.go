package claude

import (
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
)

// outcome decides the error of a session's end. It is pure: the reader passes it all messages and calls
// of at the end.
type outcome struct {
	failed *message.Result        // the last result if it was an error
	limit  *message.RateLimitInfo // the last one in the stream
}

// active records a line of a hot type: the model is working again, so an earlier error result is no
// longer the outcome.
func (o *outcome) active(typ string) {
	if typ != "user" {
		o.failed = nil
	}
}

// see processes a message.
func (o *outcome) see(m message.Message) {
	switch m := m.(type) {
	case *message.Result:
		o.result(m)
	case *message.Init, *message.Assistant, *message.StreamEvent:
		o.failed = nil
	case *message.RateLimitEvent:
		o.limit = &m.RateLimitInfo
	}
}

// result records an error result. A successful turn clears it; a turn without the model does not.
func (o *outcome) result(m *message.Result) {
	switch {
	case m.IsError:
		o.failed = m
	case m.NumTurns > 0 || m.Result != "":
		o.failed = nil
	}
}

// of returns the error of a session after its reader has ended with readErr: the cause with which it
// was stopped, else the error result that made the CLI exit, else the exit error.
func (o *outcome) of(readErr, cause, writeErr error) error {
	exit, exited := errors.AsType[*ExitError](readErr)
	switch {
	case errors.Is(cause, errStopped):
		return nil
	case cause != nil:
		return cause
	case exited && exit.Signal == "" && exit.Err == nil && o.failed != nil:
		return resultError(o.failed, o.limit)
	case errors.Is(readErr, io.EOF):
		return writeErr // mostly nil
	}
	return readErr
}

// resultError returns the error of a result, or nil if the turn did not fail. For a rate limit it
// includes the time at which the limit ends.
func resultError(m *message.Result, limit *message.RateLimitInfo) error {
	err := m.Err()
	if err == nil {
		return nil
	}
	if m.NumTurns == 0 && slices.ContainsFunc(m.Errors, findsNoSession) {
		return &noSessionError{err}
	}
	if interrupted(m) {
		return &interruptedError{err}
	}
	if m.APIErrorStatus != 429 {
		return err
	}
	rl := &RateLimitError{Err: err}
	if limit != nil && limit.ResetsAt > 0 {
		rl.resetsAt = time.Unix(int64(limit.ResetsAt), 0)
	}
	return rl
}

// interrupted reports whether a result belongs to an interrupted turn.
func interrupted(m *message.Result) bool {
	return m.TerminalReason == message.TerminalAbortedStreaming || m.TerminalReason == message.TerminalAbortedTools
}

// findsNoSession reports whether a text is the CLI's message that the session to resume does not exist.
func findsNoSession(text string) bool {
	return strings.HasPrefix(text, "No conversation found") || strings.HasPrefix(text, "Error: --resume requires a valid session ID or session title")
}
