package proc

import (
	"io"
	"sync"
	"time"
)

// newStdin returns w with a Close that may be called several times, and with SetWriteDeadline only if w has
// it.
func newStdin(w io.WriteCloser) io.WriteCloser {
	s := stdin{Writer: w, close: sync.OnceValue(w.Close)}
	if d, ok := w.(writeDeadliner); ok {
		return deadlineStdin{s, d}
	}
	return s
}

type stdin struct {
	io.Writer
	close func() error
}

// Close closes the stream once; later calls return the same error.
func (s stdin) Close() error { return s.close() }

type writeDeadliner interface{ SetWriteDeadline(time.Time) error }

type deadlineStdin struct {
	stdin
	writeDeadliner
}
