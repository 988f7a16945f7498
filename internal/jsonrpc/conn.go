package jsonrpc

import (
	"context"
	"errors"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/internal/ndjson"
)

// ErrClosed is returned by calls after Close.
var ErrClosed = errors.New("jsonrpc: connection closed")

// errCancelled is the cause of a handler's context when the peer cancelled its request.
var errCancelled = &Error{Code: CodeCancelled, Message: "Request cancelled"}

// Options configures a Conn. The zero value answers every request with
// MethodNotFound and ignores notifications.
type Options struct {
	// Handle answers a request of the peer, in a new goroutine. Its context ends when the
	// peer cancels the request and when the connection ends. A nil result gives the answer
	// null.
	Handle func(ctx context.Context, m *Message) (result any, err error)
	// Notify handles a notification. It is called in order, in one goroutine, and all
	// later messages wait for it.
	Notify func(ctx context.Context, m *Message)
	// Stray handles other lines: a line that is not JSON-RPC (with err), and an answer to no
	// waiting call (with m). It is called in order, like Notify.
	Stray func(line string, m *Message, err error)
	// Observe is called with every incoming message, in order and before its dispatch.
	// Sent is called with every line before it is written, Written after it was written:
	// lines sent later arrive later. They must not block for long.
	Observe func(m *Message)
	Sent    func(line []byte)
	Written func(line []byte)
	// Panicked is called when a callback has panicked, in its goroutine.
	Panicked func(method string, value any, stack []byte)

	// Bare omits the member "jsonrpc" in written messages. Reading never needs it.
	Bare bool
	// CancelMethod is the notification that cancels a request, in both directions, with params
	// {"requestId": id}; empty if the protocol cannot cancel requests.
	CancelMethod string
	// AnswerStray answers a line that is not JSON-RPC with an error and the id null, like
	// a server.
	AnswerStray bool

	// Embedded also reads a message that follows other text on its line, for programs that also print to their
	// standard output. Stray gets the text.
	Embedded bool

	// MaxLine guards against a line that never ends; 0 means 256 MiB. A longer one is skipped.
	MaxLine int
	// MaxBuffered is the number of bytes that wait for callbacks at which the connection
	// stops reading; 0 means 256 MiB.
	MaxBuffered int
	// MaxRequests limits the concurrent requests of the peer; further ones are answered
	// with CodeOverloaded. 0 means 1024.
	MaxRequests int
	// WriteTimeout limits the write of one answer; 0 means 1 minute.
	WriteTimeout time.Duration
	// FinishTime is the time that handlers have after the peer has ended its stream, so that the
	// requests before its end are answered. It does not apply to a request for which Endless returns
	// true. 0 ends all handlers at once.
	FinishTime time.Duration
	Endless    func(*Message) bool
}

func (o Options) withDefaults() Options {
	if o.MaxLine <= 0 {
		o.MaxLine = ndjson.DefaultMaxLine
	}
	if o.MaxBuffered == 0 {
		o.MaxBuffered = 256 << 20
	}
	if o.MaxRequests == 0 {
		o.MaxRequests = 1024
	}
	if o.WriteTimeout == 0 {
		o.WriteTimeout = time.Minute
	}
	return o
}

// Conn is one side of a conversation. Its methods are safe for concurrent use.
type Conn struct {
	opts  Options
	enc   encoder
	src   io.Reader
	w     *ndjson.Writer
	lines *lineState    // of a peer that a host runs, else nil
	ended chan struct{} // closed when no more messages are dispatched

	ctx    context.Context // context of every callback; ends with the connection
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	changed *sync.Cond // of the queue
	state   state
	work    sync.WaitGroup // reader, dispatcher, handlers; added only while there is no cause
}

// state is the mutable state of a Conn. It changes only inside update.
type state struct {
	nextID   int64
	pending  map[ID]*call
	handling map[ID][]*incoming
	handlers int
	answers  int // handlers whose answer is awaited after the end of the stream, see Options.FinishTime
	queue    []arrival
	queued   int   // bytes in queue
	urgent   int   // pending calls that are answered out of order
	readEnd  error // set when the reader has queued its last line
	cause    error // the reason why the connection has ended, set once
}

// New starts a conversation over r and w and takes both over: Close closes w, and r
// if it is an io.Closer.
func New(r io.Reader, w io.WriteCloser, opts Options) *Conn {
	c := newConn(r, w, opts)
	c.start()
	return c
}

func newConn(r io.Reader, w io.WriteCloser, opts Options) *Conn {
	opts = opts.withDefaults()
	c := &Conn{opts: opts, enc: encoder{opts.Bare}, src: r, w: ndjson.NewWriter(w, opts.WriteTimeout), ended: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.changed = sync.NewCond(&c.mu)
	c.state.pending = map[ID]*call{}
	c.state.handling = map[ID][]*incoming{}
	return c
}

func (c *Conn) start() {
	if c.lines != nil {
		c.work.Go(c.readLines)
	} else {
		c.work.Go(c.read)
	}
	c.work.Go(c.dispatch)
}

func (c *Conn) update(f func(s *state)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.state)
}

// Notify sends a notification. Notifications of one goroutine keep their order.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	line, err := c.enc.request("", method, params)
	if err != nil {
		return err
	}
	return c.write(ctx, callName(""), line)
}

// write writes a line. The name is for a host.
func (c *Conn) write(ctx context.Context, name string, line []byte) error {
	if c.lines != nil {
		return c.writeLine(ctx, name, line)
	}
	if c.opts.Sent != nil {
		c.guarded("", func() { c.opts.Sent(line) })
	}
	err := c.w.WriteLine(ctx, line)
	if err == nil && c.opts.Written != nil {
		c.guarded("", func() { c.opts.Written(line) })
	}
	if errors.Is(err, ndjson.ErrClosed) {
		return c.endError()
	}
	return err
}

// endError returns the reason why the connection ended, or ErrClosed.
func (c *Conn) endError() (err error) {
	c.update(func(s *state) { err = s.cause })
	if err == nil {
		return ErrClosed
	}
	return err
}

// CloseWrite ends the outgoing stream after lines that are being written. The peer may
// continue to write.
func (c *Conn) CloseWrite(ctx context.Context) error { return c.w.CloseAfterWrites(ctx) }

// Close ends the connection: pending calls fail with ErrClosed and the contexts of
// handlers end. It does not wait for callbacks. It may be called several times.
func (c *Conn) Close() error {
	c.fail(ErrClosed)
	err := c.w.Close()
	if closer, ok := c.src.(io.Closer); ok {
		_ = closer.Close() // It is read no more.
	}
	return err
}

// Done returns a channel that is closed when the connection has ended and all earlier
// messages have been dispatched.
func (c *Conn) Done() <-chan struct{} { return c.ended }

// Err returns the reason why the connection ended: io.EOF if the peer closed it, ErrClosed
// after Close, nil while it is open.
func (c *Conn) Err() (err error) {
	c.update(func(s *state) { err = s.cause })
	return err
}

// Wait waits until the connection and all its goroutines have ended. It returns the cause
// of ctx if that takes longer.
func (c *Conn) Wait(ctx context.Context) error {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		c.work.Wait()
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// fail ends the connection with its first cause.
func (c *Conn) fail(cause error) {
	var failed []*call
	c.update(func(s *state) {
		if s.cause != nil {
			return
		}
		s.cause = cause
		for id, p := range s.pending {
			delete(s.pending, id)
			failed = append(failed, p)
		}
		c.cancel(cause)
		c.changed.Broadcast()
	})
	for _, p := range failed {
		p.end("", cause)
	}
}

// guarded calls f; it reports and returns a panic.
func (c *Conn) guarded(method string, f func()) (panicked any) {
	defer func() {
		if v := recover(); v != nil {
			panicked = v
			if c.opts.Panicked != nil {
				c.opts.Panicked(method, v, debug.Stack())
			}
		}
	}()
	f()
	return nil
}
