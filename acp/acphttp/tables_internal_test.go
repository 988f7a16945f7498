package acphttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

// TestParse checks the members of a message that the transport needs, whatever their types are.
func TestParse(t *testing.T) {
	for _, tt := range []struct {
		text string
		want message
		err  error
		kind string // what the message is
	}{
		{"", message{}, errNotJSON, ""},
		{" \n", message{}, errNotJSON, ""},
		{"{", message{}, errNotJSON, ""},
		{`{"id":1} {"id":2}`, message{}, errNotJSON, ""},
		{"\xff", message{}, errNotJSON, ""},
		{`[{"id":1}]`, message{}, errBatch, ""},
		{` [ ]`, message{}, errBatch, ""},
		{"null", message{}, errValue, ""},
		{"1", message{}, errValue, ""},
		{`"{}"`, message{}, errValue, ""},
		{"{}", message{}, nil, ""},
		{`{"jsonrpc":"2.0","id":1,"method":"a"}`, message{version: "2.0", id: "1", method: "a", hasID: true, named: true}, nil, "request"},
		{`{"jsonrpc":"2.0","id":null,"method":"initialize"}`, message{version: "2.0", id: "null", method: "initialize", hasID: true, named: true}, nil, "request initialize null"},
		{`{"jsonrpc":"2.0","id":"ü 1","method":"initialize"}`, message{version: "2.0", id: `"ü 1"`, method: "initialize", hasID: true, named: true}, nil, "request initialize"},
		{`{"jsonrpc":"1.0","id":1,"method":"initialize"}`, message{version: "1.0", id: "1", method: "initialize", hasID: true, named: true}, nil, "request"},
		{`{"jsonrpc":2,"id":1,"method":3}`, message{id: "1", hasID: true, named: true}, nil, "request"},
		{`{"jsonrpc":"2.0","method":"initialize"}`, message{version: "2.0", method: "initialize", named: true}, nil, "notification"},
		{`{"id":0,"result":{"sessionId":"s"}}`, message{id: "0", hasID: true}, nil, "answer"},
		{`{"method":"a","params":{"sessionId":"s"}}`, message{method: "a", named: true, session: "s", scoped: true}, nil, "notification"},
		{`{"method":"a","params":{"sessionId":""}}`, message{method: "a", named: true, scoped: true}, nil, "notification"},
		{`{"method":"a","params":{"sessionId":null}}`, message{method: "a", named: true}, nil, "notification"},
		{`{"method":"a","params":{"sessionId":7}}`, message{method: "a", named: true}, nil, "notification"},
		{`{"method":"a","params":["s"]}`, message{method: "a", named: true}, nil, "notification"},
		{`{"method":"a","params":null}`, message{method: "a", named: true}, nil, "notification"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			m, err := parse([]byte(tt.text))
			if !errors.Is(err, tt.err) {
				t.Fatalf("parse returns %v, want %v", err, tt.err)
			}
			if err != nil {
				return
			}
			line := string(m.line)
			m.line = nil
			if fmt.Sprint(m) != fmt.Sprint(tt.want) {
				t.Errorf("the message is %+v, want %+v", m, tt.want)
			}
			if line != tt.text {
				t.Errorf("its line is %s, want %s", line, tt.text)
			}
			var kinds []string
			for _, k := range []struct {
				name string
				is   bool
			}{{"request", m.isRequest()}, {"notification", m.isNotification()}, {"answer", m.isAnswer()}, {"initialize", m.isInitialize()}, {"null", m.nullID()}} {
				if k.is {
					kinds = append(kinds, k.name)
				}
			}
			if got := strings.Join(kinds, " "); got != tt.kind {
				t.Errorf("it is %q, want %q", got, tt.kind)
			}
		})
	}
}

// request, note and reply return messages of either side.
func request(id, method, session string) *message {
	return &message{line: []byte("0123456789"), version: "2.0", id: id, method: method, session: session, hasID: true, named: true, scoped: session != ""}
}

func note(method, session string) *message {
	return &message{line: []byte("0123456789"), version: "2.0", method: method, session: session, named: true, scoped: session != ""}
}

func reply(id string) *message { return &message{version: "2.0", id: id, hasID: true} }

// TestRoutes_admit checks which messages of a client are accepted, for each kind of message and each header. A rejected message leaves no
// trace.
func TestRoutes_admit(t *testing.T) {
	long := strings.Repeat("s", maxID)
	const (
		missing    = "Missing Acp-Session-Id"
		mismatched = "Mismatched Acp-Session-Id"
		tooLong    = "Session ID exceeds maxIdLength (1024)"
		tooLongID  = "Request ID exceeds maxIdLength (1024)"
	)
	for _, tt := range []struct {
		name   string
		m      *message
		header string
		want   string
		stream string // of the answer to an accepted request
	}{
		{"request of the connection", request("1", "session/new", ""), "", "", ""},
		{"request of the connection with a header", request("1", "session/new", ""), "s", "", "s"},
		{"request of a session", request("1", "session/x", "s"), "s", "", "s"},
		{"request of a session without a header", request("1", "session/x", "s"), "", missing, ""},
		{"request of a session with another header", request("1", "session/x", "s"), "t", mismatched, ""},
		{"notification of a session", note("session/cancel", "s"), "s", "", ""},
		{"notification of a session without a header", note("x", "s"), "", missing, ""},
		{"notification of a session with another header", note("x", "s"), "t", mismatched, ""},
		{"method of a session without an id", request("1", "session/prompt", ""), "", missing, ""},
		{"method of a session with a header only", request("1", "session/prompt", ""), "s", "", "s"},
		{"load", request("1", "session/load", "s"), "s", "", ""},
		{"resume", request("1", "session/resume", "s"), "s", "", "s"},
		{"longest session", request("1", "x", ""), long, "", long},
		{"too long session", request("1", "x", ""), long + "s", tooLong, ""},
		{"too long session of a notification", note("x", ""), long + "s", tooLong, ""},
		{"longest id", request(`"`+long+`"`, "x", ""), "", "", ""},
		{"too long id", request(`"`+long+`s"`, "x", ""), "", tooLongID, ""},
		{"answer to a request of the connection", reply("a"), "", "", ""},
		{"answer to a request of the connection with a header", reply("a"), "s", "", ""},
		{"answer to a request of a session", reply("b"), "s", "", ""},
		{"answer to a request of a session without a header", reply("b"), "", missing, ""},
		{"answer to a request of a session with another header", reply("b"), "t", mismatched, ""},
		{"answer to an unknown request", reply("c"), "t", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var all routes
			all.route(request("a", "x", ""))
			all.route(request("b", "x", "s"))
			got := ""
			if r := all.admit(tt.m, tt.header); r != nil {
				if got = r.text; r.status != http.StatusBadRequest {
					t.Errorf("the status is %d, want 400", r.status)
				}
			}
			if got != tt.want {
				t.Errorf("the message is rejected with %q, want %q", got, tt.want)
			}
			asked, pending, bytes := 2, 0, 0
			if tt.want == "" && tt.m.isAnswer() && tt.m.id != "c" {
				asked--
			}
			if tt.want == "" && tt.m.isRequest() {
				pending, bytes = 1, len(tt.m.line)
			}
			if len(all.asked) != asked || len(all.pending) != pending || all.bytes != bytes {
				t.Errorf("there are %d requests of the agent and %d of the client with %d bytes, want %d, %d and %d", len(all.asked), len(all.pending), all.bytes, asked, pending, bytes)
			}
			if pending == 0 {
				return
			}
			if got := all.route(reply(tt.m.id)); got != tt.stream {
				t.Errorf("the answer is sent on the stream %q, want %q", got, tt.stream)
			}
			if len(all.pending) != 0 || all.bytes != 0 {
				t.Errorf("after the answer %d requests with %d bytes are pending, want none", len(all.pending), all.bytes)
			}
		})
	}
	for method := range sessionMethods {
		if r := new(routes).admit(request("1", method, ""), ""); r == nil || r.text != missing {
			t.Errorf("%s without a session is rejected with %v, want %q", method, r, missing)
		}
	}
}

// TestRoutes_limits checks the limits of the requests of both sides at their borders, also for requests with the same id.
func TestRoutes_limits(t *testing.T) {
	var all routes
	for round := range 2 { // answers free the space
		for i := range maxPending {
			if r := all.admit(request(fmt.Sprint(i), "x", ""), ""); r != nil {
				t.Fatalf("round %d: request %d is rejected with %v, want %d accepted", round, i, r, maxPending)
			}
		}
		if r := all.admit(request("x", "x", ""), ""); r == nil || r.status != http.StatusTooManyRequests {
			t.Errorf("round %d: request %d is rejected with %+v, want status 429", round, maxPending, r)
		}
		if r := all.admit(note("x", ""), ""); r != nil {
			t.Errorf("round %d: a notification is rejected with %+v, want it accepted", round, r)
		}
		for i := range maxPending {
			all.route(reply(fmt.Sprint(i)))
		}
	}
	for range 2 {
		all.admit(request("1", "x", ""), "s")
	}
	for i, want := range []string{"s", "s", ""} {
		if got := all.route(reply("1")); got != want {
			t.Errorf("answer %d to two requests with one id is sent on the stream %q, want %q", i, got, want)
		}
	}
	if all.bytes != 0 {
		t.Errorf("after the answers %d bytes are pending, want 0", all.bytes)
	}
	for i := range maxAsked + 1 {
		all.route(request(fmt.Sprint(i), "x", "s"))
		if len(all.asked) > maxAsked {
			t.Fatalf("%d requests of the agent are known, want at most %d", len(all.asked), maxAsked)
		}
		if r := all.answered(reply(fmt.Sprint(i)), "t"); r == nil {
			t.Fatalf("an answer to request %d of the agent is accepted with the header of another session", i)
		}
		if i == maxAsked-1 && len(all.asked) != maxAsked {
			t.Errorf("%d requests of the agent are known, want %d", len(all.asked), maxAsked)
		}
	}
}

// TestRoutes_route checks the stream of each kind of message of the agent.
func TestRoutes_route(t *testing.T) {
	for _, tt := range []struct {
		name string
		m    *message
		want string
	}{
		{"request of the connection", request("1", "x", ""), ""}, {"request of a session", request("1", "x", "s"), "s"},
		{"notification of the connection", note("x", ""), ""}, {"notification of a session", note("x", "s"), "s"},
		{"answer to an unknown request", reply("9"), ""},
	} {
		var all routes
		if got := all.route(tt.m); got != tt.want {
			t.Errorf("%s: the stream is %q, want %q", tt.name, got, tt.want)
		}
		if want := tt.m.isRequest(); (len(all.asked) == 1) != want {
			t.Errorf("%s: %d requests of the agent are known, want one: %v", tt.name, len(all.asked), want)
		}
	}
}

// TestOptions_withDefaults checks that only missing options get defaults.
func TestOptions_withDefaults(t *testing.T) {
	if o := (Options{}).withDefaults(); o.MaxWaiting <= 0 || o.MaxStreams <= 0 || o.Stall <= 0 || o.Idle <= o.Stall || o.Heartbeat <= 0 || o.Heartbeat >= o.Stall || o.Logger == nil {
		t.Errorf("the defaults are %+v, want all of them, in order", o)
	}
	set := Options{MaxWaiting: 1, MaxStreams: 2, Stall: 3, Idle: 4, Heartbeat: 5, Logger: (Options{}).withDefaults().Logger}
	if o := set.withDefaults(); o != set {
		t.Errorf("%+v with defaults is %+v", set, o)
	}
}

// failing is a response whose writes or flushes fail.
type failing struct {
	*httptest.ResponseRecorder
	write, flush error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.write != nil {
		return 0, f.write
	}
	return f.ResponseRecorder.Write(p)
}

func (f *failing) FlushError() error { return f.flush }

// TestConn_write checks that a stream ends with the first failure of its response, and with its connection.
func TestConn_write(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		name         string
		write, flush error
		ended        bool
		ok           bool
	}{{"works", nil, nil, false, true}, {"a write fails", broken, nil, false, false}, {"a flush fails", nil, broken, false, false}, {"the connection has ended", nil, nil, true, false}} {
		ctx, cancel := context.WithCancel(t.Context())
		if tt.ended {
			cancel()
		}
		c := &conn{ctx: ctx, opts: &Options{}}
		w := &failing{httptest.NewRecorder(), tt.write, tt.flush}
		if got := c.write(w, http.NewResponseController(w), []byte("data")); got != tt.ok {
			t.Errorf("%s: write reports %v, want %v", tt.name, got, tt.ok)
		}
		if tt.ended && w.Body.Len() > 0 {
			t.Errorf("%s: %q was written", tt.name, w.Body)
		}
		cancel()
	}
}

// TestSocket_send checks that a message for a closed socket is an error, so that its agent ends.
func TestSocket_send(t *testing.T) {
	done := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(done)
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		k := &socket{ws: ws, rc: http.NewResponseController(w), stall: closeTimeout}
		if err := k.send([]byte("a")); err != nil {
			t.Errorf("send to an open socket returns %v", err)
		}
		_ = ws.CloseNow()
		if err := k.send([]byte("b")); !errors.Is(err, errWrite) {
			t.Errorf("send to a closed socket returns %v, want %v", err, errWrite)
		}
	}))
	defer srv.Close()
	ws, _, err := websocket.Dial(t.Context(), srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	if _, data, err := ws.Read(t.Context()); err != nil || string(data) != "a" {
		t.Errorf("the client reads %q, %v, want the message a", data, err)
	}
	<-done
}

// TestCloseCode checks the code that a client gets for each reason of an end.
func TestCloseCode(t *testing.T) {
	for _, tt := range []struct {
		cause error
		want  websocket.StatusCode
		text  string
	}{
		{errClosed, websocket.StatusGoingAway, "Server shutting down"}, {errDeleted, websocket.StatusNormalClosure, ""},
		{errStalled, websocket.StatusPolicyViolation, "The connection was ended"}, {context.Canceled, websocket.StatusPolicyViolation, "The connection was ended"},
	} {
		if code, text := closeCode(tt.cause); code != tt.want || text != tt.text {
			t.Errorf("%v closes a socket with %d %q, want %d %q", tt.cause, code, text, tt.want, tt.text)
		}
	}
}

// TestErrorMessage checks the form of an error, also with data that is not JSON.
func TestErrorMessage(t *testing.T) {
	for _, tt := range []struct{ name, id, data, want string }{
		{"no data", `"a"`, "", `{"jsonrpc":"2.0","id":"a","error":{"code":-32600,"message":"text"}}`},
		{"data", "7", `{"x":1}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"text","data":{"x":1}}}`},
		{"broken data", "7", `{"x"`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"Internal error"}}`},
	} {
		if got := string(errorMessage(tt.id, codeInvalid, "text", []byte(tt.data))); got != tt.want {
			t.Errorf("%s: the error is %s, want %s", tt.name, got, tt.want)
		}
	}
	for size, want := range map[int]int{maxID: maxID, maxID + 1: 0} {
		if got := len(clipped(make([]byte, size))); got != want {
			t.Errorf("a value of %d bytes is quoted with %d bytes, want %d", size, got, want)
		}
	}
}

// TestConn_waitRoom checks that a writer waits while too many bytes are unread, that reading wakes all writers, and that a client that reads nothing in
// time loses its connection.
func TestConn_waitRoom(t *testing.T) {
	gone := errors.New("gone")
	for _, tt := range []struct {
		name    string
		waiting int
		end     func(c *conn, stop context.CancelCauseFunc) // after a second
		want    error
		after   time.Duration
	}{
		{"room", 9, nil, nil, 0},
		{"read", 10, func(c *conn, _ context.CancelCauseFunc) { c.take(c.streams["k"]) }, nil, time.Second},
		{"not read", 10, nil, errStalled, time.Minute},
		{"the connection ends", 10, func(c *conn, _ context.CancelCauseFunc) { c.end(errDeleted) }, errDeleted, time.Second},
		{"the request ends", 10, func(_ *conn, stop context.CancelCauseFunc) { stop(gone) }, gone, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := Options{MaxWaiting: 10}.withDefaults()
				c := &conn{opts: &opts, streams: map[string]*stream{}}
				c.ctx, c.end = context.WithCancelCause(t.Context())
				if err := c.push("k", make([]byte, tt.waiting)); err != nil {
					t.Fatal(err)
				}
				request, stop := context.WithCancelCause(t.Context())
				defer stop(nil)
				if tt.end != nil {
					time.AfterFunc(time.Second, func() { tt.end(c, stop) })
				}
				began := time.Now()
				var all sync.WaitGroup
				for range 3 {
					all.Go(func() {
						if err := c.waitRoom(request); !errors.Is(err, tt.want) {
							t.Errorf("a writer gets %v, want %v", err, tt.want)
						}
						if took := time.Since(began); took != tt.after {
							t.Errorf("a writer waits for %v, want %v", took, tt.after)
						}
					})
				}
				all.Wait()
				c.end(nil)
			})
		})
	}
}

// TestConn_use checks that a connection expires after its last use, and not during one.
func TestConn_use(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := Options{Idle: time.Minute}.withDefaults()
		c := &conn{opts: &opts}
		c.ctx, c.end = context.WithCancelCause(t.Context())
		first, second := c.use(), c.use()
		first()
		<-time.After(time.Hour)
		second()
		<-time.After(59 * time.Second)
		third := c.use()
		<-time.After(time.Hour)
		third()
		<-time.After(59 * time.Second)
		if err := context.Cause(c.ctx); err != nil {
			t.Fatalf("a connection in use ends with %v", err)
		}
		<-time.After(2 * time.Second)
		if err := context.Cause(c.ctx); !errors.Is(err, errIdle) {
			t.Errorf("after a minute without a use the connection ends with %v, want %v", err, errIdle)
		}
	})
}

// TestConn_deliver checks where each kind of message of the agent goes: only the first answer with the id of initialize answers the request that
// opens the connection.
func TestConn_deliver(t *testing.T) {
	opts := Options{}.withDefaults()
	c := &conn{opts: &opts, initID: "0", initial: make(chan []byte, 1), streams: map[string]*stream{}}
	c.ctx, c.end = context.WithCancelCause(t.Context())
	out := (*output)(c)
	answer := `{"jsonrpc":"2.0","id":0,"result":{}}`
	all := []string{
		`{"jsonrpc":"2.0","id":0,"method":"x","params":{"sessionId":"s"}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, "no message", answer,
		`{"jsonrpc":"2.0","method":"y","params":{"sessionId":"s"}}`, answer,
	}
	for _, line := range all {
		half := len(line) / 2
		for _, part := range []string{line[:half], line[half:] + "\n"} {
			if n, err := io.WriteString(out, part); n != len(part) || err != nil {
				t.Fatalf("write of %q returns %d, %v", part, n, err)
			}
		}
	}
	select {
	case line := <-c.initial:
		if string(line) != answer {
			t.Errorf("initialize is answered with %s, want %s", line, answer)
		}
	default:
		t.Error("initialize is not answered")
	}
	for key, want := range map[string]string{"s": all[0] + all[4], "": all[1] + answer} {
		got := ""
		if s := c.streams[key]; s != nil {
			for _, line := range s.queue {
				got += string(line)
			}
		}
		if got != want {
			t.Errorf("the stream %q has %s, want %s", key, got, want)
		}
	}
	if c.partial != nil {
		t.Errorf("after complete lines %q is kept", c.partial)
	}
}
