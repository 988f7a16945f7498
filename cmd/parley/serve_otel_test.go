package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestServe_otel runs a server that exports by OTLP: the spans of a turn are in the trace of
// the request, and the last ones are sent when the server ends.
func TestServe_otel(t *testing.T) {
	const callerTrace = "0af7651916cd43dd8448eb211c80319c"
	var mu sync.Mutex
	var sent bytes.Buffer
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.Copy(&sent, r.Body) // the test checks for missing parts
	}))
	defer collector.Close()
	dir := t.TempDir()
	t.Setenv("PARLEY_SIM_PACE", "0")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_SERVICE_NAME", "parley-of-the-test")
	f := serveFlagsFor(t, "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--dir", dir, "--log-level", "error", "--agent", "sim", "--otel")
	c, out, stop := serveUntil(t, f)
	var session api.ConnectResult
	if err := c.Call(t.Context(), "session.connect", api.ConnectParams{}, &session); err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(out.String(), "#token=")
	token, _, _ = strings.Cut(token, "\n")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL()+"/v1/session.query", strings.NewReader(`{"session_id":"`+session.SessionID+`","text":"say hello"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer " + strings.TrimSpace(token)}, "Content-Type": {"application/json"}, "Traceparent": {"00-" + callerTrace + "-b7ad6b7169203331-01"}}
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v; want err == nil and resp.StatusCode == http.StatusOK", resp, err)
	}
	_ = resp.Body.Close() // only the status matters
	untilTurns(t, c, session.SessionID, 1)
	stop()
	http.DefaultClient.CloseIdleConnections()
	mu.Lock()
	defer mu.Unlock()
	text := sent.String()
	for _, want := range []string{`"name":"session.query"`, `"name":"parley.turn"`, `"traceId":"` + callerTrace + `"`, "parley-of-the-test", session.SessionID} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s in what was exported: %s", want, text)
		}
	}
	if strings.Contains(text, "say hello") || strings.Contains(text, strings.TrimSpace(token)) {
		t.Error("what was exported holds a prompt or a token")
	}
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	if err := f.Serve(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "http/json") {
		t.Errorf("with a protocol that is not supported: %v", err)
	}
}

// untilTurns waits until a number of turns of a session have ended.
func untilTurns(t *testing.T, c *client.Client, session string, turns int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var view client.View
	for ev, err := range c.Follow(ctx, session, nil) {
		if err == nil {
			err = view.Apply(ev)
		}
		if err != nil {
			t.Fatalf("%v; the session is %s, its queue %+v, its notices %+v", err, view.Conversation.State, view.Conversation.Queue, view.Conversation.Notices)
		}
		if view.Conversation.Totals.Turns == turns {
			return
		}
	}
}
