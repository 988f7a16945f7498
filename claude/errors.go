package claude

import (
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Sentinel errors for [errors.Is].
var (
	// ErrNotFound is returned when the CLI is not found. The error is a *[CLINotFoundError].
	ErrNotFound = errors.New("claude: CLI not found")
	// ErrClosed is returned by calls on a client, or on its input, after the caller closed it.
	ErrClosed = errors.New("claude: closed")
	// ErrUsed is returned when an iterator is ranged over, or a prewarmed CLI is used, a second
	// time.
	ErrUsed = errors.New("claude: already used")
	// ErrUnsupported is returned when the CLI does not know a control request or an option,
	// mostly because it is too old.
	ErrUnsupported = errors.New("claude: not supported by this CLI")
	// ErrSessionBusy is returned when a request is not possible because the session is in use. See
	// also [SessionBusyError].
	ErrSessionBusy = errors.New("claude: session busy")
)

// CLINotFoundError is returned when no CLI was found. Tried lists the searched places. It matches
// [ErrNotFound] and [exec.ErrNotFound].
type CLINotFoundError struct {
	Tried []string
	err   error
}

func (e *CLINotFoundError) Error() string { return "claude: " + e.err.Error() }

// Is reports whether target is [ErrNotFound] or [exec.ErrNotFound], so that [errors.Is] finds
// both of them in this error.
func (e *CLINotFoundError) Is(target error) bool {
	return target == ErrNotFound || target == exec.ErrNotFound
}

// Unwrap returns the error of the search, which may come from the file system or from
// [exec.LookPath].
func (e *CLINotFoundError) Unwrap() error { return e.err }

// SpawnError is returned when the CLI could not be started: the directory is missing, or the file
// is not a program for this machine.
type SpawnError struct {
	Path string
	Dir  string
	Err  error
}

func (e *SpawnError) Error() string { return "claude: starting the CLI: " + e.Err.Error() }

// Unwrap returns the error of the attempt to start the process, often an [fs.PathError] or an
// [exec.Error].
func (e *SpawnError) Unwrap() error { return e.Err }

// HandshakeError is returned when the CLI did not answer initialize. It wraps the cause: a
// *[ResultError] if the CLI refused with a result, an *[ExitError] if it exited, or a
// *[ControlError] if it answered with an error.
type HandshakeError struct{ Err error }

func (e *HandshakeError) Error() string { return "claude: connecting: " + e.Err.Error() }

// Unwrap returns the reason why the CLI did not become ready; see [HandshakeError] for its types.
func (e *HandshakeError) Unwrap() error { return e.Err }

// EarlyExitError is returned when the CLI exited before it answered initialize, which happens if
// the program is not the CLI. It holds the program's path and its output, and matches
// [ErrNoResult].
type EarlyExitError struct {
	Path   string
	Stdout string // the beginning of its output that is not part of the protocol
	Stderr string // the end of its standard error
	Err    error  // an *[ExitError], nil if it exited with 0
}

func (e *EarlyExitError) Error() string {
	what := "claude: the CLI " + strconv.Quote(e.Path) + " ended before it answered"
	if e.Err != nil {
		return what + printed("stdout", e.Stdout) + ": " + e.Err.Error()
	}
	return what + ", with exit status 0" + printed("stdout", e.Stdout) + printed("stderr", e.Stderr)
}

// Unwrap returns the *[ExitError] of the process, or nil if it exited with status 0.
func (e *EarlyExitError) Unwrap() error { return e.Err }

// Is reports whether target is [ErrNoResult], so that callers need only one check for a missing
// result.
func (e *EarlyExitError) Is(target error) bool { return target == ErrNoResult }

func printed(stream, text string) string {
	if text = lastLines(text, 2<<10); text == "" {
		return ". " + stream + " is empty"
	}
	return ". " + stream + ": " + strconv.Quote(text)
}

// closedError is the error of calls after Close on a CLI that had failed.
type closedError struct{ error }

func (e *closedError) Error() string { return ErrClosed.Error() + ", after: " + e.error.Error() }

func (e *closedError) Is(target error) bool { return target == ErrClosed }

func (e *closedError) Unwrap() error { return e.error }

// ExitError is returned when the CLI exited with a status other than 0 or was ended by a signal. It
// follows the last message.
type ExitError struct {
	Code   int    // -1 when a signal ended it
	Signal string // "SIGKILL"; "" if it exited
	Stderr string // the end of the CLI's standard error
	Err    error  // set if the exit status could not be read
	// Foreign means that a SIGKILL ended the CLI which this package did not send. OutOfMemory means
	// that in addition the OOM killer was active in this control group; it is set on Linux only.
	Foreign     bool
	OutOfMemory bool
}

func (e *ExitError) Error() string {
	var what string
	switch {
	case e.Err != nil:
		what = "claude: waiting for the CLI: " + e.Err.Error()
	case e.OutOfMemory:
		what = "claude: the CLI was killed by the OOM killer (" + e.Signal + ")"
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

// Unwrap returns the error of reading the exit status. It is nil in most cases.
func (e *ExitError) Unwrap() error { return e.Err }

func lastLines(s string, n int) string {
	s = strings.TrimSpace(s)
	if len(s) > n {
		s = "…" + strings.ToValidUTF8(s[len(s)-n:], "")
	}
	return s
}

// ControlError is returned when the CLI refuses a control request. It matches [ErrUnsupported]
// if the CLI does not know the request.
type ControlError struct {
	Subtype string // of the request
	Code    string // the wire's error_code, often empty
	Message string
}

func (e *ControlError) Error() string {
	return fmt.Sprintf("claude: control request %s: %s", e.Subtype, e.Message)
}

// Is reports whether target is [ErrUnsupported] and the CLI refused the request because it does
// not know its subtype.
func (e *ControlError) Is(target error) bool {
	return target == ErrUnsupported && (e.Code == "unsupported_request" ||
		strings.HasPrefix(e.Message, "Unsupported control request subtype"))
}

// StalledError is returned when a wait exceeds one of the [Deadlines]. Phase names the wait.
type StalledError struct {
	Phase     string        // handshake, control request …, first message, silence, drain, exit
	Since     time.Duration // time without a message
	LastEvent string        // the kind of the last message, if any
	// InFlightTool is the running tool without a result, the last one of several.
	InFlightTool string
	Stderr       string // the end of the CLI's standard error, if known
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

// Timeout returns true, so that code which checks for the method of [net.Error] treats the error as
// a timeout.
func (e *StalledError) Timeout() bool { return true }

// noSessionError is an error result that matches ErrNoSession.
type noSessionError struct{ error }

func (e *noSessionError) Is(target error) bool { return target == ErrNoSession }

func (e *noSessionError) Unwrap() error { return e.error }

// ErrInterrupted is returned for a turn that was interrupted. The *[ResultError] of the turn is in
// the same error.
var ErrInterrupted = errors.New("claude: the turn was interrupted")

// interruptedError is an error result that matches ErrInterrupted. It does not show the text of the
// result, which is for the CLI's developers.
type interruptedError struct{ result error }

func (e *interruptedError) Error() string { return ErrInterrupted.Error() }

func (e *interruptedError) Unwrap() []error { return []error{ErrInterrupted, e.result} }

// RateLimitError is returned for a turn that failed because of a rate limit. It wraps the
// *[ResultError].
type RateLimitError struct {
	Err      error
	resetsAt time.Time
}

// ResetsAt returns the time at which the limit ends. known is false if the CLI did not report it.
func (e *RateLimitError) ResetsAt() (at time.Time, known bool) {
	return e.resetsAt, !e.resetsAt.IsZero()
}

func (e *RateLimitError) Error() string { return e.Err.Error() }

// Unwrap returns the *[ResultError] of the turn, so that [errors.As] finds the result as for
// any other failed turn.
func (e *RateLimitError) Unwrap() error { return e.Err }

// ErrNoSession is returned when the session to resume does not exist in the CLI's configuration
// directory or in the store.
var ErrNoSession = errors.New("claude: no such session")
