package acphttp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/seed7221b0f9/parley/acp/acphttp"
)

// strict fails a test whose handler sends the header of a response twice.
type strict struct {
	http.ResponseWriter
	t    *testing.T
	sent bool
}

func (s *strict) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *strict) WriteHeader(status int) {
	if s.sent {
		s.t.Errorf("the header is sent a second time, with status %d", status)
	}
	s.sent = true
	s.ResponseWriter.WriteHeader(status)
}

// TestServe_refusals checks status, text and headers of each rejection.
func TestServe_refusals(t *testing.T) {
	long := strings.Repeat("s", 1025)
	note := `{"jsonrpc":"2.0","method":"x"}`
	for _, tt := range []struct {
		name, method, body string
		header             []string // "@" is the id of a connection
		status             int
		want               string
	}{
		{"method", http.MethodPut, "", nil, 405, "Method Not Allowed"},
		{"no type", http.MethodPost, note, []string{"Content-Type", ""}, 415, "Unsupported Media Type"},
		{"type", http.MethodPost, note, []string{"Content-Type", "text/plain"}, 415, "Unsupported Media Type"},
		{"no body", http.MethodPost, "", nil, 400, "Invalid JSON"},
		{"no message", http.MethodPost, "1", nil, 400, "Invalid JSON-RPC message"},
		{"batch", http.MethodPost, "[]", nil, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request: JSON-RPC batches are not supported"}}`},
		{"too long", http.MethodPost, `"` + strings.Repeat("x", 999) + `"`, nil, 413, "Request body exceeds 1000 bytes"},
		{"second initialize", http.MethodPost, hello, []string{acphttp.HeaderConnection, "@"}, 400, "Initialize not allowed on existing connection"},
		{"initialize without an id", http.MethodPost, strings.Replace(hello, `"id":0`, `"id":null`, 1), nil, 400, "Initialize request must include an ID"},
		{"no connection", http.MethodPost, note, nil, 400, "Missing Acp-Connection-Id"},
		{"unknown connection", http.MethodPost, note, []string{acphttp.HeaderConnection, "x"}, 404, "Unknown Acp-Connection-Id"},
		{"no session", http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"session/prompt"}`, []string{acphttp.HeaderConnection, "@"}, 400, "Missing Acp-Session-Id"},
		{"no stream", http.MethodGet, "", []string{acphttp.HeaderConnection, "@", "Accept", "application/json"}, 406, "Not Acceptable"},
		{"stream of no connection", http.MethodGet, "", []string{"Accept", "text/event-stream"}, 400, "Missing Acp-Connection-Id"},
		{"stream of a long session", http.MethodGet, "", []string{acphttp.HeaderConnection, "@", "Accept", "text/event-stream", acphttp.HeaderSession, long}, 400, "Session ID exceeds maxIdLength (1024)"},
		{"end of no connection", http.MethodDelete, "", nil, 400, "Missing Acp-Connection-Id"},
		{"end of an unknown connection", http.MethodDelete, "", []string{acphttp.HeaderConnection, "x"}, 404, "Unknown Acp-Connection-Id"},
		{"socket without a key", http.MethodGet, "", []string{"Connection", "Upgrade", "Upgrade", "WebSocket", "Sec-WebSocket-Version", "13"}, 400, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := acphttp.New(acphttp.Options{})
			defer h.Close()
			serve := func(method, body string, header ...string) *httptest.ResponseRecorder {
				r := httptest.NewRequest(method, "/", strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json; charset=utf-8")
				for i := 0; i < len(header); i += 2 {
					r.Header.Set(header[i], header[i+1])
				}
				w := httptest.NewRecorder()
				if err := h.Serve(&strict{w, t, false}, r, acphttp.Client{Agent: echo, MaxBody: 1000}); err != nil {
					t.Errorf("Serve returns %v, want a response", err)
				}
				return w
			}
			id := serve(http.MethodPost, hello).Header().Get(acphttp.HeaderConnection)
			header := append([]string(nil), tt.header...)
			for i := range header {
				if header[i] == "@" {
					header[i] = id
				}
			}
			w := serve(tt.method, tt.body, header...)
			if w.Code != tt.status || tt.want != "" && w.Body.String() != tt.want {
				t.Errorf("the response is %d %q, want %d %q", w.Code, w.Body, tt.status, tt.want)
			}
			media := "text/plain"
			if strings.HasPrefix(tt.want, "{") {
				media = "application/json"
			}
			if got := w.Header(); tt.want != "" && (got.Get("Content-Type") != media || got.Get("Cache-Control") != "no-store") {
				t.Errorf("the headers are %v, want the type %s, not stored", got, media)
			}
		})
	}
}

// TestServe_full checks that one message may be as large as the limit, and that the limit of another client does not matter.
func TestServe_full(t *testing.T) {
	h := acphttp.New(acphttp.Options{})
	defer h.Close()
	for size, want := range map[int64]int{int64(len(hello)): 200, int64(len(hello)) - 1: 413, 0: 200} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(hello))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if err := h.Serve(&strict{w, t, false}, r, acphttp.Client{Agent: echo, MaxBody: size}); err != nil || w.Code != want {
			t.Errorf("with a limit of %d bytes the status is %d (%v), want %d", size, w.Code, err, want)
		}
	}
}

// TestServe_open checks that each accepted connection is released once, at its end, and that a rejected one starts no agent.
func TestServe_open(t *testing.T) {
	rejected := errors.New("rejected")
	for _, tt := range []struct {
		name    string
		err     error
		stopped bool // the handler is closed before
		want    int
	}{{"accepted", nil, false, 200}, {"rejected", rejected, false, 0}, {"stopping", nil, true, 503}} {
		for _, upgrade := range []string{"", "websocket"} {
			if upgrade != "" && tt.want == 200 {
				continue // TestServe_socketEnds
			}
			h := acphttp.New(acphttp.Options{})
			if tt.stopped {
				h.Close()
			}
			var released, started atomic.Int32
			client := acphttp.Client{
				Agent: func(ctx context.Context, r io.Reader, w io.WriteCloser) error {
					started.Add(1)
					return echo(ctx, r, w)
				},
				Open: func() (context.Context, func(), error) {
					return t.Context(), func() { released.Add(1) }, tt.err
				},
			}
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(hello))
			r.Header.Set("Content-Type", "application/json")
			if upgrade != "" {
				r = httptest.NewRequest(http.MethodGet, "/", nil)
				r.Header.Set("Upgrade", upgrade)
			}
			w := httptest.NewRecorder()
			if err := h.Serve(&strict{w, t, false}, r, client); !errors.Is(err, tt.err) {
				t.Errorf("%s: Serve returns %v, want %v", tt.name, err, tt.err)
			}
			if tt.err == nil && w.Code != tt.want {
				t.Errorf("%s: the status is %d, want %d", tt.name, w.Code, tt.want)
			}
			if tt.err != nil && (w.Code != 200 || w.Body.Len() > 0) {
				t.Errorf("%s: the response %d %q is written, want none", tt.name, w.Code, w.Body)
			}
			if tt.want == 200 && released.Load() != 0 {
				t.Errorf("%s: the connection is released while it is open", tt.name)
			}
			h.Close()
			want := [2]int32{}
			if tt.err == nil {
				want[1]++
			}
			if tt.want == 200 {
				want[0]++
			}
			if got := [2]int32{started.Load(), released.Load()}; got != want {
				t.Errorf("%s: agents and releases are %v, want %v", tt.name, got, want)
			}
		}
	}
}

// socket opens a socket at the site.
func (s *site) socket() *websocket.Conn {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), long)
	defer cancel()
	c, _, err := websocket.Dial(ctx, s.url, nil)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = c.CloseNow() })
	return c
}

func (s *site) write(c *websocket.Conn, text string) {
	s.Helper()
	if err := c.Write(s.Context(), websocket.MessageText, []byte(text)); err != nil {
		s.Fatal(err)
	}
}

// read reads a message of a socket.
func (s *site) read(c *websocket.Conn) (string, error) {
	ctx, cancel := context.WithTimeout(s.Context(), long)
	defer cancel()
	_, data, err := c.Read(ctx)
	return string(data), err
}

// TestServe_socketEnds checks that the connection of a socket ends with each end of the socket.
func TestServe_socketEnds(t *testing.T) {
	for _, tt := range []struct {
		name  string
		agent acphttp.Agent
		opts  acphttp.Options
		end   func(c *websocket.Conn)
	}{
		{"the client closes it", echo, acphttp.Options{}, func(c *websocket.Conn) { _ = c.Close(websocket.StatusNormalClosure, "") }},
		{"the client disconnects", echo, acphttp.Options{}, func(c *websocket.Conn) { _ = c.CloseNow() }},
		{"the client does not answer pings", echo, acphttp.Options{Heartbeat: 5 * time.Millisecond, Stall: 20 * time.Millisecond}, nil},
		{"the client does not read", talker(100_000), acphttp.Options{Stall: 50 * time.Millisecond}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, tt.opts, tt.agent)
			c := s.socket()
			s.write(c, hello)
			if text, err := s.read(c); err != nil || text != `{"jsonrpc":"2.0","id":0,"result":{}}` {
				t.Fatalf("the first message is %.100s, %v, want the answer to initialize", text, err)
			}
			if tt.end != nil {
				tt.end(c)
			}
			s.none()
		})
	}
	// An agent that ends closes the socket.
	s := newSite(t, acphttp.Options{}, func(_ context.Context, r io.Reader, w io.WriteCloser) error {
		in := bufio.NewReader(r)
		if _, err := in.ReadString('\n'); err != nil {
			return err
		}
		if _, err := io.WriteString(w, `{"jsonrpc":"2.0","id":0,"result":{}}`+"\n"); err != nil {
			return err
		}
		_, err := in.ReadString('\n')
		return err
	})
	c := s.socket()
	s.write(c, hello)
	if text, err := s.read(c); err != nil {
		t.Errorf("initialize is answered with %s, %v", text, err)
	}
	s.write(c, `{"jsonrpc":"2.0","method":"x"}`)
	if text, err := s.read(c); websocket.CloseStatus(err) != websocket.StatusNormalClosure {
		t.Errorf("after the end of the agent the client reads %s, %v, want a normal close", text, err)
	}
	s.none()
}

// TestServe_socketFirst checks the response to each kind of first message of a socket, and that the socket is usable or closed afterwards.
func TestServe_socketFirst(t *testing.T) {
	null := func(code, text, data string) string {
		return `{"jsonrpc":"2.0","id":null,"error":{"code":` + code + `,"message":"` + text + `"` + data + `}}`
	}
	for _, tt := range []struct {
		first, want string
		code        websocket.StatusCode
		text        string
	}{
		{hello, `{"jsonrpc":"2.0","id":0,"result":{}}`, -1, ""},
		{"{", null("-32700", "Parse error", ""), -1, ""},
		{"[]", null("-32600", "Invalid request: JSON-RPC batches are not supported", ""), -1, ""},
		{"7", null("-32600", "Invalid request", `,"data":7`), -1, ""},
		{`{"id":1,"method":"initialize"}`, null("-32600", "Invalid request", `,"data":{"id":1,"method":"initialize"}`), -1, ""},
		{`{"jsonrpc":"2.0"}`, null("-32600", "Invalid request", `,"data":{"jsonrpc":"2.0"}`), -1, ""},
		{`{"id":1,"result":{}}`, "", -1, ""},
		{`{"jsonrpc":"2.0","id":1,"method":"x"}`, "", websocket.StatusProtocolError, "First message must be initialize"},
		{`{"jsonrpc":"2.0","method":"initialize"}`, "", websocket.StatusProtocolError, "First message must be initialize"},
		{`{"jsonrpc":"2.0","id":null,"method":"initialize"}`, "", websocket.StatusProtocolError, "Initialize request must include an ID"},
	} {
		t.Run(tt.first, func(t *testing.T) {
			s := newSite(t, acphttp.Options{}, echo)
			c := s.socket()
			s.write(c, tt.first)
			if tt.want != "" {
				if text, err := s.read(c); text != tt.want || err != nil {
					t.Errorf("the answer is %s, %v, want %s", text, err, tt.want)
				}
			}
			if tt.code >= 0 {
				var end websocket.CloseError
				if text, err := s.read(c); !errors.As(err, &end) || end.Code != tt.code || end.Reason != tt.text {
					t.Errorf("the client reads %s, %v, want a close with %d %q", text, err, tt.code, tt.text)
				}
				s.none()
				return
			}
			if tt.first != hello {
				s.write(c, hello)
				if text, err := s.read(c); err != nil || !strings.Contains(text, `"result"`) {
					t.Errorf("initialize is answered with %s, %v", text, err)
				}
			}
			s.write(c, hello)
			want := `{"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"Initialize not allowed on existing connection"}}`
			if text, err := s.read(c); text != want || err != nil {
				t.Errorf("a second initialize is answered with %s, %v, want %s", text, err, want)
			}
		})
	}
}

// TestServe_socketFloods checks the limits of a socket: too many unanswered requests are rejected, each with its id, and a too long id closes the socket.
func TestServe_socketFloods(t *testing.T) {
	s := newSite(t, acphttp.Options{}, echo)
	c := s.socket()
	s.write(c, hello)
	if text, err := s.read(c); err != nil || !strings.Contains(text, `"result"`) {
		t.Fatalf("initialize is answered with %s, %v", text, err)
	}
	const most = 256
	for i := range most + 2 {
		s.write(c, fmt.Sprintf(`{"jsonrpc":"2.0","id":"r%d","method":"x"}`, i))
	}
	passed, refused := 0, ""
	for passed < most || len(refused) < len("r256 r257 ") {
		text, err := s.read(c)
		if err != nil {
			t.Fatalf("after %d messages and the rejections %q: %v", passed, refused, err)
		}
		var m struct {
			ID    string
			Error struct{ Code int }
		}
		if json.Unmarshal([]byte(text), &m) == nil && m.Error.Code == -32001 {
			refused += m.ID + " "
		} else {
			passed++
		}
	}
	if passed != most || refused != "r256 r257 " {
		t.Errorf("%d requests reach the agent and %q are rejected, want %d and the last two", passed, refused, most)
	}
	s.write(c, `{"jsonrpc":"2.0","method":"x","params":{"sessionId":"`+strings.Repeat("s", 1025)+`"}}`)
	if text, err := s.read(c); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("after a too long id the client reads %s, %v, want a close for a violation", text, err)
	}
	s.none()
}
