package control

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// A handler returns ErrNoAnswer to leave a request unanswered, because it is answered
// elsewhere or must not be.
var ErrNoAnswer = errors.New("control: no answer")

// errWithdrawn is the cause of a handler's context when the CLI cancelled its request.
var errWithdrawn = errors.New("control: the request was withdrawn")

// withdrawTime limits the sending of a cancellation to the CLI.
const withdrawTime = 5 * time.Second

// Error is an error answer, in either direction.
type Error struct {
	Message string
	Code    string // the wire's error_code, often empty
}

func (e *Error) Error() string { return e.Message }

// Unsupported returns the answer to a request without a handler.
func Unsupported(subtype string) *Error {
	return &Error{Message: "Unsupported control request subtype: " + subtype, Code: "unsupported_request"}
}

// Request is a request of the CLI.
type Request struct {
	ID      string
	Subtype string
	Body    string // the JSON of the request object
}

// Handler answers a request of the CLI. A nil response with a nil error gives an answer
// without a body. The context ends when the CLI cancels the request and when the connection
// ends.
type Handler func(ctx context.Context, req Request) (response []byte, err error)

// Mux is the multiplexer. Its methods are safe for concurrent use.
type Mux struct {
	send   func(ctx context.Context, line []byte) error
	handle Handler
	panics func(req Request, value any, stack []byte)
	idle   func()

	mu       sync.Mutex
	state    state
	handlers sync.WaitGroup // incremented only inside update, while there is no cause
}

// state is the mutable state of a Mux. It changes only inside update.
type state struct {
	pending  map[string]*call     // outgoing calls without an answer
	handling map[string]*incoming // requests of the CLI without an answer
	held     bool                 // requests wait for Release
	replying int                  // answers that are being written
	strays   int                  // answers without a waiting caller
	nextID   int
	cause    error // the reason why no more answers arrive, set once
}

type call struct {
	done   chan struct{}
	then   func(Ended) // called when the call has ended
	line   string      // the undecoded answer; otherwise:
	answer Answer
	err    error
}

type incoming struct {
	cancel context.CancelCauseFunc // nil while the request is held
	req    Request
	since  time.Time
}

func (in *incoming) end(cause error) {
	if in.cancel != nil {
		in.cancel(cause)
	}
}

// Answer is an answer of the CLI.
type Answer struct {
	Body     string // the JSON of the response, or ""
	Envelope string // the JSON of the whole response object
}

// Options configures a Mux.
type Options struct {
	// Send writes one line.
	Send func(ctx context.Context, line []byte) error
	// Handle answers the CLI's requests, each in a new goroutine; nil answers all of them with
	// Unsupported.
	Handle Handler
	// OnPanic is called for a handler that panicked; the CLI gets an error answer.
	OnPanic func(req Request, value any, stack []byte)
	// OnIdle is called when the last of the CLI's requests has been answered or cancelled. It
	// may be called by any goroutine and must not block. It is not called after Fail.
	OnIdle func()
}

// New returns a Mux.
func New(opts Options) *Mux {
	m := &Mux{send: opts.Send, handle: opts.Handle, panics: opts.OnPanic, idle: opts.OnIdle}
	m.state.pending = map[string]*call{}
	m.state.handling = map[string]*incoming{}
	return m
}

func (m *Mux) update(f func(s *state)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(&m.state)
}

// Call sends a request, request being the JSON of its request object, and waits
// for the answer. When ctx ends first, the request is cancelled at the CLI and the call ends
// with the cause of ctx. An error answer is an *Error.
func (m *Mux) Call(ctx context.Context, request []byte) (Answer, error) {
	if ctx.Err() != nil {
		return Answer{}, context.Cause(ctx)
	}
	id, c, err := m.register(nil)
	if err != nil {
		return Answer{}, err
	}
	// Registered before the write, because the answer may arrive before the write returns.
	if err := m.send(ctx, requestLine(id, request)); err != nil {
		return m.give(id, c, err)
	}
	select {
	case <-c.done:
		return c.outcome()
	case <-ctx.Done():
		answer, err := m.give(id, c, context.Cause(ctx))
		if err != nil {
			m.withdraw(ctx, id)
		}
		return answer, err
	}
}

// Started is a call without a waiting caller.
type Started struct {
	m  *Mux
	id string
	c  *call
}

// Start sends a request and returns when it is written. then is called once, when the call has
// ended, by the goroutine that ends it, and must not block; it is not called if Start returns
// an error. Unlike Call it needs no waiting goroutine.
func (m *Mux) Start(ctx context.Context, request []byte, then func(Ended)) (*Started, error) {
	id, c, err := m.register(then)
	if err != nil {
		return nil, err
	}
	if err := m.send(ctx, requestLine(id, request)); err != nil && m.forget(id, c) {
		return nil, err
	}
	return &Started{m, id, c}, nil
}

// forget removes a call as if it had never been made. It returns false if the call has ended.
func (m *Mux) forget(id string, c *call) (yes bool) {
	m.update(func(s *state) {
		if yes = s.pending[id] == c; yes {
			delete(s.pending, id)
		}
	})
	return yes
}

// GiveUp ends the call with err, unless it has ended.
func (s *Started) GiveUp(err error) { _, _ = s.m.give(s.id, s.c, err) }

// Ended is a call that has ended.
type Ended struct{ c *call }

// Good reports whether the CLI answered without an error; Outcome decodes the answer.
func (e Ended) Good() bool { return e.c.line != "" || e.c.err == nil }

// Mentions reports whether the answer contains text, without decoding it.
func (e Ended) Mentions(text string) bool {
	return strings.Contains(e.c.line, text) || strings.Contains(e.c.answer.Envelope, text)
}

// Outcome returns the answer or the error of the call.
func (e Ended) Outcome() (Answer, error) { return e.c.outcome() }

func (m *Mux) register(then func(Ended)) (id string, c *call, err error) {
	c = &call{done: make(chan struct{}), then: then}
	m.update(func(s *state) {
		if err = s.cause; err != nil {
			return
		}
		s.nextID++
		id = newID(s.nextID)
		s.pending[id] = c
	})
	return id, c, err
}

// newID returns an id that is unique in this process and not predictable.
func newID(n int) string { return "req_" + strconv.Itoa(n) + "_" + rand.Text()[:8] }

// give ends a call with err, unless it has ended.
func (m *Mux) give(id string, c *call, err error) (Answer, error) {
	var then func(Ended)
	m.update(func(s *state) {
		if s.pending[id] == c {
			delete(s.pending, id)
			c.err = err
			close(c.done)
			then = c.then
		}
	})
	if then != nil {
		then(Ended{c})
	}
	<-c.done
	return c.outcome()
}

// withdraw sends the CLI a cancellation of a call, within withdrawTime.
func (m *Mux) withdraw(ctx context.Context, id string) {
	started := false
	m.update(func(s *state) {
		if started = s.cause == nil; started {
			m.handlers.Add(1)
		}
	})
	if !started {
		return
	}
	go func() {
		defer m.handlers.Done()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
		defer cancel()
		// The call has already ended with an error, so this error is ignored.
		_ = m.send(ctx, cancelLine(id))
	}()
}

// Deliver handles a line of the types control_request, control_response and
// control_cancel_request. It never blocks. It returns an error, and has no effect, if the line
// is not JSON.
func (m *Mux) Deliver(typ, line string) error {
	switch typ {
	case "control_response":
		return m.answered(line)
	case "control_request":
		return m.requested(line)
	case "control_cancel_request":
		var msg struct {
			RequestID string `json:"request_id"`
		}
		if err := jsonwire.Unmarshal(line, &msg); err != nil {
			return err
		}
		m.withdrawn(msg.RequestID)
	}
	return nil
}

// response is the answer in a control_response. It is decoded in one pass, because an answer
// can be long and the longest one delays the first message.
type response struct {
	Subtype   string  `json:"subtype"`
	RequestID string  `json:"request_id"`
	Response  rawText `json:"response"`
	Error     string  `json:"error"`
	ErrorCode string  `json:"error_code"`

	envelope string
}

var _ = jsonwire.Register(func(d *jsonwire.Decoder) *response {
	type plain response
	start := d.Offset()
	var r plain
	d.Into(&r)
	r.envelope = d.Since(start)
	return (*response)(&r)
})

// quickHead is the start of a successful answer of the CLI.
const quickHead = `{"type":"control_response","response":{"subtype":"success","request_id":`

// answered passes an answer to its call. The waiting caller decodes a successful answer, not
// the reader, because it can be long.
func (m *Mux) answered(line string) error {
	d := jsonwire.NewDecoder(line)
	if d.Literal(quickHead) {
		if id, ok := d.String(); ok && d.Err() == nil {
			m.end(id, func(c *call) { c.line = line })
			return nil
		}
	}
	r, err := decodeResponse(line)
	if err != nil {
		return err
	}
	m.end(r.RequestID, func(c *call) { c.answer, c.err = r.answer() })
	return nil
}

// end ends the call that waits for an answer with this id, if there is one.
func (m *Mux) end(id string, set func(c *call)) {
	var c *call
	m.update(func(s *state) {
		if c = s.pending[id]; c == nil {
			s.strays++ // late, duplicate or unknown
			return
		}
		delete(s.pending, id)
		set(c)
		close(c.done)
	})
	if c != nil && c.then != nil {
		c.then(Ended{c})
	}
}

func decodeResponse(line string) (*response, error) {
	var msg struct {
		Response *response `json:"response"`
	}
	if err := jsonwire.Unmarshal(line, &msg); err != nil {
		return nil, err
	}
	if msg.Response == nil {
		return &response{}, nil
	}
	return msg.Response, nil
}

func (r *response) answer() (Answer, error) {
	if r.Subtype == "error" {
		return Answer{Envelope: r.envelope}, &Error{Message: r.Error, Code: r.ErrorCode}
	}
	return Answer{Body: string(r.Response), Envelope: r.envelope}, nil
}

// outcome returns the result of a call; done is closed.
func (c *call) outcome() (Answer, error) {
	if c.line == "" {
		return c.answer, c.err
	}
	r, err := decodeResponse(c.line)
	if err != nil {
		return Answer{}, fmt.Errorf("the answer is not JSON: %w", err)
	}
	return r.answer()
}

// rawText holds the text of a value.
type rawText string

var _ = jsonwire.RegisterText[rawText]()

func (m *Mux) requested(line string) error {
	var msg struct {
		RequestID string  `json:"request_id"`
		Request   rawText `json:"request"`
	}
	if err := jsonwire.Unmarshal(line, &msg); err != nil {
		return err
	}
	req := Request{ID: msg.RequestID, Body: string(msg.Request)}
	req.Subtype = jsonwire.NewDecoder(req.Body).Peek("subtype")
	m.Dispatch(req)
	return nil
}

// Dispatch handles a request in a new goroutine, unless one with the same id is being handled
// or the connection has ended.
func (m *Mux) Dispatch(req Request) {
	m.update(func(s *state) {
		if _, twice := s.handling[req.ID]; twice || s.cause != nil {
			return
		}
		in := &incoming{req: req, since: time.Now()}
		s.handling[req.ID] = in
		if !s.held {
			m.begin(in)
		}
	})
}

// begin handles a request. It runs inside update.
func (m *Mux) begin(in *incoming) {
	ctx, cancel := context.WithCancelCause(context.Background())
	in.cancel = cancel
	m.handlers.Go(func() { m.serve(ctx, in.req, in) })
}

func (m *Mux) serve(ctx context.Context, req Request, in *incoming) {
	var response []byte
	err := fmt.Errorf("the handler of %s did not return", req.Subtype) // but ended its goroutine
	defer func() { m.reply(ctx, req, in, response, err) }()
	response, err = m.run(ctx, req)
}

// reply answers a request that has been handled.
func (m *Mux) reply(ctx context.Context, req Request, in *incoming, response []byte, err error) {
	mine := false
	m.update(func(s *state) {
		// A cancelled request is no longer in the map and not answered. Another request may
		// have its id.
		if mine = s.handling[req.ID] == in; mine {
			delete(s.handling, req.ID)
			s.replying++
		}
	})
	in.cancel(nil)
	if !mine {
		return
	}
	if !errors.Is(err, ErrNoAnswer) {
		// Fail reports the connection's end to all callers, not this.
		_ = m.send(context.WithoutCancel(ctx), responseLine(req.ID, response, err))
	}
	m.settle(func(s *state) { s.replying-- })
}

// settle applies f and calls idle when no request remains.
func (m *Mux) settle(f func(s *state)) {
	idle := false
	m.update(func(s *state) {
		before := s.busy()
		f(s)
		idle = before > 0 && s.busy() == 0 && s.cause == nil
	})
	if idle && m.idle != nil {
		m.idle()
	}
}

func (s *state) busy() int { return len(s.handling) + s.replying }

// run calls the handler; a panic becomes an error.
func (m *Mux) run(ctx context.Context, req Request) (response []byte, err error) {
	if m.handle == nil {
		return nil, Unsupported(req.Subtype)
	}
	defer func() {
		if v := recover(); v != nil {
			response, err = nil, fmt.Errorf("the handler of %s panicked: %v", req.Subtype, v)
			if m.panics != nil {
				m.panics(req, v, debug.Stack())
			}
		}
	}()
	return m.handle(ctx, req)
}

func (m *Mux) withdrawn(id string) {
	m.settle(func(s *state) {
		if in, ok := s.handling[id]; ok {
			delete(s.handling, id)
			in.end(errWithdrawn)
		}
	})
}

// Refuse sets another error for calls after the end.
func (m *Mux) Refuse(cause error) {
	m.update(func(s *state) {
		if s.cause != nil && cause != nil {
			s.cause = cause
		}
	})
}

// Fail ends the multiplexer: every pending call fails with cause at once, every handler's
// context ends, later calls fail with cause. The first cause counts.
func (m *Mux) Fail(cause error) {
	var failed []*call
	defer func() {
		for _, c := range failed {
			if c.then != nil {
				c.then(Ended{c})
			}
		}
	}()
	m.update(func(s *state) {
		if s.cause != nil {
			return
		}
		s.cause = cause
		for id, c := range s.pending {
			delete(s.pending, id)
			c.err = cause
			close(c.done)
			failed = append(failed, c)
		}
		for id, in := range s.handling {
			delete(s.handling, id)
			in.end(cause)
		}
	})
}

// Busy counts the CLI's requests that are being handled or answered.
func (m *Mux) Busy() (n int) {
	m.update(func(s *state) { n = s.busy() })
	return n
}

// Open is a request of the CLI that is being handled.
type Open struct {
	Request
	Since time.Time
}

// Open lists the CLI's requests that are being handled, the oldest first.
func (m *Mux) Open() (list []Open) {
	m.update(func(s *state) {
		for _, in := range s.handling {
			list = append(list, Open{in.req, in.since})
		}
	})
	slices.SortFunc(list, func(a, b Open) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.ID, b.ID))
	})
	return list
}

// Strays counts answers without a waiting caller.
func (m *Mux) Strays() (n int) {
	m.update(func(s *state) { n = s.strays })
	return n
}

// Wait waits until every handler has returned. After Fail no new one begins.
func (m *Mux) Wait() { m.handlers.Wait() }
