package claude

import (
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
)

// outcome decides what a session ends with. It is pure: the reader shows it what it
// reads and asks of.
type outcome struct {
	failed *message.Result        // the last result, if it was an error
	limit  *message.RateLimitInfo // the last one of the stream
}

// active notes a line of a hot type: the model is at work again, so an error
// result before it is no longer how the run ends.
func (o *outcome) active(typ string) {
	if typ != "user" {
		o.failed = nil
	}
}

// see takes a message into account.
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

// result remembers an error result. A turn that succeeded clears it; one in which
// the model had no part does not.
func (o *outcome) result(m *message.Result) {
	switch {
	case m.IsError:
		o.failed = m
	case m.NumTurns > 0 || m.Result != "":
		o.failed = nil
	}
}

// of is the error of a session whose reading ended with readErr: the reason why it
// was stopped, else the error result that made the CLI exit, else how it exited.
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

// resultError is the error of a result, nil if the turn did not fail, with the end of
// the rate limit where that is the reason.
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

// interrupted reports whether a result is that of a turn that was interrupted.
func interrupted(m *message.Result) bool {
	return m.TerminalReason == message.TerminalAbortedStreaming || m.TerminalReason == message.TerminalAbortedTools
}

// findsNoSession reports whether a text is that of a CLI that found no session with the id or the title
// that it was to resume.
func findsNoSession(text string) bool {
	return strings.HasPrefix(text, "No conversation found") || strings.HasPrefix(text, "Error: --resume requires a valid session ID or session title")
}
