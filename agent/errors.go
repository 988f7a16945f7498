package agent

import "errors"

// The errors that a server distinguishes. Implementations wrap them; callers use [errors.Is].
var (
	// ErrUnsupported is returned when the agent of this provider cannot do what was asked,
	// whatever its state is.
	ErrUnsupported = errors.New("agent: not supported by this provider")
	// ErrNotFound is returned when a session, a task, an MCP server or a message that
	// was named does not exist.
	ErrNotFound = errors.New("agent: not found")
	// ErrClosed is returned by the methods of a session whose agent has ended, by Close or by
	// itself.
	ErrClosed = errors.New("agent: the session has ended")
	// ErrNotOpen is returned by Answer when the request was already answered or
	// withdrawn, or never existed.
	ErrNotOpen = errors.New("agent: the request is not open")
	// ErrBusy is returned when another process has the session open, so that this one must not
	// write it.
	ErrBusy = errors.New("agent: the session is in use by another process")
	// ErrInvalid is returned when an argument cannot be right whatever the agent's
	// state: an unknown mode, an empty prompt, an answer of the wrong kind.
	ErrInvalid = errors.New("agent: invalid argument")
	// ErrNotInstalled is returned by Open and Resume when the agent's program is missing on
	// this machine.
	ErrNotInstalled = errors.New("agent: the agent's program was not found")
	// ErrAuth is returned when the agent has no valid credentials. The user has to log in with
	// its own program.
	ErrAuth = errors.New("agent: not logged in")
)
