package claude

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed7221b0f9/parley/claude/internal/control"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/claudedir"
)

// defaultBuffered is the default of Options.MaxBuffered.
const defaultBuffered = 256 << 20

// errStopped is the cause of a session that its caller has closed.
var errStopped = errors.New("claude: stopped by its user")

// sink receives a session's messages. The reader calls deliver and finish, which never
// block and never run the caller's code.
type sink interface {
	// deliver may return a warning to log.
	deliver(e entry) (warning string)
	finish(err error)
	// buffered counts the bytes that wait for a consumer.
	buffered() int64
}

// session is one CLI: its connection, the one goroutine that reads it, the control
// protocol, and the state derived from the stream.
type session struct {
	launch *launch
	conn   wire
	mux    *control.Mux
	sink   sink
	trace  *tracer

	responder responder
	mcp       mcpHost // the servers of this process

	guard *sessionGuard // nil for a custom Transport

	mu    sync.Mutex
	state sessionState

	activity activity

	waiting atomic.Bool // the reader waits for space

	space   chan struct{} // holds a token when a consumer has taken a message
	closing chan struct{} // closed when the session begins to close
	ready   chan struct{} // closed when the handshake has ended, with or without success
	over    chan struct{} // closed when the stream has ended
	done    chan struct{} // closed when all goroutines and processes have ended
	work    sync.WaitGroup
	halted  chan struct{} // closed when halt has asked the CLI to exit
}

// sessionState is the mutable state of a session. It changes only inside update. Separate
// pure types make the decisions: handshake, runEnd, taskTable.
type sessionState struct {
	// rebuilding is true until an adopted session has read the past lines
	rebuilding bool

	cause    error // the first cause with which the session was stopped
	halting  bool
	leaving  bool  // the session is closing
	stopping bool  // the connection is being closed
	why      error // the error of later calls, set when the stream has ended
	asked    bool  // the CLI was asked for its version
	closed   bool  // the input
	ceiling  bool  // the input was closed despite background tasks, at RunEndTimeout
	writeErr error

	handshake handshake
	info      *ServerInfo            // its answer, decoded
	commands  []message.SlashCommand // the newest list, nil if it has not changed
	end       runEnd
	tasks     taskTable
	turns     *router // the sink of a Client, nil for a query
	timers    sessionTimers

	sessionID string
	init      *message.Init     // the last one
	wake      chan struct{}     // closed when the session is idle; nil without waiting callers
	clock     time.Time         // start of the current deadlines of a turn
	doing     string            // the last reported status
	retry     *message.APIRetry // the last one
	retryAt   time.Time
}

// sessionTimers are the running deadlines of a session; nil if not running.
type sessionTimers struct {
	handshake *time.Timer // gives up initialize
	ceiling   *time.Timer // closes the input despite background tasks
	exit      *time.Timer // stops a CLI that does not exit
	settle    *time.Timer // bounds runEnd.settling
	watchdog  *time.Timer // checks whether a turn has stalled
}

func (t *sessionTimers) stop() {
	for _, timer := range []*time.Timer{t.handshake, t.ceiling, t.exit, t.settle, t.watchdog} {
		stopTimer(timer)
	}
}

func (s *session) update(f func(st *sessionState)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.state)
}

// see stores the values of a message that later calls return.
func (st *sessionState) see(m message.Message) {
	switch m := m.(type) {
	case *message.Init:
		st.init = m
	case *message.CommandsChanged:
		st.commands, st.info = append([]message.SlashCommand{}, m.Commands...), nil
	case *message.Status:
		st.doing = m.Status
	case *message.APIRetry:
		st.retry, st.retryAt = m, time.Now()
	case *message.Result:
		st.doing, st.clock = "", time.Now()
	}
}

// startSession starts the CLI of a launch and writes initialize; ctx applies only to
// that. It does not wait for the answer.
func startSession(ctx context.Context, l *launch, out sink, hold bool) (*session, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s := newSession(ctx, l, out, hold)
	conn, err := s.transport().Connect(ctx)
	if err != nil {
		s.trace.exit(err)
		s.trace.close()
		return nil, err
	}
	s.conn = asWire(conn)
	// Use the time while the CLI starts.
	request, err := l.initialize()
	if err == nil && l.hasToolServers() {
		request, err = s.mcp.serve(ctx, request)
	}
	if err != nil {
		s.mcp.close()
		s.mcp.wait()
		conn.Close()
		s.trace.exit(err)
		s.trace.close()
		return nil, err
	}
	if l.SessionStore != nil {
		s.sink = newMirror(out, l, claudedir.Projects(claudedir.Config(claudedir.Environ(l.environ()))))
	}
	for _, w := range l.shadows() {
		s.warn("claude: a permission callback is never asked", "because", w.because, "tools", w.tools)
	}
	s.run(ctx, request)
	return s, nil
}

func newSession(ctx context.Context, l *launch, out sink, hold bool) *session {
	s := &session{launch: l, sink: out, trace: beginTrace(ctx, l), activity: activity{begun: time.Now()}, space: make(chan struct{}, 1),
		closing: make(chan struct{}), ready: make(chan struct{}), over: make(chan struct{}), done: make(chan struct{}), halted: make(chan struct{})}
	if l.Transport == nil {
		s.guard = newSessionGuard(l)
	}
	turns, _ := out.(*router)
	if turns != nil {
		turns.changed, turns.closed = s.check, s.wasStopped
	}
	s.state = sessionState{end: runEnd{hold: hold || l.needsAnswers()}, turns: turns}
	s.mux = control.New(control.Options{Send: s.send, Handle: s.responder.handle, OnPanic: l.panicked, OnIdle: s.callbacksDone})
	s.responder = responder{launch: l, trace: s.trace, mcp: &s.mcp, closing: s.closing, start: s.work.Go, has: s.has, warn: s.warn}
	s.mcp = mcpHost{launch: l, elicitation: s.responder.elicitation, send: s.sendOnly}
	return s
}

// wasStopped reports whether the caller has closed the session.
func (s *session) wasStopped() (yes bool) {
	s.update(func(st *sessionState) { yes = errors.Is(st.cause, errStopped) })
	return yes
}

// sendOnly sends a request without waiting for its answer.
func (s *session) sendOnly(ctx context.Context, request []byte) error {
	_, err := s.mux.Start(ctx, request, nil)
	return err
}

// run starts the goroutines of a connected session and its handshake.
func (s *session) run(ctx context.Context, request []byte) {
	end := s.begin(&reader{s: s})
	s.initialize(ctx, request)
	s.mcp.open()
	end()
}

// begin starts the goroutines of a connected session. It calls end when no more goroutines can be started from outside of
// them.
func (s *session) begin(r *reader) (end func()) {
	s.work.Go(r.run)
	if s.guard != nil && s.guard.on {
		s.work.Go((&ownerWatch{s: s}).run)
	}
	return func() {
		go func() {
			s.work.Wait()
			s.trace.close()
			close(s.done)
		}()
	}
}

func (s *session) transport() Transport {
	if s.launch.Transport != nil {
		return s.launch.Transport
	}
	return &processTransport{launch: s.launch, trace: s.trace, guard: s.guard}
}

// warn logs in the tracer's goroutine, because a log handler is the caller's code.
func (s *session) warn(msg string, args ...any) {
	s.trace.call(func() { s.launch.logger().Warn(msg, args...) })
}

// freed is called by consumers when they have taken a message.
func (s *session) freed() {
	if !s.waiting.Load() {
		return
	}
	select {
	case s.space <- struct{}{}:
	default:
	}
}

// errEnded is the error of a call on a CLI that has exited with success.
var errEnded error = &endedError{}

type endedError struct{}

func (*endedError) Error() string { return "claude: the CLI exited" }

func (*endedError) Is(target error) bool { return target == ErrClosed }

func stopTimer(t *time.Timer) {
	if t != nil {
		t.Stop()
	}
}
