package proc

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/seed7221b0f9/parley/spawn"
)

// ErrRunning is the Err of an [Exit] before the end of the process.
var ErrRunning = errors.New("the process has not ended yet")

// Exit is the end of a supervised process.
type Exit struct {
	spawn.ExitStatus
	// Stderr is the end of the process's stderr, at most Options.StderrTail bytes. If it was cut, it begins
	// at the start of a line if possible.
	Stderr string
	// Err is the reason why the status is unknown, or nil.
	Err error
	// Foreign is set if a SIGKILL ended the process that the Supervisor did not send, OutOfMemory if the
	// system's OOM killer was active meanwhile.
	Foreign, OutOfMemory bool
}

// Supervisor supervises one process. All methods are safe for concurrent use at any time.
type Supervisor struct {
	proc   spawn.Process
	opts   Options
	stdin  io.WriteCloser
	stdout *stream
	stderr *stderr

	exited chan struct{} // the process has been reaped
	done   chan struct{} // and the cleanup after the exit is complete
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

// watch waits for the exit and cleans up.
func (s *Supervisor) watch() {
	defer close(s.done)
	status, err := s.proc.Wait()
	s.stdout.processExited()
	s.stderr.src.processExited()
	close(s.exited)
	// Its reader has ended; a leftover process with the pipe could block writes forever.
	within(s.opts.DrainDelay, s.stdin.Close)
	s.exit = Exit{ExitStatus: status, Stderr: s.stderr.finish(), Err: err}
	s.exit.Foreign = status.Signal == "SIGKILL" && !s.killed.Load()
	s.exit.OutOfMemory = s.exit.Foreign && s.oom.happened()
}

// Stdin returns the process's input. It may be closed several times, also during a pending Write, which
// then fails. It is closed when the process exits. It has SetWriteDeadline if the underlying stream has it.
func (s *Supervisor) Stdin() io.WriteCloser { return s.stdin }

// Stdout returns the process's output, to be read by one goroutine at a time. All output of the process can
// be read at any time, followed by io.EOF. If another process holds the stream open after the exit, a Read
// without data waits until DrainDelay after the exit and then returns io.EOF. After Close, Read fails with
// os.ErrClosed unless it had reached the end.
func (s *Supervisor) Stdout() io.Reader { return s.stdout }

// PID returns the process's id, or 0 if it is unknown.
func (s *Supervisor) PID() int { return s.proc.PID() }

// Stderr returns the end of the process's stderr so far, in the form of [Exit].
func (s *Supervisor) Stderr() string { return s.stderr.last() }

// Done returns a channel that is closed when the process has exited and been reaped, stderr has been read
// to its end, and OnStderr has had its last line. Stdout may have unread data.
func (s *Supervisor) Done() <-chan struct{} { return s.done }

// Exit returns the exit of the process. Before Done is closed its Err is ErrRunning and its Code -1.
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
