package server

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/parts"
)

// TestEventStream_ended checks that a stream writes nothing after its context has ended, at any
// step.
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

// TestParseCursor checks that a formatted cursor can be parsed, and that any other text is refused.
func TestParseCursor(t *testing.T) {
	for text, want := range map[string]*api.Cursor{
		"": nil, "e:1": {Epoch: "e", Seq: 1}, "e:1.2": {Epoch: "e", Seq: 1, Sub: 2}, "a:b:3.4": {Epoch: "a:b", Seq: 3, Sub: 4}, ":5": {Seq: 5}, "e:6.": {Epoch: "e", Seq: 6},
		"e:18446744073709551615.18446744073709551615": {Epoch: "e", Seq: math.MaxUint64, Sub: math.MaxUint64},
	} {
		got, err := parseCursor(text)
		if err != nil || (got == nil) != (want == nil) || want != nil && *got != *want {
			t.Errorf("the cursor %q is %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"e", "1.2", "e:", "e:x", "e:-1", "e:1.x", "e:1.-2", "e:1.2.3", "e: 1", "e:18446744073709551616", "e:1.18446744073709551616", "e:0x1"} {
		if got, err := parseCursor(text); err == nil || got != nil {
			t.Errorf("the cursor %q is %+v, %v, want an error", text, got, err)
		}
	}
}

// TestEvents_refused checks that a stream or a poll with an invalid parameter is refused before it
// begins.
func TestEvents_refused(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	for _, tt := range []struct{ query, header string }{{"?after=x", ""}, {"", "x"}, {"?after=" + h.cursor(id), "x"}, {"?wait=x&after=" + h.cursor(id), ""}, {"?wait=-1", ""}, {"?wait=1&after=e:x", ""}} {
		req, err := http.NewRequestWithContext(h.ctx(), http.MethodGet, h.url+"/v1/sessions/"+id+"/events"+tt.query, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+h.token)
		if tt.header != "" {
			req.Header.Set("Last-Event-ID", tt.header)
		}
		if status, _, body := h.do(req); status != http.StatusBadRequest || !strings.Contains(string(body), string(api.InvalidParams)) {
			t.Errorf("%s with the last event %q: %d %s, want %d", tt.query, tt.header, status, body, http.StatusBadRequest)
		}
	}
}

// TestTokens_sweep checks that the connections of a token end with it, once, and that others
// continue.
func TestTokens_sweep(t *testing.T) {
	tk := newTokens("")
	tk.set([]token{{ID: "one"}, {ID: "two"}})
	one, releaseOne := tk.hold(t.Context(), &principal{id: "one"})
	two, releaseTwo := tk.hold(t.Context(), &principal{id: "two"})
	tk.set([]token{{ID: "two"}})
	if context.Cause(one) != errToken || two.Err() != nil || len(tk.held) != 1 {
		t.Errorf("the first ends with %v, the second with %v, and %d are held, want %v, no end and 1", context.Cause(one), two.Err(), len(tk.held), errToken)
	}
	late, releaseLate := tk.hold(t.Context(), &principal{id: "one"})
	if context.Cause(late) != errToken || len(tk.held) != 1 {
		t.Errorf("what begins after the token has ended ends with %v, and %d are held, want %v and 1", context.Cause(late), len(tk.held), errToken)
	}
	for _, release := range []func(){releaseOne, releaseTwo, releaseLate} {
		release()
	}
	if two.Err() == nil || len(tk.held) != 0 {
		t.Errorf("%d are held, want none", len(tk.held))
	}
}

// A poll waits at most for the limit, even if it requests more.
func TestPollTime(t *testing.T) {
	for text, want := range map[string]time.Duration{"0": 0, "0.05": 50 * time.Millisecond, "5": 5 * time.Second, "60": maxWait, "61": maxWait, "1e9": maxWait, "1e300": maxWait, "+Inf": maxWait} {
		if got, err := pollTime(text); got != want || err != nil {
			t.Errorf("wait=%s is %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "-1", "-0.001", "NaN", "-Inf", "1e999", "5s"} {
		if got, err := pollTime(text); err == nil {
			t.Errorf("wait=%s is %s, want an error", text, got)
		}
	}
}
