package claude

import (
	"sync"
	"time"
)

// Trace is a set of functions that are told what happens in a session. Any of
// them may be nil. They are called one after another, in order, from one
// goroutine of the session's own, and hold up nothing but each other; all have
// returned when the session is closed.
type Trace struct {
	// Spawn: the CLI was started, or could not be.
	Spawn func(SpawnTrace)
	// Handshake: the CLI has answered initialize, or will not.
	Handshake func(HandshakeTrace)
	// FirstMessage: the first message of the session was read.
	FirstMessage func(FirstMessageTrace)
	// Buffered: reading has stopped because MaxBuffered bytes wait for a reader
	// that is slow. It is called once a session.
	Buffered func(BufferedTrace)
	// ForeignWrite: another program, which knows no [LockPolicy], writes the
	// session. It is noticed while the CLI is idle.
	ForeignWrite func(ForeignWriteTrace)
	// Exit: the CLI has ended.
	Exit func(ExitTrace)
}

// SpawnTrace is the start of a CLI.
type SpawnTrace struct {
	Command  Command
	PID      int
	Duration time.Duration
	Err      error
}

// HandshakeTrace is the end of the handshake.
type HandshakeTrace struct {
	Duration time.Duration // since the CLI was started
	Version  string        // of the CLI
	Err      error
}

// FirstMessageTrace is the arrival of the first message.
type FirstMessageTrace struct {
	Duration time.Duration // since the CLI was started
	Kind     string        // see [Kind]
}

// BufferedTrace is a reader that is too slow.
type BufferedTrace struct{ Bytes int64 }

// ForeignWriteTrace is a session's file that has grown by somebody else.
type ForeignWriteTrace struct {
	SessionID string
	File      string
	Entries   int // prompts and answers
	Bytes     int64
}

// ExitTrace is the end of a CLI.
type ExitTrace struct {
	Duration time.Duration // since the CLI was started
	Err      error         // what the session ended with, nil if it ended well
}

// tracer calls the functions of a Trace from a goroutine of its own, since the
// reader may not run the caller's code.
type tracer struct {
	t     *Trace
	begun time.Time

	mu    sync.Mutex
	queue []func()
	busy  bool
	idle  sync.Cond
}

func newTracer(t *Trace) *tracer {
	tr := &tracer{t: t, begun: time.Now()}
	tr.idle.L = &tr.mu
	return tr
}

// call queues fn. The goroutine that calls the functions lives only while there
// are some.
func (t *tracer) call(fn func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queue = append(t.queue, fn)
	if !t.busy {
		t.busy = true
		go t.run()
	}
}

func (t *tracer) run() {
	for {
		t.mu.Lock()
		if len(t.queue) == 0 {
			t.busy = false
			t.idle.Broadcast()
			t.mu.Unlock()
			return
		}
		fn := t.queue[0]
		t.queue = t.queue[1:]
		t.mu.Unlock()
		t.safely(fn)
	}
}

// safely keeps a panic of the caller's function from ending the program.
func (t *tracer) safely(fn func()) {
	defer func() { _ = recover() }()
	fn()
}

// wait returns when every function has been called.
func (t *tracer) wait() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.busy {
		t.idle.Wait()
	}
}

func (t *tracer) spawn(cmd Command) func(pid int, err error) {
	begun := time.Now()
	t.begun = begun
	return func(pid int, err error) {
		if t.t != nil && t.t.Spawn != nil {
			tr := SpawnTrace{Command: cmd, PID: pid, Duration: time.Since(begun), Err: err}
			t.call(func() { t.t.Spawn(tr) })
		}
	}
}

func (t *tracer) wantsHandshake() bool { return t.t != nil && t.t.Handshake != nil }

func (t *tracer) handshake(version string, err error) {
	if t.wantsHandshake() {
		tr := t.shaken(version, err)
		t.call(func() { t.t.Handshake(tr) })
	}
}

func (t *tracer) shaken(version string, err error) HandshakeTrace {
	return HandshakeTrace{Duration: time.Since(t.begun), Version: version, Err: err}
}

func (t *tracer) firstMessage(e entry) {
	if t.t != nil && t.t.FirstMessage != nil {
		tr := FirstMessageTrace{Duration: time.Since(t.begun), Kind: Kind(e.message())}
		t.call(func() { t.t.FirstMessage(tr) })
	}
}

func (t *tracer) buffered(bytes int64) {
	if t.t != nil && t.t.Buffered != nil {
		t.call(func() { t.t.Buffered(BufferedTrace{Bytes: bytes}) })
	}
}

func (t *tracer) foreignWrite(tr ForeignWriteTrace) {
	if t.t != nil && t.t.ForeignWrite != nil {
		t.call(func() { t.t.ForeignWrite(tr) })
	}
}

func (t *tracer) exit(err error) {
	if t.t != nil && t.t.Exit != nil {
		tr := ExitTrace{Duration: time.Since(t.begun), Err: err}
		t.call(func() { t.t.Exit(tr) })
	}
}
