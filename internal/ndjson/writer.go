package ndjson

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// ErrClosed is returned by a write after Close or after a broken write.
var ErrClosed = errors.New("ndjson: writer closed")

// Writer puts whole lines on a stream, one at a time. It is safe for use by
// several goroutines; lines are written in the order in which their writers got
// the turn.
type Writer struct {
	dst     io.WriteCloser
	timeout time.Duration
	turn    chan struct{} // holds one token; the goroutine that has it writes
	closing chan struct{}
	broken  error // guarded by turn

	mu     sync.Mutex
	closed bool
	err    error          // what closing dst gave
	writes sync.WaitGroup // grows only while not closed
}

// NewWriter writes to dst. A line that the other side does not take within
// timeout breaks the stream, where dst has a SetWriteDeadline; 0 waits for ever.
func NewWriter(dst io.WriteCloser, timeout time.Duration) *Writer {
	w := &Writer{dst: dst, timeout: timeout, turn: make(chan struct{}, 1), closing: make(chan struct{})}
	w.turn <- struct{}{}
	return w
}

// WriteLine writes one line and its line feed; the line itself holds none. When
// ctx ends before the line's turn came nothing is written. When it ends in the
// middle WriteLine returns and the line is still written to its end, since half
// a line would break the stream.
func (w *Writer) WriteLine(ctx context.Context, line []byte) error {
	if bytes.IndexByte(line, '\n') >= 0 {
		return errors.New("ndjson: line feed inside a line")
	}
	select {
	case <-w.turn:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.closing:
		return ErrClosed
	}
	done := make(chan error, 1)
	if !w.start(func() { done <- w.write(line) }) {
		return ErrClosed
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// start runs fn, which has the turn, unless the writer is closed, and gives the turn back after
// it.
func (w *Writer) start(fn func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		w.turn <- struct{}{}
		return false
	}
	w.writes.Go(func() {
		fn()
		w.turn <- struct{}{}
	})
	return true
}

// write runs with the turn.
func (w *Writer) write(line []byte) error {
	if w.broken != nil {
		return w.broken
	}
	if d, ok := w.dst.(interface{ SetWriteDeadline(time.Time) error }); ok && w.timeout > 0 {
		// A stream without deadlines says so here; it is written without one.
		_ = d.SetWriteDeadline(time.Now().Add(w.timeout))
	}
	buf := make([]byte, 0, len(line)+1)
	if _, err := w.dst.Write(append(append(buf, line...), '\n')); err != nil {
		// What reached the other side is unknown: nothing may follow it.
		w.broken = fmt.Errorf("ndjson: writing a line: %w", err)
	}
	return w.broken
}

// Close ends the stream. A write under way is given up, and Close waits for it.
// It may be called many times.
func (w *Writer) Close() error {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.closing)
		w.err = w.dst.Close()
	}
	w.mu.Unlock()
	w.writes.Wait()
	return w.err
}

// CloseAfterWrites ends the stream after the lines whose writing has begun. It may be called
// many times.
func (w *Writer) CloseAfterWrites(ctx context.Context) error {
	select {
	case <-w.turn: // kept for ever: nothing is written any more
	case <-w.closing:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return w.Close()
}
