package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"
)

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

// TestResponse_rearmed checks that a write deadline is set when a handler returns, whatever the handler wrote.
func TestResponse_rearmed(t *testing.T) {
	for _, text := range []string{"", "x", strings.Repeat("x", 2*maxWrite)} {
		p := &pieces{ResponseRecorder: httptest.NewRecorder()}
		during := 0
		h := (&Server{opts: Options{WriteTimeout: time.Minute}}).bounded(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, text)
			during = p.limits
		}))
		if h.ServeHTTP(p, httptest.NewRequest(http.MethodGet, "/", nil)); p.limits != during+1 {
			t.Errorf("after a handler that wrote %d bytes the time limit was set %d times, want once", len(text), p.limits-during)
		}
	}
}
