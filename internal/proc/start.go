package proc

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/spawn"
)

// Options of [Start]. The zero value is usable.
type Options struct {
	// Spawner starts the process; nil means Local, with the options that Local has.
	Spawner spawn.Spawner
	Local   LocalOptions
	// OnStderr is called with each line of stderr, without its newline and trailing white space; blank lines
	// are left out. The calls come in order, from one goroutine. A panic is recovered and costs that line
	// only. A slow callback does not hold up the process: at most 1 MiB of lines waits for it,
	// then the oldest are dropped and one line has their number. A line over 64 KiB comes in
	// parts. After the end of stderr the callback has DrainDelay for what is left; one that has
	// not returned by then is left alone, and gets no further lines.
	OnStderr func(line string)
	// StderrTo is called with what is read from stderr, as it is, from one goroutine. It must not block, nor keep
	// its argument.
	StderrTo func(text []byte)
	// StderrTail is how many bytes of the end of stderr are kept for Exit; 0 means 64 KiB.
	StderrTail int
	// CloseGrace is how long Stop waits after it has closed stdin; 0 means 2 s.
	CloseGrace time.Duration
	// TermGrace is how long Stop waits after SIGTERM; 0 means 5 s.
	TermGrace time.Duration
	// KillGrace is how long Stop waits after SIGKILL; 0 means 5 s.
	KillGrace time.Duration
	// DrainDelay is how long after the exit an empty stdout or stderr that another process
	// still holds open is waited for; 0 means 500 ms.
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

// Start starts cmd and supervises it. ctx bounds the starting only; its end later does not touch the
// process. If ctx has ended before, nothing is started; if it ends meanwhile, the process is killed and
// reaped, and in both cases the error is that of ctx. Any other failure is a *[StartError]. The
// caller must call the Close of the Supervisor.
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

// StartError is a process that could not be started.
type StartError struct {
	// Path and Dir are those of the Command.
	Path, Dir string
	// Reason says what is wrong and, where known, what helps; empty if it is not known.
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
