package transcript

import (
	"context"
	"io"
	"sync/atomic"
)

// work is one call over a session: it ends with its context, and counts what it does.
// Every loop over what a file says takes a step for each turn. One call is the work of
// one goroutine.
type work struct {
	ctx   context.Context
	steps int64
	total *int64 // where a test has the steps counted, nil elsewhere
	err   error
}

// stepsBetween is how many steps are taken between two looks at the context. A step is
// a line, an entry or a block: a few microseconds.
const stepsBetween = 256

// stepCounter is the key under which a context has a *int64 that steps are added to.
type stepCounter struct{}

func newWork(ctx context.Context) *work {
	w := &work{ctx: ctx}
	w.total, _ = ctx.Value(stepCounter{}).(*int64)
	w.err = ctx.Err()
	return w
}

// over takes a step, and reports whether the context has ended; err then says why.
// A function that sees it returns what there is so far, and the caller at the top the error.
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

// chunk is how much is read or written between two looks at a context.
const chunk = 1 << 20

// contextReader reads until its context ends, in parts of at most [chunk] bytes.
type contextReader struct {
	ctx context.Context
	src io.Reader
}

// Read reads a part.
func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.src.Read(p[:min(len(p), chunk)])
}

// WriteTo writes all that there is to w, part by part.
func (r contextReader) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{r})
}
