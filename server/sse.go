package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

func parseNumber(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) }

// maxWait is the maximum time of a poll.
const maxWait = 60 * time.Second

// events serves the messages of a session: as a stream, or with wait as a poll.
func (s *Server) events(w http.ResponseWriter, r *http.Request, _ *caller, _ *method) error {
	id := r.PathValue("id")
	place := r.Header.Get("Last-Event-ID")
	if place == "" {
		place = r.URL.Query().Get("after")
	}
	after, err := parseCursor(place)
	if err != nil {
		return err
	}
	release, err := s.connection(r)
	if err != nil {
		return err
	}
	defer release()
	var can session.Capabilities
	for name, values := range r.URL.Query() {
		if values[0] == "1" {
			can.Add(name)
		}
	}
	v, attached, end, err := s.sessions.Watch(r.Context(), id, after, can)
	if err != nil {
		return err
	}
	defer end()
	if wait := r.URL.Query().Get("wait"); wait != "" {
		return s.poll(w, r, v, attached, wait)
	}
	return s.sse(w, r, v, attached)
}

// pollResult is the response to a poll.
type pollResult struct {
	api.AttachResult
	Events []json.RawMessage `json:"events"`
}

// pollTime returns how long a poll waits, from a number of seconds.
func pollTime(text string) (time.Duration, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0) { // n is not a number
		return 0, session.Invalid("wait is not a number of seconds")
	}
	return time.Duration(min(n, maxWait.Seconds()) * float64(time.Second)), nil
}

// poll waits for messages and responds with them and the cursor for the next poll.
func (s *Server) poll(w http.ResponseWriter, r *http.Request, v *session.Viewer, attached api.AttachResult, wait string) error {
	limit, err := pollTime(wait)
	if err != nil {
		return err
	}
	result := pollResult{AttachResult: attached, Events: []json.RawMessage{}}
	if attached.Snapshot == "" {
		ctx, cancel := context.WithTimeout(r.Context(), limit)
		defer cancel()
		stop := context.AfterFunc(s.ctx, cancel)
		defer stop()
		items, err := v.Next(ctx)
		switch {
		case context.Cause(r.Context()) == errToken:
			return errToken
		case errors.Is(err, session.ErrResync):
			if result.AttachResult, err = v.Resync(r.Context()); err != nil {
				return err
			}
			return s.writeResult(w, r, result)
		case err != nil && ctx.Err() == nil:
			return err
		}
		for _, it := range items {
			result.Events = append(result.Events, v.Envelope(it))
		}
		result.Cursor = v.Cursor
		if info, err := s.sessions.Lookup(r.Context(), v.Session()); err == nil {
			result.State = info.State
		}
	}
	return s.writeResult(w, r, result)
}

// eventStream writes server-sent events until its context ends.
type eventStream struct {
	ctx context.Context
	w   http.ResponseWriter
	rc  *http.ResponseController
}

func (e *eventStream) write(format string, args ...any) error {
	if e.ctx.Err() != nil {
		return e.ctx.Err()
	}
	_, err := fmt.Fprintf(e.w, format, args...)
	return err
}

// attached writes the start of the stream, with a snapshot if it has one.
func (s *Server) attached(e *eventStream, name string, a api.AttachResult) error {
	if strings.ContainsAny(string(a.Snapshot), "\r\n") { // an event has no line breaks
		var line bytes.Buffer
		if err := json.Compact(&line, []byte(a.Snapshot)); err != nil {
			return err
		}
		a.Snapshot = event.JSON(line.String())
	}
	data, leave, err := s.encode(e.ctx, a, plain)
	if err != nil {
		return err
	}
	defer leave()
	if err := e.write("event: %s\nid: %s:%d.%d\ndata: ", name, a.Cursor.Epoch, a.Cursor.Seq, a.Cursor.Sub); err != nil {
		return err
	}
	if err := data.write(e.w); err != nil {
		return err
	}
	return e.write("\n\n")
}

// sse streams messages until the client or the server ends. A comment at least every heartbeat
// keeps proxies from closing it.
func (s *Server) sse(w http.ResponseWriter, r *http.Request, v *session.Viewer, attached api.AttachResult) error {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store, no-transform")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	stop := context.AfterFunc(s.ctx, cancel)
	defer stop()
	out := &eventStream{ctx, w, http.NewResponseController(w)}
	err := out.write("retry: 1000\n")
	name := "attached"
	for err == nil {
		if name != "" {
			if err = s.attached(out, name, attached); err != nil {
				break
			}
			name = ""
		}
		_ = out.rc.Flush() // the next write returns the error
		var items []session.Item
		items, err = v.Within(ctx, s.opts.Heartbeat)
		switch {
		case errors.Is(err, session.ErrResync):
			if attached, err = v.Resync(ctx); err == nil {
				name = "resync"
			}
			continue
		case err != nil:
		case len(items) == 0:
			err = out.write(": heartbeat\n\n")
			continue
		}
		for _, it := range items {
			if err == nil {
				err = out.write("id: %s:%d.%d\ndata: %s\n\n", v.Cursor.Epoch, it.Seq, it.Sub, v.Envelope(it))
			}
		}
		_ = out.rc.Flush()
	}
	s.logger.Debug("a stream ended", "session", v.Session(), "why", err)
	return nil
}
