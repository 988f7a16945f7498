package claude

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed7221b0f9/parley/internal/control"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
	"github.com/seed7221b0f9/parley/internal/ndjson"
)

// defaultBuffered is the default of Options.MaxBuffered.
const defaultBuffered = 256 << 20

// errStopped is the cause of a session that its own user has ended.
var errStopped = errors.New("claude: stopped by its user")

// sink is where a session's messages go. The reader calls deliver and finish,
// which never wait and never run the caller's code.
type sink interface {
	// deliver may return something to warn of.
	deliver(e entry) (warning string)
	finish(err error)
	// buffered counts the bytes that wait for a reader.
	buffered() int64
}

// session is one CLI: its connection, the one goroutine that reads it, the
// control protocol, and what has been learnt from the stream.
type session struct {
	opts  *Options
	conn  wire
	mux   *control.Mux
	sink  sink
	trace *tracer
	open  openRequests
	guard *sessionGuard // nil for a Transport of the caller's

	router *router // the sink of a Client, nil for a query

	mu    sync.Mutex
	state sessionState
	mcp   mcpHost // the servers of this process

	activity activity

	reader  readerState // the reader's own
	waiting atomic.Bool // the reader waits for space

	space   chan struct{} // holds a token when a reader has taken something
	closing chan struct{} // closed when the connection is being closed
	ready   chan struct{} // closed when the handshake has ended, well or not
	over    chan struct{} // closed when the stream has ended
	done    chan struct{} // closed when everything of the session is gone
	work    sync.WaitGroup
}

// sessionState is what changes in a session, and it changes only inside update.
type sessionState struct {
	cause     error // why the session was stopped, the first reason
	stopping  bool
	why       error          // what calls fail with, set when the stream has ended
	asked     bool           // the CLI was asked for its version
	shaken    bool           // the handshake has ended
	shaking   *time.Timer    // ends it if the CLI does not
	shake     shakeClock     // when it does
	answer    *control.Ended // to initialize
	info      *ServerInfo    // the answer, decoded
	infoErr   error
	commands  []SlashCommand // the list that came last, nil if it has not changed
	end       runEnd
	closed    bool // the input
	ceiling   *time.Timer
	exit      *time.Timer
	writeErr  error
	sessionID string
	init      *InitMessage // the last one

	tasks    taskTable
	wake     chan struct{} // closed when the session is idle, nil if nobody waits
	settle   *time.Timer   // bounds runEnd.settling
	clock    time.Time     // since when the deadlines of a turn count
	watchdog *time.Timer
	doing    string           // what the last status said
	retry    *APIRetryMessage // the last one
	retryAt  time.Time
}

// readerState is what only the reader looks at.
type readerState struct {
	failed    *ResultMessage // the last result, if it was an error
	limit     *RateLimitInfo // the last one that was told
	seen      bool           // a message was read
	checked   bool           // the CLI's version was looked at
	follow    string         // a session whose lock is to be taken
	stalled   bool           // reading has stopped once for want of a consumer
	reads     int            // of the connection, at the last line
	unchecked int64          // bytes read since MaxBuffered was looked at
}

func (s *session) update(f func(st *sessionState)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.state)
}

// startSession starts a CLI and sends initialize; ctx bounds that alone. The
// answer is waited for behind.
func startSession(ctx context.Context, opts *Options, out sink, hold bool) (*session, error) {
	opts = opts.clone()
	if err := opts.check(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s := &session{opts: opts, sink: out, trace: beginTrace(ctx, opts), space: make(chan struct{}, 1),
		closing: make(chan struct{}), ready: make(chan struct{}), over: make(chan struct{}), done: make(chan struct{})}
	s.state.end.hold = hold || opts.needsAnswers()
	s.activity.begun = time.Now()
	if s.router, _ = out.(*router); s.router != nil {
		s.router.changed = s.check
	}
	conn, err := s.transport().Connect(ctx)
	if err != nil {
		s.trace.exit(err)
		s.trace.close()
		return nil, err
	}
	s.conn = asWire(conn)
	// The CLI takes its time to start; what can be done meanwhile is done now.
	request, err := opts.initialize()
	if err == nil && opts.hasToolServers() {
		request, err = s.serveTools(ctx, request)
	}
	if err != nil {
		s.closeTools()
		s.waitTools()
		conn.Close()
		s.trace.exit(err)
		s.trace.close()
		return nil, err
	}
	if opts.SessionStore != nil {
		s.sink = newMirror(out, opts, filepath.Join(configDir(opts.environ()), "projects"))
	}
	s.warnShadowed()
	s.mux = control.New(control.Options{Send: s.send, Handle: s.handle, OnPanic: s.panicked, OnIdle: s.unasked})
	s.work.Go(s.read)
	if s.guard != nil && s.guard.on {
		s.work.Go(s.watchOwner)
	}
	s.shake(ctx, request)
	s.openTools()
	go func() {
		s.work.Wait()
		s.trace.close()
		close(s.done)
	}()
	return s, nil
}

func (s *session) transport() Transport {
	if s.opts.Transport != nil {
		return s.opts.Transport
	}
	s.guard = newSessionGuard(s.opts)
	return &processTransport{opts: s.opts, trace: s.trace, guard: s.guard}
}

func (s *session) panicked(req control.Request, value any, stack []byte) {
	s.opts.logger().Error("claude: a callback panicked", "request", req.Subtype, "panic", value, "stack", string(stack))
}

// read is the reader. It ends with the stream.
func (s *session) read() {
	for {
		line, err := s.conn.readLine(context.Background())
		if err == nil {
			err = s.line(line)
		}
		if err != nil {
			s.finish(err)
			return
		}
		s.waitForSpace(len(line.Text))
	}
}

// line takes one line where it belongs. The error, with StrictLines, ends the
// stream.
func (s *session) line(l ndjson.Line) error {
	if n := s.conn.reads(); n != s.reader.reads {
		s.reader.reads = n
		s.activity.touch()
	}
	e := entry{text: l.Text}
	if l.TooLong {
		e.msg = newBadLine(l.Text, l.Size, &DecodeError{Line: l.Text, Err: errTooLong})
	}
	typ := jsonwire.NewDecoder(l.Text).Peek("type")
	switch {
	case e.msg != nil:
	case controlType(typ):
		err := s.mux.Deliver(typ, l.Text)
		if err == nil {
			return nil
		}
		e.msg = newBadLine(l.Text, l.Size, &DecodeError{Line: l.Text, Err: err})
	case hotType(typ) && !s.opts.StrictLines:
		// Left to the consumer, who decodes it.
		s.reader.activity(typ)
		s.activity.hot(typ, l.Text)
		s.trace.line(e)
		s.pass(e)
		return nil
	default:
		e.msg = decodeLine(l.Text)
	}
	if bad, ok := e.msg.(*BadLine); ok && s.opts.StrictLines {
		return bad.Err
	}
	s.activity.message(e.msg, l.Text)
	s.trace.line(e)
	if !s.consume(e.msg, l.Text) {
		s.pass(e)
	}
	// Behind the delivery, by which turns end.
	s.check()
	s.followSession()
	return nil
}

// followSession takes the lock of a session that the CLI has begun to write.
func (s *session) followSession() {
	if id := s.reader.follow; id != "" && s.guard != nil {
		s.work.Go(func() { s.guard.follow(id) })
	}
	s.reader.follow = ""
}

// pass hands a line on.
func (s *session) pass(e entry) {
	first := s.noteFirst(e)
	if warning := s.sink.deliver(e); warning != "" {
		s.warn(warning)
	}
	if first {
		runtime.Gosched() // somebody has been waiting for it since the start
	}
}

var errTooLong = errors.New("line over Options.MaxLine")

// hotType are the types that make up nearly all of a stream and change nothing
// that the session needs to know.
func hotType(typ string) bool {
	return typ == "stream_event" || typ == "assistant" || typ == "user"
}

// controlType are the types of the control protocol.
func controlType(typ string) bool {
	return typ == "control_request" || typ == "control_response" || typ == "control_cancel_request"
}

// consume takes note of a message; it returns true when the message is for the
// session alone.
func (s *session) consume(m Message, text string) bool {
	switch m := m.(type) {
	case *KeepAliveMessage:
		return true
	case *TranscriptMirrorMessage:
		if s.opts.SessionStore != nil {
			s.sink.deliver(entry{text: text, msg: m}) // to the mirror, which keeps it
		}
		return true
	case *SessionStateChangedMessage:
		s.note(m)
		if m.SDKHostOnly {
			s.sink.deliver(entry{text: text, msg: m}) // which does not pass it on
		}
		return m.SDKHostOnly
	}
	s.note(m)
	return false
}

// activity notes a line of a hot type: the model is at work again, so an error
// result before it is no longer how the run ends.
func (r *readerState) activity(typ string) {
	if typ != "user" {
		r.failed = nil
	}
}

func (s *session) note(m Message) {
	if init, ok := m.(*InitMessage); ok && !s.reader.checked {
		s.reader.checked = true
		s.checkVersion(init.ClaudeCodeVersion)
	}
	s.reader.note(m)
	s.update(func(st *sessionState) {
		if id := m.Head().SessionID; id != "" && id != st.sessionID {
			st.sessionID = id
			s.reader.follow = id
		}
		st.see(m)
		s.spareHooks(st, m)
		st.tasks.see(m, s.activity.tools.parent)
		st.end.see(m)
		s.watchRunEnd(st, m)
		s.watchSettling(st)
	})
}

// see keeps what is asked for later.
func (st *sessionState) see(m Message) {
	switch m := m.(type) {
	case *InitMessage:
		st.init = m
	case *CommandsChangedMessage:
		st.commands, st.info = append([]SlashCommand{}, m.Commands...), nil
	case *StatusMessage:
		st.doing = m.Status
	case *APIRetryMessage:
		st.retry, st.retryAt = m, time.Now()
	case *ResultMessage:
		st.doing, st.clock = "", time.Now()
	}
}

func (r *readerState) note(m Message) {
	switch m := m.(type) {
	case *ResultMessage:
		r.result(m)
	case *InitMessage, *AssistantMessage, *StreamEventMessage:
		r.failed = nil
	case *RateLimitEventMessage:
		r.limit = &m.RateLimitInfo
	}
}

// result remembers an error result. A turn that went well takes it back, one in
// which the model had no part does not.
func (r *readerState) result(m *ResultMessage) {
	switch {
	case m.IsError:
		r.failed = m
	case m.NumTurns > 0 || m.Result != "":
		r.failed = nil
	}
}

func (s *session) noteFirst(e entry) (first bool) {
	if s.reader.seen {
		return false
	}
	s.reader.seen = true
	s.trace.firstMessage(e)
	return true
}

// waitForSpace holds the reader while more than MaxBuffered bytes wait. The CLI
// then feels it on its pipe.
func (s *session) waitForSpace(read int) {
	limit := int64(s.opts.MaxBuffered)
	if limit <= 0 {
		limit = defaultBuffered
	}
	// Asking costs more than a small line; a sixteenth over the limit is no matter.
	if s.reader.unchecked += int64(read); s.reader.unchecked < limit/16 {
		return
	}
	s.reader.unchecked = 0
	if s.sink.buffered() <= limit {
		return
	}
	s.tellStalled()
	s.waiting.Store(true)
	defer s.waiting.Store(false)
	defer s.activity.touch() // what waited with it is no older
	for s.sink.buffered() > limit {
		select {
		case <-s.space:
		case <-s.closing:
			return // whoever closes wants the end of the stream, not its middle
		}
	}
}

func (s *session) tellStalled() {
	if !s.reader.stalled {
		s.reader.stalled = true
		n := s.sink.buffered()
		s.warn("claude: reading has stopped, the consumer is slow", "bytes", n)
		s.trace.buffered(n)
	}
}

// warn logs from the goroutine that calls the functions of Trace: a handler of
// logs is the caller's code too.
func (s *session) warn(msg string, args ...any) {
	s.trace.call(func() { s.opts.logger().Warn(msg, args...) })
}

// freed is called by consumers when they have taken something.
func (s *session) freed() {
	if !s.waiting.Load() {
		return
	}
	select {
	case s.space <- struct{}{}:
	default:
	}
}

// finish ends the session from its reader: nothing more will come.
func (s *session) finish(readErr error) {
	err := s.outcome(readErr)
	cause := err
	if cause == nil {
		cause = errEnded
	}
	s.update(func(st *sessionState) {
		st.closed, st.why = true, cause
		for _, t := range []*time.Timer{st.ceiling, st.exit, st.settle, st.watchdog} {
			stopTimer(t)
		}
	})
	close(s.over)
	s.mux.Fail(cause)
	s.closeTools()
	s.sink.finish(err)
	s.conn.Close()
	s.mux.Wait()
	s.waitTools()
	<-s.ready // the end of the handshake is told first
	s.trace.exit(err)
	s.trace.debug(s.opts.logger(), "claude: the session has ended", "error", err)
	// From here on there is nothing to stop; work must not grow behind its end.
	s.update(func(st *sessionState) { st.stopping = true })
}

// errEnded is what a call on a CLI that has ended well fails with.
var errEnded = &endedError{}

type endedError struct{}

func (*endedError) Error() string        { return "claude: the CLI has ended" }
func (*endedError) Is(target error) bool { return target == ErrClosed }

// outcome is what the session ends with: the reason why it was stopped, else the
// error result that made the CLI exit, else how it exited.
func (s *session) outcome(readErr error) (err error) {
	s.update(func(st *sessionState) {
		exit, exited := errors.AsType[*ExitError](readErr)
		switch {
		case st.cause != nil:
			err = st.cause
		case exited && exit.Signal == "" && exit.Err == nil && s.reader.failed != nil:
			err = resultError(s.reader.failed, s.reader.limit)
		case errors.Is(readErr, io.EOF):
			err = st.writeErr // mostly nil
		default:
			err = readErr
		}
	})
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

// resultError is the error of a failed result, with the time of the limit's end
// where that is what it failed on.
func resultError(m *ResultMessage, limit *RateLimitInfo) error {
	err := m.Err()
	if m.APIErrorStatus != 429 {
		return err
	}
	rl := &RateLimitError{Err: err}
	if limit != nil && limit.ResetsAt > 0 {
		rl.ResetsAt = time.Unix(int64(limit.ResetsAt), 0)
	}
	return rl
}

// stop ends the CLI, for the given reason unless there is one already, and does
// not wait for it.
func (s *session) stop(cause error) {
	s.update(func(st *sessionState) {
		if st.cause == nil {
			st.cause = cause
		}
		if st.stopping {
			return
		}
		st.stopping = true
		close(s.closing)
		s.work.Go(func() { s.conn.Close() })
	})
}

// close ends the CLI and waits until everything of it is gone.
func (s *session) close() {
	s.stop(errStopped)
	<-s.done
}

func stopTimer(t *time.Timer) {
	if t != nil {
		t.Stop()
	}
}
