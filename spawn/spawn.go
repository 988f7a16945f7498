package spawn

import (
	"context"
	"io"
)

// Command describes the process to run: program, arguments, directory and environment. A
// Spawner must not change it.
type Command struct {
	// Path is the program: absolute, or relative to the working directory of this process (not to Dir).
	// It is not searched for in PATH.
	Path string
	// Args are the arguments, without the program's name in front.
	Args []string
	// Dir is the working directory; empty means that of this process.
	Dir string
	// Env is the complete environment, each entry "KEY=value"; nothing is inherited. Of two entries with
	// the same key the last one counts.
	Env []string
	// User is the name or number of the user to run as; empty means that of this process.
	User string
	// Files are files of this machine that Args name, with secrets in them. A Spawner that runs the program
	// elsewhere copies them to the same paths there, for the user of the program alone. They are removed
	// here when the process has ended.
	Files []string
}

// ExitStatus is the way in which a process ended: with an exit code, or by a signal.
type ExitStatus struct {
	// Code is the exit code, or -1 when a signal ended the process or the code is not known.
	Code int
	// Signal is the name of the signal that ended the process ("SIGKILL"), or empty.
	Signal string
}

// Process is one running program, on this machine or elsewhere, such as in a container or over ssh.
//
// Each stream is asked for once, right after the start. Closing a stream must not block and must end a
// pending Read or Write on it. If a stream has SetReadDeadline or SetWriteDeadline, a pending call is
// ended by a deadline and not by closing the stream. Terminate and Kill may be called from any
// goroutine, several times, at the same time as Wait and after it.
type Process interface {
	// Stdin returns the standard input of the process.
	Stdin() io.WriteCloser
	// Stdout returns the standard output of the process.
	Stdout() io.ReadCloser
	// Stderr returns the standard error of the process, or nil if there is none.
	Stderr() io.ReadCloser
	// PID returns the id of the process, or 0 if it is not known.
	PID() int
	// Terminate asks the process to end: SIGTERM to its whole group, or nothing where signals do not
	// exist. It does not wait.
	Terminate() error
	// Kill ends the process and everything it started, now. It does not wait. Killing a process
	// that is gone is not an error.
	Kill() error
	// Wait returns when the process has ended and its id is free again. It is called exactly once. It
	// must return even if stdout and stderr are not being read, and must leave both readable. An error
	// means that the status is not known; a non-zero exit is not an error.
	Wait() (ExitStatus, error)
}

// Spawner starts processes, on this machine or elsewhere. Its method must be safe for
// concurrent use.
type Spawner interface {
	// Spawn starts cmd. ctx bounds the starting only: the process outlives it.
	Spawn(ctx context.Context, cmd Command) (Process, error)
}

// Func is a function that serves as a [Spawner], for spawners that need no state of their own.
type Func func(ctx context.Context, cmd Command) (Process, error)

// Locality is what a [Spawner] may implement to report where it runs processes.
type Locality interface {
	// Local reports whether processes run on this machine, as this user or one that the command names: they see the
	// files of this process, and their ids mean the same here.
	Local() bool
}
