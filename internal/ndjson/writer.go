package ndjson

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
	"time"
)

// ErrClosed is returned by a write after Close or after a broken write.
var ErrClosed = errors.New("ndjson: writer closed")

// Writer writes whole lines to a stream, one at a time. It is safe for concurrent use; lines
// are written in the order in which their writers get the turn.
type Writer struct {
	dst     io.WriteCloser
	timeout time.Duration
	turn    chan struct{} // holds one token; the goroutine that has it writes
	closing chan struct{}
	broken  error // guarded by turn

	mu     sync.Mutex
	closed bool
	err    error          // the error of closing dst
	writes sync.WaitGroup // incremented only while not closed
}

// NewWriter writes to dst. A line that the other side does not read within timeout breaks the
// stream, if dst has a SetWriteDeadline; 0 means no limit.
func NewWriter(dst io.WriteCloser, timeout time.Duration) *Writer {
	w := &Writer{dst: dst, timeout: timeout, turn: make(chan struct{}, 1), closing: make(chan struct{})}
	w.turn <- struct{}{}
	return w
}

// WriteLine writes one line and a line feed. The line must not contain a line feed.
func (w *Writer) WriteLine(ctx context.Context, line []byte) error {
	if bytes.IndexByte(line, '\n') >= 0 {
		return errors.New("ndjson: line feed inside a line")
	}
	return w.run(ctx, func() error { return w.write(line) })
}

// WriteParts writes one line from consecutive parts, which contain no line feed, and appends a line
// feed. A part is valid until the next one is requested. It replaces WriteLine for lines that are
// too large to be in memory at once.
func (w *Writer) WriteParts(ctx context.Context, parts iter.Seq[[]byte]) error {
	return w.run(ctx, func() error { return w.writeParts(parts) })
}

// run calls write when it has the turn, unless ctx ends before, and returns when write has ended or ctx ends.
func (w *Writer) run(ctx context.Context, write func() error) error {
	select {
	case <-w.turn:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.closing:
		return ErrClosed
	}
	done := make(chan error, 1)
	if !w.start(func() { done <- write() }) {
		return ErrClosed
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// start runs fn with the turn, unless the writer is closed, and then releases the turn.
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

// largeLine is the length in bytes above which a line and its line feed are written separately, to
// avoid copying the line.
const largeLine = 64 << 10

// write writes a line, with the turn.
func (w *Writer) write(line []byte) error {
	if len(line) > largeLine {
		return w.writeParts(slices.Values([][]byte{line}))
	}
	return w.put(append(append(make([]byte, 0, len(line)+1), line...), '\n'))
}

// writeParts writes a line in parts, with the turn.
func (w *Writer) writeParts(parts iter.Seq[[]byte]) error {
	for part := range parts {
		if err := w.put(part); err != nil {
			return err
		}
	}
	return w.put([]byte{'\n'})
}

// put writes bytes of a line, with the turn.
func (w *Writer) put(data []byte) error {
	if w.broken != nil {
		return w.broken
	}
	if d, ok := w.dst.(interface{ SetWriteDeadline(time.Time) error }); ok && w.timeout > 0 {
		// A stream without deadlines returns an error here and is written without one.
		_ = d.SetWriteDeadline(time.Now().Add(w.timeout))
	}
	if _, err := w.dst.Write(data); err != nil {
		// The reader may have received any part of the line, so no other line may follow.
		w.broken = fmt.Errorf("ndjson: writing a line: %w", err)
	}
	return w.broken
}

// Close ends the stream. A running write is aborted, and Close waits for it. It may be called
// several times.
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

// CloseAfterWrites ends the stream after the lines that are being written. It may be called
// several times.
func (w *Writer) CloseAfterWrites(ctx context.Context) error {
	select {
	case <-w.turn: // never released: no more lines are written
	case <-w.closing:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return w.Close()
}
