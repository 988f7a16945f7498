package codex

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/seed7221b0f9/parley/codex/item"
)

// The errors that a caller may want to distinguish, with [errors.Is].
var (
	// ErrNotFound is returned when no codex program is found. The error also matches
	// exec.ErrNotFound.
	ErrNotFound = errors.New("codex: program not found")
	// ErrClosed is returned by calls on a client that its user has closed, and by calls that Close
	// interrupted.
	ErrClosed = errors.New("codex: closed")
	// ErrUsed is returned, as the only element, when an iterator of this package is ranged over
	// a second time.
	ErrUsed = errors.New("codex: already used")
	// ErrInterrupted is returned for a turn that was interrupted, by the client or by another
	// one, before it ended.
	ErrInterrupted = errors.New("codex: the turn was interrupted")
	// ErrUnsupported is returned when the server does not know a method, usually because it is too
	// old.
	ErrUnsupported = errors.New("codex: not supported by this server")
	// ErrExperimental is returned when the server offers a method or a field only with
	// Options.Experimental.
	ErrExperimental = errors.New("codex: needs the experimental API")
	// ErrNoThread is returned when a thread does not exist, its file is unreadable, or it is not loaded in the server.
	ErrNoThread = errors.New("codex: no such thread")
	// ErrNoTurn is returned when no turn is running that could be interrupted or steered.
	ErrNoTurn = errors.New("codex: no active turn")
	// ErrBusy is returned when another process is writing to the thread, and by Compact and
	// Review when a turn is running.
	ErrBusy = errors.New("codex: the thread has another writer")
	// ErrInvalid is returned when the server rejects the parameters of a request. The message names
	// the reason.
	ErrInvalid = errors.New("codex: invalid request")
	// ErrOverflow is returned by [Turn.Notifications], as the only element, when more than
	// Options.MaxBuffered bytes arrived before it was called.
	ErrOverflow = errors.New("codex: too many notifications were left unread")
)

// NotFoundError is returned when no codex program is found. Tried lists the searched places. It
// matches [ErrNotFound] and [exec.ErrNotFound].
type NotFoundError struct {
	Tried []string
}

func (e *NotFoundError) Error() string {
	return "codex: program not found (tried " + strings.Join(e.Tried, ", ") + "): install it with `npm install -g @openai/codex`, or name the program with PARLEY_CODEX"
}

// Is reports whether target is [ErrNotFound] or [exec.ErrNotFound].
func (e *NotFoundError) Is(target error) bool {
	return target == ErrNotFound || target == exec.ErrNotFound
}

// SpawnError is returned when the server could not be started, for example because the
// directory does not exist.
type SpawnError struct {
	Path, Dir string
	Err       error
}

func (e *SpawnError) Error() string { return "codex: starting the server: " + e.Err.Error() }

// Unwrap returns the error of the attempt to start the process, often an [fs.PathError] or an
// [exec.Error].
func (e *SpawnError) Unwrap() error { return e.Err }

// HandshakeError is returned when the server did not answer initialize, or answered with an error.
type HandshakeError struct{ Err error }

func (e *HandshakeError) Error() string { return "codex: connecting: " + e.Err.Error() }

// Unwrap returns the reason why the server did not become ready, such as an *[ExitError] or a
// deadline.
func (e *HandshakeError) Unwrap() error { return e.Err }

// ExitError is returned when the server exited without Close, by itself or by a signal. It holds
// the end of stderr.
type ExitError struct {
	Code        int    // -1 after a signal
	Signal      string // "SIGKILL"; empty without a signal
	Stderr      string // the end of its stderr
	Err         error  // set if the exit could not be observed
	OutOfMemory bool   // killed by the OOM killer, if known
}

func (e *ExitError) Error() string {
	what := fmt.Sprintf("codex: the server exited with code %d", e.Code)
	switch {
	case e.Err != nil:
		what = "codex: waiting for the server: " + e.Err.Error()
	case e.OutOfMemory:
		what = "codex: the server was killed by the OOM killer"
	case e.Signal != "":
		what = "codex: the server was ended by signal " + e.Signal
	}
	if tail := strings.TrimSpace(e.Stderr); tail != "" {
		if len(tail) > 2<<10 {
			tail = "…" + strings.ToValidUTF8(tail[len(tail)-2<<10:], "")
		}
		what += ". stderr: " + tail
	}
	return what
}

// Unwrap returns the error that kept the exit of the process from being observed. It is usually
// nil.
func (e *ExitError) Unwrap() error { return e.Err }

// RPCError is returned when the server rejects a request. Nearly all rejections have the code
// -32600, so [errors.Is] uses the text to match [ErrUnsupported], [ErrExperimental], [ErrNoThread],
// [ErrNoTurn], [ErrBusy] or [ErrInvalid].
type RPCError struct {
	Method  string // of the request
	Code    int64
	Message string
	Data    item.JSON
}

func (e *RPCError) Error() string {
	return fmt.Sprintf("codex: %s: %s (%d)", e.Method, e.Message, e.Code)
}

// rpcTexts maps parts of the server's texts to sentinel errors. The first match counts. Seen with
// 0.144.6 and 0.166.0.
var rpcTexts = []struct {
	text string
	err  error
}{
	{"requires experimentalApi capability", ErrExperimental},
	{"is not supported yet", ErrUnsupported},
	{"no active turn", ErrNoTurn},
	{"expected active turn id", ErrNoTurn},
	{"already has an active writer", ErrBusy},
	{"thread not found", ErrNoThread},
	{"thread not loaded", ErrNoThread},
	{"no rollout found", ErrNoThread},
	{"missing source rollout", ErrNoThread},
	{"failed to read session metadata", ErrNoThread}, // the file is empty or damaged
	{"invalid thread id", ErrNoThread},
	{"invalid session id", ErrNoThread},
	{"Invalid request", ErrInvalid},
	{"Not initialized", ErrInvalid},
	{"Already initialized", ErrInvalid},
}

// unknownMethod reports whether the text is the server's text for an unknown method.
func (e *RPCError) unknownMethod() bool {
	return e.Code == -32601 || strings.Contains(e.Message, "unknown variant `"+e.Method+"`")
}

// Is reports whether target is the sentinel for the server's error, by its code or its text.
func (e *RPCError) Is(target error) bool {
	if e.unknownMethod() {
		return target == ErrUnsupported
	}
	for _, t := range rpcTexts {
		if strings.Contains(e.Message, t.text) {
			return target == t.err
		}
	}
	return false
}

// TurnError is returned for a turn that failed. Info is the class of the failure, from the server's
// codexErrorInfo; Result holds the work done before it failed.
type TurnError struct {
	Message string
	Info    item.ErrorInfo
	Result  *Result
}

func (e *TurnError) Error() string {
	if e.Info.Kind == "" {
		return "codex: the turn failed: " + e.Message
	}
	return fmt.Sprintf("codex: the turn failed: %s (%s)", e.Message, e.Info.Kind)
}
