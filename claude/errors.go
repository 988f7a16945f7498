package claude

import (
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// States that a caller may want to tell apart, for [errors.Is].
var (
	// ErrNotFound: there is no CLI. The error is a *CLINotFoundError.
	ErrNotFound = errors.New("claude: CLI not found")
	// ErrClosed: the client, or its input, was closed by its user.
	ErrClosed = errors.New("claude: closed")
	// ErrUsed: an iterator, or a CLI that was started ahead, was used a second
	// time.
	ErrUsed = errors.New("claude: used twice")
	// ErrUnsupported: the CLI does not know this control request.
	ErrUnsupported = errors.New("claude: not supported by this CLI")
	// ErrSessionBusy: the session is in use and cannot take this now.
	ErrSessionBusy = errors.New("claude: session busy")
)

// CLINotFoundError says where the CLI was looked for. It is [ErrNotFound] and
// [exec.ErrNotFound].
type CLINotFoundError struct {
	Tried []string
	err   error
}

func (e *CLINotFoundError) Error() string { return "claude: " + e.err.Error() }

// Is makes the error equal to the two sentinels.
func (e *CLINotFoundError) Is(target error) bool {
	return target == ErrNotFound || target == exec.ErrNotFound
}

// Unwrap returns the cause.
func (e *CLINotFoundError) Unwrap() error { return e.err }

// SpawnError says why the CLI could not be started: the directory is missing,
// the file is no program, or one for another machine.
type SpawnError struct {
	Path string
	Dir  string
	Err  error
}

func (e *SpawnError) Error() string { return "claude: starting the CLI: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *SpawnError) Unwrap() error { return e.Err }

// HandshakeError says why the CLI did not answer initialize. Its cause tells
// more: a *[ResultError] when the CLI refused with a result, an *[ExitError]
// when it ended, a *[ControlError] when it answered with an error.
type HandshakeError struct{ Err error }

func (e *HandshakeError) Error() string { return "claude: connecting: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *HandshakeError) Unwrap() error { return e.Err }

// EarlyExitError says that the CLI ended before it had answered initialize, as a
// program does that is not the CLI: what was run, and what it printed. It is
// [ErrNoResult].
type EarlyExitError struct {
	Path   string
	Stdout string // the beginning of what it wrote and is not of the protocol
	Stderr string // the end of what it wrote to stderr
	Err    error  // an *[ExitError], nil if it exited with 0
}

func (e *EarlyExitError) Error() string {
	what := "claude: the CLI " + strconv.Quote(e.Path) + " ended before it answered"
	if e.Err != nil {
		return what + printed("stdout", e.Stdout) + ": " + e.Err.Error()
	}
	return what + ", with exit status 0" + printed("stdout", e.Stdout) + printed("stderr", e.Stderr)
}

// Unwrap returns how it ended.
func (e *EarlyExitError) Unwrap() error { return e.Err }

// Is makes the error equal to ErrNoResult.
func (e *EarlyExitError) Is(target error) bool { return target == ErrNoResult }

func printed(stream, text string) string {
	if text = lastLines(text, 2<<10); text == "" {
		return ". " + stream + " is empty"
	}
	return ". " + stream + ": " + strconv.Quote(text)
}

// closedError is what calls fail with after Close on a CLI that had not ended well.
type closedError struct{ error }

func (e *closedError) Error() string { return ErrClosed.Error() + ", after: " + e.error.Error() }

func (e *closedError) Is(target error) bool { return target == ErrClosed }

func (e *closedError) Unwrap() error { return e.error }

// ExitError says how the CLI ended when it did not end well. It comes after the
// last message.
type ExitError struct {
	Code   int    // -1 when a signal ended it
	Signal string // "SIGKILL"; "" if none
	Stderr string // the end of what the CLI wrote to stderr
	Err    error  // set when the end itself could not be observed
	// Foreign: a SIGKILL ended it that this package has not sent. OutOfMemory: the
	// system was killing processes of this control group for want of memory, and
	// this one was killed so. It is known on Linux alone.
	Foreign     bool
	OutOfMemory bool
}

func (e *ExitError) Error() string {
	var what string
	switch {
	case e.Err != nil:
		what = "claude: waiting for the CLI: " + e.Err.Error()
	case e.OutOfMemory:
		what = "claude: the system killed the CLI for want of memory (" + e.Signal + ")"
	case e.Foreign:
		what = "claude: the CLI was ended by signal " + e.Signal + ", which this program has not sent"
	case e.Signal != "":
		what = "claude: the CLI was ended by signal " + e.Signal
	default:
		what = fmt.Sprintf("claude: the CLI exited with code %d", e.Code)
	}
	if tail := lastLines(e.Stderr, 2<<10); tail != "" {
		what += ". stderr: " + tail
	}
	return what
}

// Unwrap returns what kept the end from being observed, mostly nil.
func (e *ExitError) Unwrap() error { return e.Err }

func lastLines(s string, n int) string {
	s = strings.TrimSpace(s)
	if len(s) > n {
		s = "…" + strings.ToValidUTF8(s[len(s)-n:], "")
	}
	return s
}

// ControlError is the CLI's refusal of a control request. With the code
// unsupported_request it is [ErrUnsupported].
type ControlError struct {
	Subtype string // of the request
	Code    string // the wire's error_code, often empty
	Message string
}

func (e *ControlError) Error() string {
	return fmt.Sprintf("claude: control request %s: %s", e.Subtype, e.Message)
}

// Is makes the error equal to ErrUnsupported when it means that.
func (e *ControlError) Is(target error) bool {
	return target == ErrUnsupported && (e.Code == "unsupported_request" ||
		strings.HasPrefix(e.Message, "Unsupported control request subtype"))
}

// StalledError says that nothing happened for longer than a deadline allows.
type StalledError struct {
	Phase     string        // handshake, control request …, first message, silence, drain, exit
	Since     time.Duration // how long nothing had happened
	LastEvent string        // the kind of the last message, "" if there was none
	// InFlightTool is the tool whose result was missing, the last if there were
	// several.
	InFlightTool string
	Stderr       string // the end of what the CLI had written to stderr, where it is known
}

func (e *StalledError) Error() string {
	s := fmt.Sprintf("claude: stalled in %s for %v", e.Phase, e.Since)
	if e.LastEvent != "" {
		s += ", last message " + e.LastEvent
	}
	if e.InFlightTool != "" {
		s += ", in the tool " + e.InFlightTool
	}
	if tail := lastLines(e.Stderr, 2<<10); tail != "" {
		s += ". stderr: " + tail
	}
	return s
}

// Timeout reports true, as net.Error has it.
func (e *StalledError) Timeout() bool { return true }

// noSessionError is a result that means ErrNoSession.
type noSessionError struct{ error }

func (e *noSessionError) Is(target error) bool { return target == ErrNoSession }

func (e *noSessionError) Unwrap() error { return e.error }

// RateLimitError is a turn that failed on a rate limit. It wraps the
// *[ResultError].
type RateLimitError struct {
	ResetsAt time.Time // zero when the CLI did not say
	Err      error
}

func (e *RateLimitError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *RateLimitError) Unwrap() error { return e.Err }

// ErrNoSession: there is no such session in the CLI's configuration directory.
var ErrNoSession = errors.New("claude: no such session")
