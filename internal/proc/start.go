package proc

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/spawn"
)

// Options configures [Start]. The zero value is usable.
type Options struct {
	// Spawner starts the process; nil means Local, with its default options.
	Spawner spawn.Spawner
	Local   LocalOptions
	// OnStderr is called with each line of stderr, without its newline and trailing white space; blank lines are
	// omitted. The calls are in order, in one goroutine. A panic is recovered and loses only that line. A slow
	// callback does not block the process: at most 1 MiB of lines waits for it, then the oldest are dropped and
	// one line reports their number. A line over 64 KiB is split. After the end of stderr the callback has
	// DrainDelay for the remaining lines; after that it gets no further lines, even if it has not returned.
	OnStderr func(line string)
	// StderrTo is called with the unchanged data of stderr, in one goroutine. It must not block or keep its
	// argument.
	StderrTo func(text []byte)
	// StderrTail is the number of bytes at the end of stderr that are kept for Exit; 0 means 64 KiB.
	StderrTail int
	// CloseGrace is how long Stop waits after closing stdin; 0 means 2 s.
	CloseGrace time.Duration
	// TermGrace is how long Stop waits after SIGTERM; 0 means 5 s.
	TermGrace time.Duration
	// KillGrace is how long Stop waits after SIGKILL; 0 means 5 s.
	KillGrace time.Duration
	// DrainDelay limits the wait after the exit for data on a stdout or stderr that another process still holds
	// open; 0 means 500 ms.
	DrainDelay time.Duration
}

func (o Options) withDefaults() Options {
	setDefault(&o.StderrTail, 64<<10)
	setDefault(&o.CloseGrace, 2*time.Second)
	setDefault(&o.TermGrace, 5*time.Second)
	setDefault(&o.KillGrace, 5*time.Second)
	setDefault(&o.DrainDelay, 500*time.Millisecond)
	if o.Spawner == nil {
		o.Spawner = o.Local.Spawner()
	}
	return o
}

func setDefault[T int | time.Duration](v *T, def T) {
	if *v == 0 {
		*v = def
	}
}

// Start starts cmd and supervises it. ctx applies only to the start; its later end does not affect the process.
// If ctx has already ended, no process is started; if it ends during the start, the process is killed and reaped.
// In both cases the error is that of ctx. Any other failure is a *[StartError]. The caller must call the Close of
// the Supervisor.
func Start(ctx context.Context, cmd spawn.Command, opts Options) (*Supervisor, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	p, err := opts.Spawner.Spawn(ctx, cmd)
	if err != nil {
		return nil, startError(ctx, cmd, err)
	}
	s := watchOver(p, opts)
	if err := ctx.Err(); err != nil {
		_ = s.Kill()
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

func startError(ctx context.Context, cmd spawn.Command, err error) error {
	if ctxErr := ctx.Err(); ctxErr != nil && errors.Is(err, ctxErr) {
		return ctxErr
	}
	if _, ok := errors.AsType[*StartError](err); ok {
		return err
	}
	return &StartError{Path: cmd.Path, Dir: cmd.Dir, Err: err}
}

// StartError is returned for a process that could not be started.
type StartError struct {
	// Path and Dir are those of the Command.
	Path, Dir string
	// Reason explains the failure and, if known, how to fix it; empty if unknown.
	Reason string
	// Err is the system's or the Spawner's error; may be nil.
	Err error
}

// Error names the program, the reason and the underlying error.
func (e *StartError) Error() string {
	parts := []string{"cannot start " + e.Path}
	if e.Path == "" {
		parts[0] = "cannot start the CLI"
	}
	if e.Reason != "" {
		parts = append(parts, e.Reason)
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns Err.
func (e *StartError) Unwrap() error { return e.Err }
