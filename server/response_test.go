package server

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/server/api"
)

// stalls is a listener of a server that reports connections without a response, by the address of the client.
type stalls struct {
	*harness
	*httptest.Server
	closed chan string
}

// newStalls serves a session with a conversation that is larger than the buffers of a connection.
func newStalls(t *testing.T, timeout time.Duration) (s *stalls, session string) {
	t.Helper()
	s = &stalls{harness: newHarness(t, func(o *Options) { o.WriteTimeout = timeout }), closed: make(chan string, 100)}
	s.Server = httptest.NewUnstartedServer(s.server.Handler())
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateClosed || state == http.StateIdle { // a response that has ended frees its connection
			s.closed <- c.RemoteAddr().String()
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	session = s.connect()
	s.query(session, "say "+strings.Repeat("x", 8<<20))
	eventually(t, "the end of the turn", func() bool { return s.info(session).Turns == 1 && s.info(session).State == "idle" })
	return s, session
}

// stall sends a request, reads the beginning of the response and nothing more.
func (s *stalls) stall(token, line, body string) net.Conn {
	s.Helper()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		s.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", line, token, len(body), body); err != nil {
		s.Fatal(err)
	}
	begin := make([]byte, len("HTTP/1.1 200"))
	if _, err := io.ReadFull(conn, begin); err != nil || string(begin) != "HTTP/1.1 200" {
		s.Fatalf("%s: %q, %v", line, begin, err)
	}
	return conn
}

// closes waits until the server has closed a connection, or has ended its response.
func (s *stalls) closes(line string, conn net.Conn) {
	s.Helper()
	late := time.NewTimer(wait)
	defer late.Stop()
	for {
		select {
		case addr := <-s.closed:
			if addr == conn.LocalAddr().String() {
				return
			}
		case <-late.C:
			s.Fatalf("%s: the server waits for a client that does not read", line)
		}
	}
}

// requests returns requests with large responses: plain ones and streams.
func (s *stalls) requests(session string) map[string]string {
	s.Helper()
	epoch, _, _ := strings.Cut(s.cursor(session), ":")
	ref := fmt.Sprintf(`{"session_id":%q}`, session)
	return map[string]string{
		"POST /v1/session.getHistory":                                ref,
		"GET /v1/sessions/" + session + "/events":                    "",
		"GET /v1/aisdk/" + session + "/stream?after=" + epoch + ":0": "",
		"GET /v1/backup": "",
	}
}

// TestResponse_stalled checks that a client that does not read is disconnected, for each kind of response.
func TestResponse_stalled(t *testing.T) {
	s, session := newStalls(t, time.Second)
	for line, body := range s.requests(session) {
		s.closes(line, s.stall(s.token, line, body))
	}
}

// TestRevoked_stalled checks that a stream that waits for its client ends with its token, long before the time limit of its writes.
func TestRevoked_stalled(t *testing.T) {
	s, session := newStalls(t, time.Hour)
	for line, body := range s.requests(session) {
		if strings.HasPrefix(line, "POST") {
			continue // a response, not a stream
		}
		tk, value, err := s.server.tokens.create(token{Role: "admin"}, 0)
		if err != nil {
			t.Fatal(err)
		}
		conn := s.stall(value, line, body)
		s.call("tokens.revoke", api.TokensRevokeParams{ID: tk.ID}, nil)
		s.closes(line, conn)
	}
}

// TestResponse_next checks that the time limit of a stream does not apply to the next response on its connection.
func TestResponse_next(t *testing.T) {
	const timeout = 100 * time.Millisecond
	h := newHarness(t, func(o *Options) { o.WriteTimeout = timeout })
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	defer client.CloseIdleConnections()
	send := func(method, path, body string) (reused bool) {
		t.Helper()
		trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { reused = info.Reused }}
		req, err := http.NewRequestWithContext(httptrace.WithClientTrace(h.ctx(), trace), method, h.url+path, io.MultiReader(strings.NewReader(body)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+h.token)
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req) // the body cannot be sent twice: no retry
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return reused
	}
	send(http.MethodPost, "/v1/agui", `{"threadId":"t","runId":"r","messages":[{"id":"m","role":"user","content":"say x"}]}`)
	for _, next := range [][2]string{{http.MethodPost, "/v1/session.list"}, {http.MethodGet, "/v1/aisdk/t/stream"}, {http.MethodGet, "/livez"}} {
		late := time.NewTimer(2 * timeout)
		<-late.C
		if !send(next[0], next[1], "{}") {
			t.Errorf("%s has a new connection, want that of the stream", next[1])
		}
	}
}

// pieces is a writer that counts writes and time limits.
type pieces struct {
	*httptest.ResponseRecorder
	limits, largest int
}

func (p *pieces) SetWriteDeadline(time.Time) error {
	p.limits++
	return nil
}

func (p *pieces) Write(data []byte) (int, error) {
	p.largest = max(p.largest, len(data))
	return p.ResponseRecorder.Write(data)
}

// TestResponse_pieces checks that a large response is written in pieces with separate time limits: a slow client that reads gets all of it.
func TestResponse_pieces(t *testing.T) {
	p := &pieces{ResponseRecorder: httptest.NewRecorder()}
	want := strings.Repeat("x", 10*maxWrite+1)
	h := (&Server{opts: Options{WriteTimeout: time.Minute}}).bounded(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n, err := io.WriteString(w, want); n != len(want) || err != nil {
			t.Errorf("%d bytes were written, %v; want %d", n, err, len(want))
		}
	}))
	h.ServeHTTP(p, httptest.NewRequest(http.MethodGet, "/", nil))
	if p.Body.String() != want || p.largest > maxWrite || p.limits < 11 {
		t.Errorf("%d bytes in pieces of at most %d with %d time limits; want %d, %d and 11", p.Body.Len(), p.largest, p.limits, len(want), maxWrite)
	}
}
