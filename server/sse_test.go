package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/parts"
)

// TestEventStream_ended checks that a stream with an ended context writes nothing more, whatever it is about to write.
func TestEventStream_ended(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &Server{flight: newFlight(maxFlight, time.Minute)}
	w := httptest.NewRecorder()
	out := &eventStream{ctx, w, http.NewResponseController(w)}
	events := []json.RawMessage{[]byte(`{"a":1}`), []byte(`{"b":2}`)}
	writes := map[string]func() error{
		"a comment":      func() error { return out.write(": heartbeat\n\n") },
		"the start":      func() error { return s.attached(out, "attached", api.AttachResult{Snapshot: `{"x":"y"}`}) },
		"events":         func() error { return out.events(events) },
		"placed events":  func() error { return out.placed(events, parts.Place{}) },
		"a placed event": func() error { return out.placed(events[:1], parts.Place{}) },
	}
	for name, write := range writes {
		if err := write(); err != nil || w.Body.Len() == 0 {
			t.Errorf("%s: %v and %q, want an event", name, err, w.Body)
		}
		w.Body.Reset()
	}
	cancel()
	for name, write := range writes {
		if err := write(); !errors.Is(err, context.Canceled) || w.Body.Len() > 0 {
			t.Errorf("%s after the end: %v and %q, want %v and nothing", name, err, w.Body, context.Canceled)
		}
	}
}
