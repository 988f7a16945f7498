package proc

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/seed7221b0f9/parley/spawn"
)

// ErrRunning is returned as the Err of an [Exit] that was asked for too early.
var ErrRunning = errors.New("the process has not ended yet")

// Exit is the end of a supervised process.
type Exit struct {
	spawn.ExitStatus
	// Stderr is the end of what the process wrote to stderr, at most Options.StderrTail bytes. If something
	// was cut off it begins at the start of a line, as long as there is one in it.
	Stderr string
	// Err is why the status is not known; nil when it is.
	Err error
	// Foreign is set when a SIGKILL ended the process that the Supervisor has not sent,
	// OutOfMemory when the system's OOM killer was at work meanwhile.
	Foreign, OutOfMemory bool
}

// Supervisor watches over one process. All methods may be called from any goroutine at any time.
type Supervisor struct {
	proc   spawn.Process
	opts   Options
	stdin  io.WriteCloser
	stdout *stream
	stderr *stderr

	exited chan struct{} // the process has been reaped
	done   chan struct{} // and everything that follows from it has happened
	exit   Exit          // written before done is closed

	killed     atomic.Bool // by us
	oom        oomWatch
	ladderOnce sync.Once
	failMu     sync.Mutex
	failures   []error
}

func watchOver(p spawn.Process, opts Options) *Supervisor {
	s := &Supervisor{
		proc:   p,
		opts:   opts,
		stdin:  newStdin(p.Stdin()),
		stdout: newStream(p.Stdout(), opts.DrainDelay),
		stderr: newStderr(p.Stderr(), opts),
		exited: make(chan struct{}),
		done:   make(chan struct{}),
	}
	s.oom = newOOMWatch(p)
	go s.watch()
	return s
}

// watch waits for the exit and cleans up after it.
func (s *Supervisor) watch() {
	defer close(s.done)
	status, err := s.proc.Wait()
	s.stdout.processExited()
	s.stderr.src.processExited()
	close(s.exited)
	// It has no reader any more, except perhaps a left-over process that would let writes block
	// for ever.
	within(s.opts.DrainDelay, s.stdin.Close)
	s.exit = Exit{ExitStatus: status, Stderr: s.stderr.finish(), Err: err}
	s.exit.Foreign = status.Signal == "SIGKILL" && !s.killed.Load()
	s.exit.OutOfMemory = s.exit.Foreign && s.oom.happened()
}

// Stdin returns the process's input. It may be closed many times, also under a pending Write, which then
// fails. It is closed when the process exits. It has SetWriteDeadline if the underlying stream has it.
func (s *Supervisor) Stdin() io.WriteCloser { return s.stdin }

// Stdout returns the process's output, to be read from one goroutine at a time. Everything that the
// process wrote can be read, however late, then comes io.EOF. If another process holds the
// stream open after the exit, a Read that finds nothing waits until DrainDelay after the exit
// and then returns io.EOF. After Close, Read fails with os.ErrClosed unless it had reached the
// end.
func (s *Supervisor) Stdout() io.Reader { return s.stdout }

// PID returns the process's id, 0 if unknown.
func (s *Supervisor) PID() int { return s.proc.PID() }

// Stderr returns the end of what the process has written to stderr so far, as [Exit] does for all of it.
func (s *Supervisor) Stderr() string { return s.stderr.last() }

// Done returns a channel that is closed when the process has exited and been reaped, stderr has been read
// to its end, and OnStderr has had its last line. Stdout may have unread data.
func (s *Supervisor) Done() <-chan struct{} { return s.done }

// Exit returns how the process ended. Before Done is closed its Err is ErrRunning and its Code -1.
func (s *Supervisor) Exit() Exit {
	if !isClosed(s.done) {
		return Exit{ExitStatus: spawn.ExitStatus{Code: -1}, Err: ErrRunning}
	}
	return s.exit
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
