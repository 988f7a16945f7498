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

// reader is the goroutine that reads the connection of a session. No other
// goroutine uses its fields. It waits for consumers at MaxBuffered alone, and never
// runs the caller's code.
type reader struct {
	s *session

	outcome   outcome
	seen      bool   // a message was read
	checked   bool   // the CLI's version was looked at
	follow    string // a session whose lock is to be taken
	stalled   bool   // reading has stopped once because the consumer was slow
	reads     int    // of the connection, at the last line
	unchecked int64  // bytes read since MaxBuffered was looked at
	junk      []byte // the beginning of what came before the handshake and is not JSON
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

// line takes one line where it belongs. The error, with StrictLines, ends the
// stream.
func (r *reader) line(l ndjson.Line) error {
	if n := r.s.conn.reads(); n != r.reads {
		r.reads = n
		r.s.activity.touch()
	}
	e := entry{text: l.Text}
	if l.TooLong {
		e.msg = message.NewBadLine(l.Text, l.Size, &message.DecodeError{Line: l.Text, Err: errTooLong})
	}
	typ := jsonwire.NewDecoder(l.Text).Peek("type")
	switch {
	case e.msg != nil:
	case controlType(typ):
		err := r.s.mux.Deliver(typ, l.Text)
		if err == nil {
			return nil
		}
		e.msg = message.NewBadLine(l.Text, l.Size, &message.DecodeError{Line: l.Text, Err: err})
	case hotType(typ) && !r.s.launch.StrictLines:
		// Left to the consumer, who decodes it.
		r.outcome.active(typ)
		r.s.activity.hot(typ, l.Text)
		r.s.trace.line(e)
		r.pass(e)
		return nil
	default:
		e.msg = decode.Line(l.Text)
	}
	if bad, ok := e.msg.(*message.BadLine); ok && r.s.launch.StrictLines {
		return bad.Err
	}
	r.noteJunk(e.msg, l.Text)
	r.s.activity.message(e.msg, l.Text)
	r.s.trace.line(e)
	if !r.consume(e.msg, l.Text) {
		r.pass(e)
	}
	// After the delivery, which ends turns.
	r.s.check()
	r.followSession()
	return nil
}

// maxJunk bounds what is kept of output that is not of the protocol.
const maxJunk = 2 << 10

// noteJunk keeps the beginning of output that is not of the protocol.
func (r *reader) noteJunk(m message.Message, text string) {
	if _, bad := m.(*message.BadLine); bad && len(r.junk) < maxJunk {
		r.junk = append(append(r.junk, text[:min(len(text), maxJunk)]...), '\n')
	}
}

// early makes the end of a process that has not answered initialize an error that says
// what was run.
func (r *reader) early(err, readErr error) error {
	p, ok := r.s.conn.(*processConn)
	if !ok {
		return err // a Transport says what it has to say
	}
	e := &EarlyExitError{Path: p.path, Stdout: string(r.junk), Stderr: p.stderr()}
	if exit, ok := errors.AsType[*ExitError](err); ok {
		e.Err = exit
	} else if !errors.Is(readErr, io.EOF) {
		return err
	}
	return e
}

// followSession takes the lock of a session that the CLI has begun to write.
func (r *reader) followSession() {
	if id := r.follow; id != "" && r.s.guard != nil {
		r.s.work.Go(func() { r.s.guard.follow(id) })
	}
	r.follow = ""
}

// pass hands a line on.
func (r *reader) pass(e entry) {
	first := r.noteFirst(e)
	if warning := r.s.sink.deliver(e); warning != "" {
		r.s.warn(warning)
	}
	if first {
		runtime.Gosched() // a consumer has waited for it since the start
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
func (r *reader) consume(m message.Message, text string) bool {
	switch m := m.(type) {
	case *message.KeepAlive:
		return true
	case *message.TranscriptMirror:
		if r.s.launch.SessionStore != nil {
			r.s.sink.deliver(entry{text: text, msg: m}) // to the mirror, which keeps it
		}
		return true
	case *message.SessionStateChanged:
		r.note(m)
		if m.SDKHostOnly {
			r.s.sink.deliver(entry{text: text, msg: m}) // which does not pass it on
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

// waitForSpace holds the reader while more than MaxBuffered bytes wait. The CLI
// then feels it on its pipe.
func (r *reader) waitForSpace(read int) {
	limit := int64(r.s.launch.MaxBuffered)
	if limit <= 0 {
		limit = defaultBuffered
	}
	// Asking costs more than a small line; a sixteenth over the limit does no harm.
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
	defer r.s.activity.touch() // what waited with it is not older
	for r.s.sink.buffered() > limit {
		select {
		case <-r.s.space:
		case <-r.s.closing:
			return // the caller of Close wants the end of the stream, not its middle
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

// finish ends the session: nothing more will come.
func (r *reader) finish(readErr error) {
	var err, cause error
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
	<-r.s.ready // a trace has the end of the handshake first
	r.s.trace.exit(err)
	r.s.trace.debug(r.s.launch.logger(), "claude: the session has ended", "error", err)
	// From here on there is nothing to stop, and no goroutine may be added.
	r.s.update(func(st *sessionState) { st.stopping = true })
}
