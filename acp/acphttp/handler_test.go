package acphttp_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed7221b0f9/parley/acp/acphttp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`

// talker answers initialize and then sends updates of n bytes without a pause.
func talker(n int) acphttp.Agent {
	return func(ctx context.Context, r io.Reader, w io.WriteCloser) error {
		if _, err := bufio.NewReader(r).ReadString('\n'); err != nil {
			return err
		}
		line := `{"jsonrpc":"2.0","id":0,"result":{}}` + "\n"
		for {
			if _, err := io.WriteString(w, line); err != nil {
				return nil
			}
			line = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","x":"` + strings.Repeat("x", n) + "\"}}\n"
		}
	}
}

// site is a handler at a loopback address. The header X-Owner names the owner.
type site struct {
	*testing.T
	h   *acphttp.Handler
	url string
}

func newSite(t *testing.T, opts acphttp.Options, agent acphttp.Agent) *site {
	h := acphttp.New(opts)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h.Serve(&strict{w, t, false}, r, acphttp.Client{Owner: r.Header.Get("X-Owner"), Agent: agent}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(func() {
		h.Close()
		srv.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return &site{t, h, srv.URL}
}

// do sends a request with pairs of header names and values. The caller closes the body.
func (s *site) do(method, body string, header ...string) *http.Response {
	s.Helper()
	req, err := http.NewRequest(method, s.url, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	return resp
}

// open opens a connection of an owner and returns its id.
func (s *site) open(owner string) string {
	s.Helper()
	resp := s.do(http.MethodPost, hello, "X-Owner", owner)
	defer resp.Body.Close()
	id := resp.Header.Get(acphttp.HeaderConnection)
	if resp.StatusCode != http.StatusOK || id == "" {
		s.Fatalf("initialize: %s", resp.Status)
	}
	return id
}

// TestServe_unread ends the connection of a client that opens no stream, and of one that stops reading its stream:
// the agent's messages are not buffered without a limit.
func TestServe_unread(t *testing.T) {
	s := newSite(t, acphttp.Options{MaxWaiting: 1 << 20, Stall: 50 * time.Millisecond}, talker(100_000))
	s.open("a")
	id := s.open("a")
	resp := s.do(http.MethodGet, "", "X-Owner", "a", acphttp.HeaderConnection, id, acphttp.HeaderSession, "s", "Accept", "text/event-stream")
	defer resp.Body.Close()
	s.none()
}

// none waits until all connections are closed.
func (s *site) none() {
	s.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(long)
	defer end.Stop()
	for s.h.Connections() > 0 {
		select {
		case <-tick.C:
		case <-end.C:
			s.Fatalf("%d connections are left", s.h.Connections())
		}
	}
}

// echo answers each line with the line as the result for id 0, or sends it as an update.
func echo(_ context.Context, r io.Reader, w io.WriteCloser) error {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil
		}
		if strings.Contains(line, "initialize") {
			line = `{"jsonrpc":"2.0","id":0,"result":{}}` + "\n"
		} else {
			line = fmt.Sprintf("{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"line\":%q}}\n", line)
		}
		if _, err := io.WriteString(w, line); err != nil {
			return nil
		}
	}
}

// TestServe_idle checks that a connection ends when its client has left.
func TestServe_idle(t *testing.T) {
	s := newSite(t, acphttp.Options{Idle: 50 * time.Millisecond}, echo)
	s.open("a")
	s.none()
}

// TestServe_owner checks that only the owner can use a connection.
func TestServe_owner(t *testing.T) {
	s := newSite(t, acphttp.Options{}, echo)
	id := s.open("a")
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		for owner, want := range map[string]bool{"b": false, "a": true} {
			resp := s.do(method, `{"jsonrpc":"2.0","method":"x"}`, "X-Owner", owner, acphttp.HeaderConnection, id, "Accept", "text/event-stream")
			resp.Body.Close()
			if found := resp.StatusCode != http.StatusNotFound; found != want && method != http.MethodDelete || found && !want {
				t.Errorf("%s by %s: %s", method, owner, resp.Status)
			}
		}
		if method == http.MethodDelete {
			return
		}
	}
}

// TestServe_lines checks that the agent gets one line per message, regardless of the client's white
// space.
func TestServe_lines(t *testing.T) {
	s := newSite(t, acphttp.Options{}, echo)
	id := s.open("a")
	resp := s.do(http.MethodPost, "{\n\"jsonrpc\":\n\"2.0\",\r\n\t\"method\":\"say\", \"params\": {\"sessionId\":\"s\"}\n}\n", "X-Owner", "a", acphttp.HeaderConnection, id, acphttp.HeaderSession, "s")
	resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		t.Fatalf("resp.Status is %v; want resp.StatusCode == http.StatusAccepted", resp.Status)
	}
	resp = s.do(http.MethodGet, "", "X-Owner", "a", acphttp.HeaderConnection, id, acphttp.HeaderSession, "s", "Accept", "text/event-stream")
	defer resp.Body.Close()
	line, err := bufio.NewReader(resp.Body).ReadString('\n')
	if want := `"line":"{\"jsonrpc\":\"2.0\",\"method\":\"say\",\"params\":{\"sessionId\":\"s\"}}\n"`; err != nil || !strings.Contains(line, want) {
		t.Errorf("the agent read %s (%v), want %s", line, err, want)
	}
}

// TestServe_floods checks the limit of a client's unanswered requests.
func TestServe_floods(t *testing.T) {
	s := newSite(t, acphttp.Options{}, echo)
	id := s.open("a")
	refused := 0
	for i := range 260 {
		resp := s.do(http.MethodPost, fmt.Sprintf(`{"jsonrpc":"2.0","id":"%d","method":"initialize/x"}`, i), "X-Owner", "a", acphttp.HeaderConnection, id)
		resp.Body.Close()
		if resp.StatusCode == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused != 4 {
		t.Errorf("of 260 requests without an answer %d were refused, want 4", refused)
	}
}

// TestServe_failedAgent checks the response if an agent does not answer initialize.
func TestServe_failedAgent(t *testing.T) {
	s := newSite(t, acphttp.Options{}, func(context.Context, io.Reader, io.WriteCloser) error { return io.ErrUnexpectedEOF })
	resp := s.do(http.MethodPost, hello)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusInternalServerError || !strings.Contains(string(body), `"code":-32603`) {
		t.Errorf("%s %s %v; want err == nil and resp.StatusCode == http.StatusInternalServerError and strings.Contains(string(body), `\"code\":-32603`)", resp.Status, body, err)
	}
}

// TestServe_streams checks that a connection ends if its agent writes to more streams than may be
// unread.
func TestServe_streams(t *testing.T) {
	for n, ends := range map[int]bool{2: false, 3: true} {
		written := make(chan struct{})
		s := newSite(t, acphttp.Options{MaxStreams: 2}, func(_ context.Context, r io.Reader, w io.WriteCloser) error {
			in := bufio.NewReader(r)
			if _, err := in.ReadString('\n'); err != nil {
				return err
			}
			line := `{"jsonrpc":"2.0","id":0,"result":{}}` + "\n"
			for i := range n + 1 {
				if _, err := io.WriteString(w, line); err != nil {
					break
				}
				line = fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s%d"}}`+"\n", i)
			}
			close(written)
			_, err := in.ReadString('\n')
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		})
		s.open("a")
		<-written
		if ends {
			s.none()
		} else if got := s.h.Connections(); got != 1 {
			t.Errorf("with %d streams there are %d connections, want 1", n, got)
		}
	}
}
