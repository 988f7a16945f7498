package agent

import "errors"

// The errors that a server distinguishes. Implementations wrap them; callers use [errors.Is].
var (
	// ErrUnsupported is returned when the agent of this provider does not have the feature, in any
	// state.
	ErrUnsupported = errors.New("agent: not supported by this provider")
	// ErrNotFound is returned when a named session, task, MCP server or message does not exist.
	ErrNotFound = errors.New("agent: not found")
	// ErrClosed is returned by the methods of a session after its agent has ended, by Close or
	// otherwise.
	ErrClosed = errors.New("agent: the session has ended")
	// ErrNotOpen is returned by Answer when the request was already answered or
	// withdrawn, or never existed.
	ErrNotOpen = errors.New("agent: the request is not open")
	// ErrBusy is returned when another process has the session open, so that this one must not
	// write it.
	ErrBusy = errors.New("agent: the session is in use by another process")
	// ErrInvalid is returned when an argument is invalid in any state of the agent: an unknown
	// mode, an empty prompt, an answer of the wrong kind.
	ErrInvalid = errors.New("agent: invalid argument")
	// ErrNotInstalled is returned by Open and Resume when the agent's program is not installed.
	ErrNotInstalled = errors.New("agent: the agent's program was not found")
	// ErrAuth is returned when the agent has no valid credentials. The user has to log in with the
	// agent's program.
	ErrAuth = errors.New("agent: not logged in")
)
