package server

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// The rest of a rejected body is read up to these limits, so that a client that sends all of it before it reads sees the
// response: closing a connection with unread data resets it, and the response is lost.
const (
	lingerTime = 5 * time.Second
	lingerMost = 64 << 20
)

// unread is the body of a request. It records whether all of it has been read, and stays open after Close, for linger.
type unread struct {
	io.Reader
	length        int64 // -1 if unknown
	n             atomic.Int64
	ended, closed atomic.Bool
}

// Close makes later reads fail. net/http closes the body itself.
func (b *unread) Close() error {
	b.closed.Store(true)
	return nil
}

func (b *unread) Read(p []byte) (int, error) {
	if b.closed.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := b.Reader.Read(p)
	if total := b.n.Add(int64(n)); err == io.EOF || total == b.length {
		b.ended.Store(true)
	}
	return n, err
}

// isLong reports whether much of the body is unread. For a body of unknown length it reads a little
// to find out, unless the client waits for permission to send it.
func (b *unread) isLong(asks bool) bool {
	if b.length < 0 && !asks {
		_, err := io.CopyN(io.Discard, b, smallBody)
		return err != io.EOF
	}
	return b.length < 0 || b.length-b.n.Load() > smallBody
}

// WriteHeader announces the end of a connection with an unread body; net/http reads a small rest and keeps the
// connection. A response without a length ends with the handler and cannot be sent before the rest of the body is read.
func (w *response) WriteHeader(status int) {
	switch {
	case status < http.StatusBadRequest || w.body.ended.Load() || w.Header().Get("Content-Length") == "":
	case w.ends():
		w.Header().Set("Connection", "close") // without the rest of the body
	default:
		_ = w.rc.SetReadDeadline(time.Now().Add(lingerTime)) // writers of tests do not support it
		if w.body.isLong(w.asks) {
			w.lingers = true
			w.Header().Set("Connection", "close")
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// linger sends a response that rejects a body and discards the rest of the body, until ctx ends.
func (w *response) linger(ctx context.Context) {
	if !w.lingers || w.rc.Flush() != nil || w.rc.SetReadDeadline(time.Now().Add(lingerTime)) != nil {
		return
	}
	defer context.AfterFunc(ctx, func() { _ = w.rc.SetReadDeadline(time.Now()) })()
	_, _ = io.CopyN(io.Discard, w.body.Reader, lingerMost) // the response was sent, and the connection closes
}
