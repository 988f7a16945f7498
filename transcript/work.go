package transcript

import (
	"context"
	"io"
	"sync/atomic"
)

// work is the state of one call over a session: it ends with its context, and counts steps. Every
// loop over the contents of a file takes one step per iteration. A work belongs to one goroutine.
type work struct {
	ctx   context.Context
	steps int64
	total *int64 // step counter of a test, nil otherwise
	err   error
}

// stepsBetween is the number of steps between two checks of the context. A step is a line, an entry
// or a block: a few microseconds.
const stepsBetween = 256

// stepCounter is the context key of a *int64 that counts steps.
type stepCounter struct{}

func newWork(ctx context.Context) *work {
	w := &work{ctx: ctx}
	w.total, _ = ctx.Value(stepCounter{}).(*int64)
	w.err = ctx.Err()
	return w
}

// over counts a step and reports whether the context has ended. Then err is set: callers return
// their partial result, and the outermost one returns err.
func (w *work) over() bool {
	w.steps++
	if w.total != nil {
		atomic.AddInt64(w.total, 1)
	}
	if w.err == nil && w.steps%stepsBetween == 0 {
		w.err = w.ctx.Err()
	}
	return w.err != nil
}

// ended reports whether the context has ended, without a step.
func (w *work) ended() bool {
	if w.err == nil {
		w.err = w.ctx.Err()
	}
	return w.err != nil
}

// chunk is the number of bytes between two checks of the context.
const chunk = 1 << 20

// contextReader reads until its context ends, at most [chunk] bytes at a time.
type contextReader struct {
	ctx context.Context
	src io.Reader
}

// Read reads at most [chunk] bytes.
func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.src.Read(p[:min(len(p), chunk)])
}

// WriteTo writes all data to w in chunks.
func (r contextReader) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{r})
}
