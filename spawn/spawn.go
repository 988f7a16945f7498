package spawn

import (
	"context"
	"io"
)

// Command describes the process to run: program, arguments, directory and environment. A Spawner
// must not modify it.
type Command struct {
	// Path is the program: absolute, or relative to the working directory of this process (not to Dir).
	// It is not searched for in PATH.
	Path string
	// Args are the arguments, without the program's name.
	Args []string
	// Dir is the working directory; empty means that of this process.
	Dir string
	// Env is the complete environment, each entry "KEY=value"; the process inherits no other variables.
	// Of two entries with the same key the last one counts.
	Env []string
	// User is the name or number of the user to run as; empty means that of this process.
	User string
	// Files are files of this machine that Args refer to and that contain secrets. A Spawner that runs the
	// program elsewhere copies them to the same paths there, readable only for the user of the program.
	// They are deleted here when the process has ended.
	Files []string
}

// ExitStatus is the exit code of a process, or the signal that ended it.
type ExitStatus struct {
	// Code is the exit code, or -1 if a signal ended the process or the code is unknown.
	Code int
	// Signal is the name of the signal that ended the process ("SIGKILL"), or empty.
	Signal string
}

// Process is one running program, on this machine or elsewhere, such as in a container or over ssh.
//
// Each stream method is called once, right after the start. Closing a stream must not block and must
// end a pending Read or Write on it. If a stream has SetReadDeadline or SetWriteDeadline, a deadline
// ends a pending call instead. Terminate and Kill may be called from any goroutine, several times,
// during Wait and after it.
type Process interface {
	// Stdin returns the standard input of the process.
	Stdin() io.WriteCloser
	// Stdout returns the standard output of the process.
	Stdout() io.ReadCloser
	// Stderr returns the standard error of the process, or nil if it is not captured.
	Stderr() io.ReadCloser
	// PID returns the id of the process, or 0 if it is unknown.
	PID() int
	// Terminate asks the process to end: it sends SIGTERM to its whole group, and has no effect
	// where signals do not exist. It does not wait.
	Terminate() error
	// Kill kills the process and everything it started. It does not wait. Killing a process that
	// has ended is not an error.
	Kill() error
	// Wait returns when the process has ended and its id can be reused. It is called exactly once. It
	// must return even if stdout and stderr are not being read, and must leave both readable. An error
	// means that the status is unknown; a non-zero exit is not an error.
	Wait() (ExitStatus, error)
}

// Spawner starts processes, on this machine or elsewhere. Its method must be safe for
// concurrent use.
type Spawner interface {
	// Spawn starts cmd. ctx bounds only the start: the process outlives it.
	Spawn(ctx context.Context, cmd Command) (Process, error)
}

// Func is a function that implements [Spawner], for spawners without state.
type Func func(ctx context.Context, cmd Command) (Process, error)

// Locality is an optional interface of a [Spawner] that reports where it runs processes.
type Locality interface {
	// Local reports whether processes run on this machine, as this user or the user of the command: they see the
	// files of this process, and their ids are valid here.
	Local() bool
}
