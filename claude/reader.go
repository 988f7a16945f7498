package claude

import (
	"cmp"
	"context"
	"errors"
	"io"
	"runtime"

	"github.com/seed7221b0f9/parley/claude/internal/decode"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
	"github.com/seed7221b0f9/parley/internal/ndjson"
)

// reader is the goroutine that reads the connection of a session. No other goroutine uses
// its fields. It waits for consumers only at MaxBuffered, and never runs the caller's
// code.
type reader struct {
	s *session
	// until is the number of the last past line, or 0. Lines up to it restore the session.
	until  uint64
	client *Client // the client of an adopted session
	// initialized is set when the previous process has written initialize.
	initialized bool

	outcome   outcome
	seen      bool   // a message was read
	checked   bool   // the CLI's version was checked
	follow    string // a session to lock
	stalled   bool   // reading has stopped at least once because of a slow consumer
	reads     int    // reads of the connection at the last line
	unchecked int64  // bytes read since the last check of MaxBuffered
	junk      []byte // the beginning of the output before the handshake that is not JSON
}

// run reads until the stream ends.
func (r *reader) run() {
	for {
		line, err := r.s.conn.readLine(context.Background())
		if err == nil {
			err = r.line(line)
		}
		if err != nil {
			r.finish(err)
			return
		}
		r.waitForSpace(len(line.Text))
	}
}

// line processes a line of either direction. The error, with StrictLines, ends the stream.
func (r *reader) line(l ndjson.Line) error {
	if n := r.s.conn.reads(); n != r.reads {
		r.reads = n
		r.s.activity.touch()
	}
	c, ok := r.s.conn.(*lineConn)
	if !ok {
		return r.dispatch(l, entry{text: l.Text})
	}
	e := entry{text: l.Text, mark: markOf(c.last.Number, messageLine)}
	defer r.past(c.last.Number)
	if c.last.Input {
		r.wrote(e)
		return nil
	}
	return r.dispatch(l, e)
}

// dispatch passes a line of the CLI to the control protocol or to the consumer.
func (r *reader) dispatch(l ndjson.Line, e entry) error {
	if l.TooLong {
		return r.decoded(badLine(l, errTooLong), e)
	}
	typ := jsonwire.NewDecoder(l.Text).Peek("type")
	switch {
	case controlType(typ):
		r.tap(e, controlLine)
		if err := r.s.mux.Deliver(typ, l.Text); err != nil {
			return r.decoded(badLine(l, err), e)
		}
		return nil
	case hotType(typ) && !r.s.launch.StrictLines:
		// The consumer decodes it.
		r.outcome.active(typ)
		r.s.activity.hot(typ, l.Text)
		r.s.trace.line(e)
		r.pass(e)
		return nil
	}
	return r.decoded(decode.Line(l.Text), e)
}

func badLine(l ndjson.Line, err error) *message.BadLine {
	return message.NewBadLine(l.Text, l.Size, &message.DecodeError{Line: l.Text, Err: err})
}

// decoded passes a decoded line to the session and to the consumer.
func (r *reader) decoded(m message.Message, e entry) error {
	if bad, ok := m.(*message.BadLine); ok && r.s.launch.StrictLines {
		return bad.Err
	}
	e.decoded = &m
	r.noteJunk(m, e.text)
	r.s.activity.message(m, e.text)
	r.s.trace.line(e)
	if !r.consume(m, e.text) {
		r.pass(e)
	}
	// After the delivery, because that ends turns.
	r.s.check()
	r.followSession()
	return nil
}

// maxJunk limits the kept output that is not part of the protocol.
const maxJunk = 2 << 10

// noteJunk keeps the beginning of output that is not part of the protocol.
func (r *reader) noteJunk(m message.Message, text string) {
	if _, bad := m.(*message.BadLine); bad && len(r.junk) < maxJunk {
		r.junk = append(append(r.junk, text[:min(len(text), maxJunk)]...), '\n')
	}
}

// early adds the program and its output to the error of a process that exited before it
// answered initialize.
func (r *reader) early(err, readErr error) error {
	p := processOf(r.s.conn)
	if p == nil {
		return err // a Transport reports its own error
	}
	e := &EarlyExitError{Path: p.path, Stdout: string(r.junk), Stderr: p.stderr()}
	if exit, ok := errors.AsType[*ExitError](err); ok {
		e.Err = exit
	} else if !errors.Is(readErr, io.EOF) {
		return err
	}
	return e
}

// followSession locks a session that the CLI has begun to write.
func (r *reader) followSession() {
	if id := r.follow; id != "" && r.s.guard != nil {
		r.s.work.Go(func() { r.s.guard.follow(id) })
	}
	r.follow = ""
}

// pass delivers a line.
func (r *reader) pass(e entry) {
	first := r.noteFirst(e)
	if warning := r.s.sink.deliver(e); warning != "" {
		r.s.warn(warning)
	}
	if first {
		runtime.Gosched() // so that a consumer runs that has waited since the start
	}
}

var errTooLong = errors.New("line over Options.MaxLine")

// hotType reports whether a type is one of those that make up nearly all of a stream and
// do not affect the state of the session.
func hotType(typ string) bool {
	return typ == "stream_event" || typ == "assistant" || typ == "user"
}

// controlType reports whether a type belongs to the control protocol.
func controlType(typ string) bool {
	return typ == "control_request" || typ == "control_response" || typ == "control_cancel_request"
}

// consume processes a message. It returns true if the message is only for the session.
func (r *reader) consume(m message.Message, text string) bool {
	switch m := m.(type) {
	case *message.KeepAlive:
		return true
	case *message.TranscriptMirror:
		if r.s.launch.SessionStore != nil {
			r.s.sink.deliver(decodedEntry(text, m)) // to the mirror, which consumes it
		}
		return true
	case *message.SessionStateChanged:
		r.note(m)
		if m.SDKHostOnly {
			r.s.sink.deliver(decodedEntry(text, m)) // the mirror does not pass it on
		}
		return m.SDKHostOnly
	}
	r.note(m)
	return false
}

func (r *reader) note(m message.Message) {
	if init, ok := m.(*message.Init); ok && !r.checked {
		r.checked = true
		r.s.checkVersion(init.ClaudeCodeVersion)
	}
	r.outcome.see(m)
	r.s.update(func(st *sessionState) {
		if id := m.Head().SessionID; id != "" && id != st.sessionID {
			st.sessionID = id
			r.follow = id
		}
		st.see(m)
		r.s.watchHandshake(st, m)
		st.tasks.see(m, r.s.activity.tools.parent)
		st.end.see(m)
		r.s.watchRunEnd(st, m)
		r.s.watchSettling(st)
	})
}

func (r *reader) noteFirst(e entry) (first bool) {
	if r.seen {
		return false
	}
	r.seen = true
	r.s.trace.firstMessage(e)
	return true
}

// waitForSpace blocks the reader while more than MaxBuffered bytes are queued, so that
// the CLI blocks on its pipe.
func (r *reader) waitForSpace(read int) {
	limit := int64(r.s.launch.MaxBuffered)
	if limit <= 0 {
		limit = defaultBuffered
	}
	// The check costs more than a small line, so it runs once per sixteenth of the limit.
	if r.unchecked += int64(read); r.unchecked < limit/16 {
		return
	}
	r.unchecked = 0
	if r.s.sink.buffered() <= limit {
		return
	}
	r.reportSlowConsumer()
	r.s.waiting.Store(true)
	defer r.s.waiting.Store(false)
	defer r.s.activity.touch() // the lines that waited are not older
	for r.s.sink.buffered() > limit {
		select {
		case <-r.s.space:
		case <-r.s.closing:
			return // Close needs the end of the stream, not every message
		}
	}
}

func (r *reader) reportSlowConsumer() {
	if !r.stalled {
		r.stalled = true
		n := r.s.sink.buffered()
		r.s.warn("claude: reading has stopped, the consumer is slow", "bytes", n)
		r.s.trace.buffered(n)
	}
}

// finish ends the session after the end of the stream.
func (r *reader) finish(readErr error) {
	var err, cause error
	if r.until > 0 {
		r.requireHandshake()
	}
	if stalled, ok := errors.AsType[*StalledError](readErr); ok {
		r.s.explain(stalled)
	}
	r.s.update(func(st *sessionState) {
		err = r.outcome.of(readErr, st.cause, st.writeErr)
		if st.cause == nil && st.handshake.answer == nil {
			err = r.early(err, readErr)
		}
		cause = cmp.Or(err, errEnded)
		st.closed, st.why = true, cause
		st.timers.stop()
	})
	close(r.s.over)
	r.s.mux.Fail(cause)
	r.s.mcp.close()
	r.s.sink.finish(err)
	r.s.conn.Close()
	r.s.mux.Wait()
	r.s.mcp.wait()
	<-r.s.ready // Trace must report the end of the handshake first
	r.s.trace.exit(err)
	r.s.trace.debug(r.s.launch.logger(), "claude: the session has ended", "error", err)
	// From here on the process has ended, and no goroutine may be added.
	r.s.update(func(st *sessionState) { st.stopping = true })
}
