package server

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// maxWrite is the number of bytes that share one time limit, so that a slow client gets all of a large response as long
// as it reads.
const maxWrite = 64 << 10

// response limits the time of each write. A client that does not read is disconnected, and the limit of one response
// does not apply to the next one on the connection.
type response struct {
	http.ResponseWriter
	rc      *http.ResponseController
	timeout time.Duration
	body    *unread
	asks    bool // the client waits for permission to send the body
	lingers bool // the response rejects the body

	mu   sync.Mutex
	last time.Time // upper limit of all deadlines; zero means none
}

// bounded limits the writes of a handler.
func (s *Server) bounded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := &unread{Reader: r.Body, length: r.ContentLength}
		out := &response{ResponseWriter: w, rc: http.NewResponseController(w), timeout: s.opts.WriteTimeout, body: body, asks: r.Header.Get("Expect") != ""}
		inner := *r // net/http looks at the body of the original request
		if body.ended.Store(r.ContentLength == 0); r.ContentLength != 0 {
			inner.Body = body
		}
		h.ServeHTTP(out, &inner)
		out.arm() // the server flushes its buffers afterwards
		out.linger(s.ctx)
	})
}

// arm sets the time limit of the next write.
func (w *response) arm() {
	w.mu.Lock()
	defer w.mu.Unlock()
	end := time.Now().Add(w.timeout)
	if !w.last.IsZero() && w.last.Before(end) {
		end = w.last
	}
	_ = w.rc.SetWriteDeadline(end) // writers of tests do not support it
}

// End sets the last deadline: it limits the current write and all later ones.
func (w *response) End(within time.Duration) {
	w.mu.Lock()
	w.last = time.Now().Add(within)
	w.mu.Unlock()
	w.arm()
}

// ends reports whether all writes are limited by [response.End].
func (w *response) ends() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.last.IsZero()
}

// Unwrap returns the writer of the server, for http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write writes in pieces, each within the time limit.
func (w *response) Write(p []byte) (n int, err error) {
	for {
		w.arm()
		m, err := w.ResponseWriter.Write(p[n:min(len(p), n+maxWrite)])
		n += m
		if err != nil || n == len(p) {
			return n, err
		}
	}
}

// hold returns a context of a request that also ends with the caller's token, like [tokens.hold].
// When the token ends, a write that waits for the client ends too.
func (s *Server) hold(w http.ResponseWriter, r *http.Request, c *caller) (held context.Context, release func()) {
	held, letGo := s.tokens.hold(r.Context(), c.principal)
	out, ok := w.(*response)
	if !ok {
		return held, letGo
	}
	done := make(chan struct{})
	stop := context.AfterFunc(held, func() {
		defer close(done)
		if context.Cause(held) == errToken {
			out.End(closeTimeout)
		}
	})
	return held, sync.OnceFunc(func() {
		if !stop() {
			<-done // the next request on the connection has its own limits
		}
		letGo()
	})
}
