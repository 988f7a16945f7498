package client

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// flaky starts a server that cuts off its first responses.
func flaky(t *testing.T, cuts int32, then func(w http.ResponseWriter)) (*Client, *atomic.Int32) {
	t.Helper()
	var calls atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer secret" || r.URL.RawQuery != "" {
			t.Errorf("the token came as %q, the query is %q", got, r.URL.RawQuery)
		}
		if calls.Add(1) <= cuts {
			panic(http.ErrAbortHandler)
		}
		then(w)
	}))
	t.Cleanup(s.Close)
	c, err := New(Options{URL: s.URL + "/#token=secret", Retry: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return c, &calls
}

func ok(w http.ResponseWriter) { _, _ = w.Write([]byte(`{"turn_id":"t","seq":3}`)) }

func TestCall_again(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, calls := flaky(t, 2, ok)
	var a api.Accepted
	p := api.QueryParams{Text: "x", Idempotency: api.Idempotency{Key: Key()}}
	if err := c.Call(ctx, "session.query", p, &a); err != nil || a.Seq != 3 || calls.Load() != 3 {
		t.Errorf("with a key: %+v, %v after %d calls", a, err, calls.Load())
	}
	c, calls = flaky(t, 2, ok)
	if err := c.Call(ctx, "session.query", api.QueryParams{Text: "x"}, &a); err == nil || calls.Load() != 1 {
		t.Errorf("without a key: %v after %d calls", err, calls.Load())
	}
	c, calls = flaky(t, 0, func(w http.ResponseWriter) { _, _ = w.Write([]byte("no JSON")) })
	if err := c.Call(ctx, "session.query", p, &a); err == nil || ctx.Err() != nil || calls.Load() != 1 {
		t.Errorf("an answer that cannot be read: %v after %d calls", err, calls.Load())
	}
	if err := c.Call(ctx, "session.query", make(chan int), nil); err == nil {
		t.Error("parameters that are not JSON were sent")
	}
}

func TestCall_refused(t *testing.T) {
	c, calls := flaky(t, 0, func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusConflict)
		_, _ = w.Write([]byte(`{"error":{"code":-32000,"message":"no","data":{"reason":"conflict"}}}`))
	})
	err := c.Call(context.Background(), "x", api.Idempotency{Key: "k"}, nil)
	if Reason(err) != api.Conflict || calls.Load() != 1 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
	var e *Error
	if !errors.As(err, &e) || e.Status != http.StatusConflict {
		t.Errorf("the error is %#v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	nobody, err := New(Options{URL: "http://127.0.0.1:1", Token: "t", Retry: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := nobody.Call(ctx, "x", api.Empty{}, nil); err == nil {
		t.Error("a call without a server succeeded")
	}
}

func TestNew_badAddress(t *testing.T) {
	for _, bad := range []string{"", "localhost:1", "ftp://x", "http://", "://#token=secret"} {
		if _, err := New(Options{URL: bad}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v; want err != nil and not strings.Contains(err.Error(), \"secret\")", bad, err)
		}
	}
}

func TestView_gap(t *testing.T) {
	v := View{Cursor: api.Cursor{Seq: 4}}
	for _, e := range []api.Envelope{{Seq: 6}, {Seq: 4}, {Seq: 5, Sub: 1}, {Seq: 3, Sub: 1}} {
		if v.Apply(Event{Envelope: e, Events: []event.Event{&event.SessionState{}}}) == nil {
			t.Errorf("message %d.%d after 4.0 was taken", e.Seq, e.Sub)
		}
	}
	if err := v.Apply(Event{Envelope: api.Envelope{Seq: 5}, Events: []event.Event{&event.SessionState{}}}); err != nil {
		t.Error(err)
	}
}

// TestFollow_silent follows a server that responds once, and then neither sends messages nor
// answers a ping: the client closes the connection and opens another one.
func TestFollow_silent(t *testing.T) {
	var connections atomic.Int32
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		for range 2 {
			if _, _, err := conn.Read(ctx); err != nil {
				return
			}
		}
		connections.Add(1)
		_ = conn.Write(ctx, websocket.MessageText, []byte(`{"jsonrpc":"2.0","id":2,"result":{"cursor":{"epoch":"e","seq":1},"state":"idle"}}`))
		<-ctx.Done() // only a reader answers a ping
	}))
	defer s.Close()
	c, err := New(Options{URL: s.URL, Token: "secret", Retry: time.Millisecond, Silence: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range c.Follow(ctx, "s-1", nil) {
		if err != nil || connections.Load() == 2 {
			break
		}
	}
	if n := connections.Load(); n != 2 {
		t.Errorf("there were %d connections, want a second one after the silence", n)
	}
	cancel()
}
