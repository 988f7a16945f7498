package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"
)

// flood is a request body of 100 MB. It counts the bytes that the server reads.
type flood struct{ left, read atomic.Int64 }

func (z *flood) Read(p []byte) (int, error) {
	n := min(int64(len(p)), z.left.Load())
	if n == 0 {
		return 0, io.EOF
	}
	clear(p[:n])
	z.left.Add(-n)
	z.read.Add(n)
	return int(n), nil
}

// badHTTP are requests with a body, by endpoint: a valid one, and one for a method that does not exist.
var badHTTP = map[string]struct {
	path, good, unknown string
	unknownStatus       int
}{
	"methods": {"/v1/session.list", `{}`, "", 0},
	"unknown": {"/v1/session.nothing", `{}`, `{}`, http.StatusNotFound},
	"AG-UI":   {"/v1/agui", `{"threadId":"t","messages":[{"id":"m","role":"user","content":"say x"}]}`, `{"threadId":"t","resume":[{"interruptId":"x"}]}`, http.StatusNotFound},
	"AI SDK":  {"/v1/aisdk", `{"id":"t","messages":[{"id":"m","role":"user","parts":[{"type":"text","text":"say x"}]}]}`, `{"id":"t","trigger":"nothing","messages":[]}`, http.StatusBadRequest},
	"MCP":     {"/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"nothing/at_all"}`, http.StatusBadRequest},
	"ACP":     {"/acp", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`, `{"jsonrpc":"2.0","id":0,"method":"nothing"}`, http.StatusBadRequest},
}

// TestBadInput sends invalid requests to every endpoint. The response is an error with a reason, a large body is not read to its end,
// and the server works afterwards.
func TestBadInput(t *testing.T) {
	const limit = 1 << 20
	h := newHarness(t, func(o *Options) { o.MaxBody = limit })
	post := func(path string, body io.Reader, change func(*http.Request)) (int, string) {
		req, err := http.NewRequestWithContext(h.ctx(), http.MethodPost, h.url+path, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Authorization", "Bearer "+h.token)
		change(req)
		status, _, data := h.do(req)
		return status, string(data)
	}
	same := func(*http.Request) {}
	for name, e := range badHTTP {
		for kind, change := range foreign(h.token) {
			if status, body := post(e.path, strings.NewReader(e.good), change.change); status != change.status || !strings.Contains(body, "rror") {
				t.Errorf("%s, %s: status %d, want %d: %s", name, kind, status, change.status, body)
			}
		}
		for _, length := range []int64{-1, 100 << 20} {
			z := &flood{} // up to lingerMost is discarded, and the buffers of the sockets hold some of it
			z.left.Store(100 << 20)
			status, body := post(e.path, z, func(r *http.Request) { r.ContentLength = length })
			if want := http.StatusRequestEntityTooLarge; name != "unknown" && status != want || body == "" || z.read.Load() > lingerMost+16<<20 {
				t.Errorf("%s, 100 MB: status %d, want %d, %d bytes were read: %s", name, status, want, z.read.Load(), body)
			}
		}
		if name != "unknown" {
			if status, body := post(e.path, strings.NewReader(`{"a":`), same); status != http.StatusBadRequest || body == "" {
				t.Errorf("%s, no JSON: status %d: %s", name, status, body)
			}
		}
		if e.unknown != "" {
			if status, body := post(e.path, strings.NewReader(e.unknown), same); status != e.unknownStatus || body == "" {
				t.Errorf("%s, unknown: status %d, want %d: %s", name, status, e.unknownStatus, body)
			}
		}
	}
	h.badStreams()
	h.badSockets(limit)
	h.call("health", struct{}{}, nil)
}

// change changes a request so that it is refused with a status.
type change struct {
	status int
	change func(*http.Request)
}

func foreign(token string) map[string]change {
	return map[string]change{
		"wrong token":    {http.StatusUnauthorized, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token+"x") }},
		"no token":       {http.StatusUnauthorized, func(r *http.Request) { r.Header.Del("Authorization") }},
		"foreign host":   {http.StatusForbidden, func(r *http.Request) { r.Host = "evil.example" }},
		"foreign origin": {http.StatusForbidden, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }},
	}
}

// badStreams sends invalid requests for streams and sockets.
func (h *harness) badStreams() {
	h.Helper()
	id := h.connect()
	for name, path := range map[string]string{"SSE": "/v1/sessions/" + id + "/events", "WebSocket": "/v1/ws", "ACP": "/acp", "AI SDK": "/v1/aisdk/t/stream"} {
		for kind, c := range foreign(h.token) {
			req, err := http.NewRequestWithContext(h.ctx(), http.MethodGet, h.url+path, nil)
			if err != nil {
				h.Fatal(err)
			}
			req.Header.Set("Accept", "text/event-stream")
			req.Header.Set("Authorization", "Bearer "+h.token)
			if name == "WebSocket" || name == "ACP" {
				for k, v := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="} {
					req.Header.Set(k, v)
				}
			}
			c.change(req)
			if status, _, body := h.do(req); status != c.status || len(body) == 0 {
				h.Errorf("%s, %s: status %d, want %d: %s", name, kind, status, c.status, body)
			}
		}
	}
}

// badSockets sends bad messages over WebSocket.
func (h *harness) badSockets(limit int) {
	h.Helper()
	for _, path := range []string{"/v1/ws", "/acp"} {
		for kind, message := range map[string]string{
			"no JSON": `{"a":`, "unknown": `{"jsonrpc":"2.0","id":1,"method":"nothing.at_all","params":{}}`, "large": strings.Repeat(" ", limit+1),
		} {
			ctx, cancel := context.WithTimeout(h.ctx(), wait)
			conn, _, err := websocket.Dial(ctx, h.url+path, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + h.token}}})
			if err != nil {
				h.Fatal(err)
			}
			if err := conn.Write(ctx, websocket.MessageText, []byte(message)); err != nil && kind != "large" {
				h.Errorf("%s, %s: %v; want not (err != nil && kind != \"large\")", path, kind, err)
			}
			refused := false
			for !refused {
				_, data, err := conn.Read(ctx)
				var m struct{ Error json.RawMessage }
				var closed websocket.CloseError
				switch {
				case err == nil:
					refused = json.Unmarshal(data, &m) == nil && m.Error != nil
					continue
				case errors.As(err, &closed) && closed.Reason != "":
				default:
					h.Errorf("%s, %s: no error was read: %v", path, kind, err)
				}
				refused = true
			}
			_ = conn.CloseNow()
			cancel()
		}
	}
}
