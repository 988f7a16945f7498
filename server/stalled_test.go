package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// stalls is a server with a response that is larger than the buffers of a connection. Its listener
// reports each connection on which a response has ended.
type stalls struct {
	*harness
	*httptest.Server
	ended   chan string // addresses of clients
	session string
}

func newStalls(t *testing.T, timeout time.Duration) *stalls {
	t.Helper()
	s := &stalls{harness: newHarness(t), ended: make(chan string, 1000)}
	s.session = s.connect()
	s.query(s.session, "say "+random.Hex(1<<20)) // random, so that compression at most halves it
	eventually(t, "the end of the turn", func() bool { x := s.summary(s.session); return x.Turns == 1 && x.State == "idle" })
	s.opts.WriteTimeout = timeout // only now, because on a busy machine any response may take that long
	s.restart()
	s.Server = httptest.NewUnstartedServer(s.server.Handler())
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateClosed || state == http.StateHijacked {
			s.ended <- c.RemoteAddr().String()
		}
	}
	s.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		_ = c.(*net.TCPConn).SetWriteBuffer(4 << 10) // the system may keep its size
		return ctx
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// stall sends a request, reads the status of the response, and then stops reading.
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
		s.Fatalf("%s: %q, %v, want status 200", line, begin, err)
	}
	return conn
}

// closes waits until the server has closed a connection.
func (s *stalls) closes(line string, conn net.Conn) {
	s.Helper()
	late := time.NewTimer(wait)
	defer late.Stop()
	for {
		select {
		case addr := <-s.ended:
			if addr == conn.LocalAddr().String() {
				return
			}
		case <-late.C:
			s.Fatalf("%s: the server still waits for a client that does not read, want an end", line)
		}
	}
}

// requests returns requests with large responses: plain ones, and streams, which end with their
// token.
func (s *stalls) requests() (plain, streams map[string]string) {
	ref := fmt.Sprintf(`{"session_id":%q}`, s.session)
	return map[string]string{"POST /v1/session.getHistory": ref, "POST /v1/session.attach": ref, "GET /v1/sessions/" + s.session + "/events?wait=1": ""},
		map[string]string{"GET /v1/sessions/" + s.session + "/events": "", "GET /v1/backup": ""}
}

// TestResponse_stalled checks that a client that does not read is disconnected at the write
// deadline, for each kind of response.
func TestResponse_stalled(t *testing.T) {
	short.SkipQuick(t, "sends large responses")
	s := newStalls(t, 500*time.Millisecond)
	plain, streams := s.requests()
	for _, all := range []map[string]string{plain, streams} {
		for line, body := range all {
			s.closes(line, s.stall(s.token, line, body))
		}
	}
}

// TestRevoked_stalled checks that a stream that waits for its client ends with its token, long
// before the write deadline.
func TestRevoked_stalled(t *testing.T) {
	short.SkipQuick(t, "sends large responses")
	s := newStalls(t, time.Hour)
	_, streams := s.requests()
	for line, body := range streams {
		tk, value, err := s.server.tokens.create(token{Role: "admin"}, 0)
		if err != nil {
			t.Fatal(err)
		}
		conn := s.stall(value, line, body)
		s.call("tokens.revoke", api.TokensRevokeParams{ID: tk.ID}, nil)
		s.closes(line, conn)
	}
}

// TestFlight checks the memory limit of large responses: responses that share a text count once, a
// response above the limit is sent alone, and the others wait for room, until the timeout or until
// the caller cancels.
func TestFlight(t *testing.T) {
	const size = largeResponse
	f := newFlight(3*size, wait)
	key := new(byte)
	enter := func(key *byte, n int) func() {
		t.Helper()
		leave, err := f.enter(t.Context(), key, n)
		if err != nil {
			t.Fatalf("%d bytes beside %d of %d: %v, want room", n, f.used, f.max, err)
		}
		return leave
	}
	enter(nil, size-1)
	if f.used != 0 {
		t.Errorf("a small response takes %d bytes, want none", f.used)
	}
	one, two := enter(key, 2*size), enter(key, 2*size)
	if f.used != 2*size {
		t.Errorf("two responses that share %d bytes take %d, want that once", 2*size, f.used)
	}
	three := enter(nil, size)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.enter(ended, nil, size); !errors.Is(err, context.Canceled) {
		t.Errorf("without room, for a caller that left: %v, want %v", err, context.Canceled)
	}
	f.wait = time.Millisecond
	_, err := f.enter(t.Context(), nil, size)
	var he *httpError
	if !errors.Is(err, errOverloaded) || !errors.As(err, &he) || he.status != http.StatusServiceUnavailable {
		t.Errorf("without room: %v, want %v with status 503", err, errOverloaded)
	}
	f.wait = wait
	waited := make(chan error, 1)
	go func() {
		leave, err := f.enter(t.Context(), nil, 2*size)
		if err == nil {
			leave()
		}
		waited <- err
	}()
	one()
	one() // counts once
	three()
	select {
	case err := <-waited:
		t.Errorf("there is room while a text is still sent: %v", err)
	default:
	}
	two()
	if err := <-waited; err != nil {
		t.Errorf("when there is room: %v, want none", err)
	}
	enter(nil, 10*size)()
	if f.used != 0 || len(f.shared) != 0 {
		t.Errorf("at the end %d bytes and %d texts are counted, want none", f.used, len(f.shared))
	}
}

// TestEncode checks that a result with a large conversation is encoded to the same JSON as without
// sharing, and that a server without room refuses it over each transport.
func TestEncode(t *testing.T) {
	s := &Server{flight: newFlight(1, time.Millisecond)}
	large := event.JSON(`{"a":"` + strings.Repeat("x", largeResponse) + `"}`)
	small := event.JSON(`{"a":"x"}`)
	cursor := api.Cursor{Epoch: "e", Seq: 1, Sub: 2}
	for _, text := range []event.JSON{"", small, large} {
		for _, v := range []any{
			api.GetHistoryResult{Cursor: cursor, Conversation: text}, api.AttachResult{Cursor: cursor, State: "idle", Snapshot: text, Resync: true},
			sessionAttached{"s", api.AttachResult{Cursor: cursor, Snapshot: text}}, pollResult{AttachResult: api.AttachResult{Snapshot: text}, Events: []json.RawMessage{[]byte(`1`)}},
			api.ContextParseParams{Text: string(text)},
		} {
			wrap := func(v any) any { return map[string]any{"b": 1, "v": v, "z": []int{2}} }
			want, err := json.Marshal(wrap(v))
			if err != nil {
				t.Fatal(err)
			}
			e, leave, err := s.encode(t.Context(), v, wrap)
			if err != nil {
				t.Fatalf("%T: %v", v, err)
			}
			var got strings.Builder
			if err := e.write(&got); err != nil || got.String() != string(want) {
				t.Errorf("%T is %.200s, %v, want %.200s", v, got.String(), err, want)
			}
			if _, _, err := s.encode(t.Context(), v, wrap); len(want) > largeResponse && e.large == "" && !errors.Is(err, errOverloaded) {
				t.Errorf("%T, while another one is sent: %v, want %v", v, err, errOverloaded)
			}
			if len(want) > largeResponse && s.flight.used == 0 {
				t.Errorf("%T of %d bytes does not count", v, len(want))
			}
			leave()
			s.flight.shared, s.flight.used = map[*byte]int{}, 0
		}
	}
}

// TestOverloaded checks that a server without room for a large response refuses it over each transport, and sends it when there is room.
func TestOverloaded(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	h.query(id, "say "+strings.Repeat("x", largeResponse))
	eventually(t, "the end of the turn", func() bool { x := h.summary(id); return x.Turns == 1 && x.State == "idle" })
	f := h.server.flight
	f.mu.Lock()
	f.wait, f.used = time.Millisecond, f.max
	f.mu.Unlock()
	ref := api.SessionRef{SessionID: id}
	err := h.client(h.token).Call(h.ctx(), "session.getHistory", ref, nil)
	var failed *client.Error
	if !errors.As(err, &failed) || failed.Status != http.StatusServiceUnavailable || failed.Data.Reason != api.LimitReached {
		t.Errorf("over HTTP: %v, want status 503 and the reason %q", err, api.LimitReached)
	}
	socket := h.dial(h.token)
	for _, method := range []string{"session.getHistory", "session.attach"} {
		if _, err := socket.call(method, ref); err == nil || err.Data.Reason != api.LimitReached {
			t.Errorf("%s over a socket: %+v, want the reason %q", method, err, api.LimitReached)
		}
	}
	f.mu.Lock()
	f.used = 0
	f.mu.Unlock()
	for _, method := range []string{"session.getHistory", "session.attach"} {
		if got, err := socket.call(method, ref); err != nil || len(got) < largeResponse {
			t.Errorf("%s over a socket, with room: %d bytes, %+v, want the conversation", method, len(got), err)
		}
	}
	h.history(id)
}
