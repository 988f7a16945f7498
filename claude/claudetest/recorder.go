package claudetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/tape"
)

// Entry is one line of a recording: the time, the direction, and the line that was sent or
// received.
type Entry struct {
	// MS is the time since the connection was opened, in milliseconds.
	MS float64 `json:"t_ms"`
	// Dir is "in" for lines to the CLI, "out" for lines from the CLI, "proc" for other events.
	Dir string `json:"dir"`
	// Line is the line if it is JSON, else Text is.
	Line json.RawMessage `json:"line,omitempty"`
	Text string          `json:"text,omitempty"`
	// Event is set for an entry without a line: "start", "eof" at the end of the input, "exit"
	// at the end of the CLI.
	Event string `json:"ev,omitempty"`
	// For an exit: the exit status as in claude.ExitError. Error is the error that broke the
	// connection instead.
	Code   int    `json:"code,omitempty"`
	Signal string `json:"signal,omitempty"`
	Stderr string `json:"stderr,omitempty"`
	Error  string `json:"error,omitempty"`
	// For a start: the format of the recording.
	Format int `json:"format,omitempty"`
}

// newEntry returns the entry of a moment.
func newEntry(m tape.Moment) Entry {
	e := Entry{MS: m.TMS, Dir: m.Dir}
	switch {
	case m.Ev != "line":
		e.Event, e.Code, e.Stderr, e.Error = m.Ev, m.Exit.Code, m.Stderr, m.Err
		if m.Exit.Signal != nil {
			e.Signal = *m.Exit.Signal
		}
		if e.Event == "start" {
			e.Format = recordingFormat
		}
	case json.Valid([]byte(m.Line)):
		e.Line = json.RawMessage(m.Line)
	default:
		e.Text = m.Line
	}
	return e
}

// moment returns the moment of an entry, without the exit status.
func (e *Entry) moment() tape.Moment {
	m := tape.Moment{Event: tape.Event{Dir: e.Dir, Ev: e.Event, TMS: e.MS}}
	if e.Event != "" {
		return m
	}
	m.Ev, m.Line = "line", e.Text
	if e.Line != nil {
		m.Line = string(e.Line)
	}
	l := parseSent(e.Line)
	m.Type, m.RequestID = l.Type, l.RequestID
	if l.Type == "control_response" {
		m.RequestID = l.Response.RequestID
	}
	return m
}

// recordingFormat is the current format.
const recordingFormat = 1

// Recorder is a [claude.Transport] that records the lines of another one, each connection as
// redacted JSON lines of [Entry]. A failure to write the recording does not affect the
// session; see Err.
//
//	opts.Transport = claudetest.NewRecorder(claude.ProcessTransport(opts), file)
//
// Partial messages are redacted together and written when their block has ended, because a
// secret may be split between them.
type Recorder struct {
	// Redactor removes the secrets; nil means NewRedactor(). Set it before the first
	// connection.
	Redactor *Redactor

	next claude.Transport
	open func() (io.WriteCloser, error)

	mu   sync.Mutex
	once sync.Once
	err  error
	n    int
}

// NewRecorder returns a transport that records all connections of another one to a single
// writer, one after another.
func NewRecorder(next claude.Transport, w io.Writer) *Recorder {
	r := &Recorder{next: next}
	r.open = func() (io.WriteCloser, error) { return nopCloser{w}, nil }
	return r
}

// NewDirRecorder records each connection of a transport to a separate file in dir: 001.jsonl,
// 002.jsonl, … It creates dir and overwrites existing files.
func NewDirRecorder(next claude.Transport, dir string) *Recorder {
	r := &Recorder{next: next}
	r.open = func() (io.WriteCloser, error) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		r.mu.Lock()
		r.n++
		name := fmt.Sprintf("%03d.jsonl", r.n)
		r.mu.Unlock()
		return os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	}
	return r
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// Err returns the first error of writing a recording, or nil.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *Recorder) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil && err != nil {
		r.err = fmt.Errorf("claudetest: recording: %w", err)
	}
}

// Connect opens a connection of the recorded transport and records all lines in both
// directions.
func (r *Recorder) Connect(ctx context.Context) (claude.Conn, error) {
	r.once.Do(func() {
		if r.Redactor == nil {
			r.Redactor = NewRedactor()
		}
	})
	conn, err := r.next.Connect(ctx)
	if err != nil {
		return nil, err
	}
	w, err := r.open()
	if err != nil {
		r.fail(err)
		return conn, nil
	}
	c := &recorderConn{Conn: conn, r: r, w: w}
	c.tape = tape.NewRecorder(c.add)
	c.tape.Record(tape.Moment{Event: tape.Event{Dir: "proc", Ev: "start"}})
	return c, nil
}

// recorderConn records one connection. The tape calls add, one call at a time.
type recorderConn struct {
	claude.Conn
	r    *Recorder
	tape *tape.Recorder
	eof  sync.Once

	w    io.WriteCloser // used only by add, like the fields below
	held []Entry        // waits for the end of an open block
	size int            // bytes of held
}

func (c *recorderConn) Read(ctx context.Context) (json.RawMessage, error) {
	line, err := c.Conn.Read(ctx)
	if err == nil {
		c.tape.Line("out", string(line))
	} else {
		c.tape.Record(exitMoment(err))
	}
	return line, err
}

func (c *recorderConn) Write(ctx context.Context, line json.RawMessage) error {
	c.tape.Line("in", string(line)) // before it is written: an answer must follow it in the recording
	return c.Conn.Write(ctx, line)
}

func (c *recorderConn) CloseWrite() error {
	c.eof.Do(func() { c.tape.Record(tape.Moment{Event: tape.Event{Dir: "in", Ev: "eof"}}) })
	return c.Conn.CloseWrite()
}

func exitMoment(err error) tape.Moment {
	m := tape.Moment{Event: tape.Event{Dir: "proc", Ev: "exit"}}
	if exit, ok := errors.AsType[*claude.ExitError](err); ok {
		m.Exit, m.Stderr = tape.Exit{Code: exit.Code}, exit.Stderr
		if exit.Signal != "" {
			m.Exit.Signal = &exit.Signal
		}
	} else if !errors.Is(err, io.EOF) {
		m.Err = err.Error()
	}
	return m
}

// add writes a moment, immediately or when the open block has ended.
func (c *recorderConn) add(m tape.Moment) {
	e := newEntry(m)
	c.held = append(c.held, e)
	c.size += len(e.Line)
	if !c.blockOpen(e) {
		c.flush()
	}
	if e.Event == "exit" {
		c.r.fail(c.w.Close())
	}
}
