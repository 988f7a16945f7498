package claude

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/claude/internal/control"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/spawn"
)

// tracer calls the functions of a Trace in a separate goroutine, because the reader may
// not run the caller's code. It also decodes the lines that only these functions need.
type tracer struct {
	t      Trace
	begun  time.Time
	stream *traceStream // nil if no function needs the messages
	token  bool         // used by the reader: the first piece of the answer was passed on

	mu     sync.Mutex
	queue  []func()
	busy   bool
	closed bool // no more functions are called
	idle   sync.Cond
}

func newTracer(t *Trace) *tracer {
	tr := &tracer{begun: time.Now()}
	tr.idle.L = &tr.mu
	if t != nil {
		tr.t = *t
		tr.stream = newTraceStream(&tr.t)
	}
	return tr
}

// beginTrace returns the tracer of a session that begins. The environment that its
// Session function sets becomes part of the launch.
func beginTrace(ctx context.Context, l *launch) *tracer {
	t := l.Trace
	if t == nil || t.Session == nil {
		return newTracer(t)
	}
	s := &SessionTrace{At: time.Now(), Options: &l.Options}
	safely(func() {
		if own := t.Session(ctx, s); own != nil {
			t = own
		}
	})
	if len(s.Env) > 0 {
		l.addEnv(s.Env)
	}
	return newTracer(t)
}

// call queues fn. The goroutine that calls the functions exists only while the queue is
// not empty.
func (t *tracer) call(fn func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
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
		batch := t.queue
		t.queue = nil
		t.mu.Unlock()
		for _, fn := range batch {
			safely(fn)
		}
	}
}

// safely recovers from a panic of the caller's function.
func safely(fn func()) {
	defer func() { _ = recover() }()
	fn()
}

// close returns when all queued functions have been called, and drops later ones.
func (t *tracer) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.busy {
		t.idle.Wait()
	}
	t.closed = true
}

// tell queues the call of a function of Trace.
func tell[E any](t *tracer, fn func(E), event E) { t.call(func() { fn(event) }) }

func (t *tracer) spawn(cmd spawn.Command) func(pid int, err error) {
	begun := time.Now()
	t.begun = begun
	return func(pid int, err error) {
		if t.t.Spawn != nil {
			tell(t, t.t.Spawn, SpawnTrace{At: begun, Command: cmd, PID: pid, Duration: time.Since(begun), Err: err})
		}
	}
}

func (t *tracer) handshake(version func() string, err error) {
	if t.t.Handshake == nil {
		return
	}
	h := HandshakeTrace{At: time.Now(), Duration: time.Since(t.begun), Err: err}
	t.call(func() {
		if version != nil {
			h.Version = version() // decoding is left to the tracer's goroutine
		}
		t.t.Handshake(h)
	})
}

func (t *tracer) firstMessage(e entry) {
	if t.t.FirstMessage == nil {
		return
	}
	m := FirstMessageTrace{At: time.Now(), Duration: time.Since(t.begun)}
	t.call(func() {
		m.Kind = message.Kind(e.message())
		t.t.FirstMessage(m)
	})
}

// prompt is called before a prompt is written.
func (t *tracer) prompt(ctx context.Context, line promptLine) {
	if t.t.Prompt == nil && t.stream == nil {
		return
	}
	p := PromptTrace{At: time.Now(), Line: message.JSON(line.text()), Context: context.WithoutCancel(ctx)}
	t.call(func() {
		var head struct {
			UUID        string `json:"uuid"`
			ShouldQuery *bool  `json:"shouldQuery"`
		}
		_ = p.Line.Decode(&head) // this package wrote it, or a caller that chose its form
		p.ID, p.NoQuery = head.UUID, head.ShouldQuery != nil && !*head.ShouldQuery
		if t.stream != nil {
			t.stream.prompted(p)
		}
		if t.t.Prompt != nil {
			t.t.Prompt(p)
		}
	})
}

// Nearly all lines of a stream are pieces of answers, of which only the first matters;
// they are recognized by the beginning of the line.
const (
	pieceHead = `{"type":"stream_event","event":{"type":"content_block_`
	startHead = `{"type":"stream_event","event":{"type":"message_start"`
)

// line passes a line of the stream to the tracer. The reader calls it.
func (t *tracer) line(e entry) {
	if t.stream == nil || t.skips(e.text) {
		return
	}
	at := time.Now()
	t.call(func() { t.stream.see(e.message(), at) })
}

func (t *tracer) skips(text string) bool {
	if rest, piece := strings.CutPrefix(text, pieceHead); piece {
		skip := t.token || !strings.HasPrefix(rest, "delta")
		t.token = t.token || !skip
		return skip
	}
	if strings.HasPrefix(text, startHead) {
		t.token = false
	}
	return false
}

// stderr returns a function for the lines of stderr that calls fn and Trace.
func (t *tracer) stderr(fn func(line string)) func(line string) {
	if t.t.Stderr == nil {
		return fn
	}
	return func(line string) {
		tell(t, t.t.Stderr, StderrTrace{At: time.Now(), Line: line})
		if fn != nil {
			fn(line)
		}
	}
}

func (t *tracer) stall(err *StalledError) {
	if t.t.Stall != nil {
		tell(t, t.t.Stall, StallTrace{At: time.Now(), Err: err})
	}
}

// control is called when a control request begins; the returned function is called when
// it has ended.
func (t *tracer) control(subtype string) func(err error) {
	if t.t.Control == nil {
		return nothingEnded
	}
	begun := time.Now()
	return func(err error) {
		tell(t, t.t.Control, ControlTrace{Period: Period{begun, time.Now()}, Subtype: subtype, Err: err})
	}
}

func nothingEnded(error) {}

// callback is called when the answer to a request of the CLI begins; the returned
// function is called with the answer.
func (t *tracer) callback(req control.Request) func(answer []byte, err error) {
	describe := t.describe(req)
	if describe == nil {
		return nothingAnswered
	}
	begun := time.Now()
	return func(answer []byte, err error) {
		p := Period{begun, time.Now()}
		t.call(func() { describe(p, string(answer), err) })
	}
}

func nothingAnswered([]byte, error) {}

func (t *tracer) buffered(bytes int64) {
	if t.t.Buffered != nil {
		tell(t, t.t.Buffered, BufferedTrace{At: time.Now(), Bytes: bytes})
	}
}

func (t *tracer) foreignWrite(tr ForeignWriteTrace) {
	if t.t.ForeignWrite != nil {
		tr.At = time.Now()
		tell(t, t.t.ForeignWrite, tr)
	}
}

func (t *tracer) exit(err error) {
	at := time.Now()
	if t.stream != nil {
		t.call(func() { t.stream.end(at, err) })
	}
	if t.t.Exit != nil {
		tell(t, t.t.Exit, ExitTrace{At: at, Duration: at.Sub(t.begun), Err: err})
	}
}
