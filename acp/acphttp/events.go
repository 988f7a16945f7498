package acphttp

import (
	"context"
	"net/http"
	"time"
)

// events writes the messages of a stream as server-sent events until the connection or the request ends. When the
// agent has ended, the stream ends after its last message.
func (c *conn) events(w http.ResponseWriter, r *http.Request, s *stream) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	h.Set("Connection", "close") // the write deadline stays set on the connection
	w.WriteHeader(http.StatusOK)
	out := http.NewResponseController(w)
	_ = out.Flush()
	beat := time.NewTicker(c.opts.Heartbeat)
	defer beat.Stop()
	stop := context.AfterFunc(c.ctx, func() { _ = out.SetWriteDeadline(time.Now()) }) // ends a blocked write
	defer func() {
		stop()
		_ = out.SetWriteDeadline(time.Now().Add(c.opts.Stall)) // for the end of the body
	}()
	for ended := false; ; {
		for lines := c.take(s); len(lines) > 0; lines = c.take(s) {
			var text []byte
			for _, line := range lines {
				text = append(append(append(text, "data: "...), line...), "\n\n"...)
			}
			if !c.write(w, out, text) {
				return
			}
			beat.Reset(c.opts.Heartbeat)
		}
		if ended {
			return
		}
		select {
		case <-s.wake:
		case <-beat.C:
			if !c.write(w, out, []byte(":\n\n")) {
				return
			}
		case <-c.done:
			ended = true // the agent's last messages are still written
		case <-c.ctx.Done():
			return
		case <-r.Context().Done():
			return
		}
	}
}

// write writes text to a stream before the stall timeout.
func (c *conn) write(w http.ResponseWriter, out *http.ResponseController, text []byte) bool {
	if c.ctx.Err() != nil {
		return false
	}
	_ = out.SetWriteDeadline(time.Now().Add(c.opts.Stall)) // writers of tests do not support it
	if _, err := w.Write(text); err != nil {
		return false
	}
	return out.Flush() == nil
}
