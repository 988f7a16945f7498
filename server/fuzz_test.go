package server

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/seed7221b0f9/parley/eventlog"
)

// newFuzzServer returns the handler of a server with its token.
func newFuzzServer(f *testing.F) (*Server, http.Handler) {
	opts, _ := faultOptions(f)
	var err error
	if opts.Store, err = eventlog.Open(f.Context(), &eventlog.Options{Dir: f.TempDir(), UnsafeNoSync: true, Logger: opts.Logger}); err != nil {
		f.Fatal(err)
	}
	s, err := New(f.Context(), opts)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := s.Close(); err != nil {
			f.Errorf("closing the server: %v", err)
		}
		if err := opts.Store.Close(context.Background()); err != nil {
			f.Errorf("closing the store: %v", err)
		}
	})
	return s, s.Handler()
}

// endpoints returns every endpoint of the server as "METHOD /path", with s as the id of a session.
func endpoints() []string {
	list := []string{"GET /livez", "GET /readyz", "POST /v1/login", "POST /v1/pair", "POST /v1/logout", "GET /v1/openapi.json", "GET /v1/none", "GET /docs/", "GET /", "POST /"}
	for _, m := range methods {
		list = append(list, "POST /v1/"+m.name)
	}
	for _, rt := range routes() {
		pattern := rt.pattern
		if !strings.Contains(pattern, " ") {
			pattern = "POST " + pattern
		}
		list = append(list, strings.NewReplacer("{id}", "s", "{thread}", "s", "{", "", "}", "", "...", "").Replace(pattern))
	}
	return list
}

// FuzzEndpoint sends any body and query to every endpoint, with and without a token. No endpoint panics or returns an
// internal error, a request without a token reaches no protected endpoint, and a refusal has a text.
func FuzzEndpoint(f *testing.F) {
	s, handler := newFuzzServer(f)
	all := endpoints()
	for i := range all {
		f.Add(uint16(i), true, "", []byte(`{}`))
	}
	for i, address := range all {
		for _, e := range badHTTP {
			if strings.HasSuffix(address, " "+e.path) {
				f.Add(uint16(i), true, "", []byte(e.good))
				f.Add(uint16(i), true, "wait=1&epoch=x&seq=1", []byte(e.unknown))
			}
		}
	}
	f.Add(uint16(0), false, "a=b", []byte(`{"a":`))
	f.Fuzz(func(t *testing.T, which uint16, token bool, query string, body []byte) {
		address := all[int(which)%len(all)]
		method, path, _ := strings.Cut(address, " ")
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond) // of a stream
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, method, "http://localhost"+path, strings.NewReader(string(body)))
		r.URL.RawQuery = query
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if token {
			r.Header.Set("Authorization", "Bearer "+s.Token())
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		got := w.Result()
		if got.StatusCode == http.StatusInternalServerError {
			t.Errorf("%s?%s with %q has the status %d: %s", address, query, body, got.StatusCode, w.Body)
		}
		if got.StatusCode >= http.StatusBadRequest && w.Body.Len() == 0 {
			t.Errorf("%s has the status %d and no text", address, got.StatusCode)
		}
		if !token && strings.HasPrefix(path, "/v1/") && got.StatusCode < http.StatusBadRequest && path != "/v1/openapi.json" && path != "/v1/logout" {
			t.Errorf("%s without a token has the status %d: %s", address, got.StatusCode, w.Body)
		}
		if kind := got.Header.Get("Content-Type"); strings.HasPrefix(kind, "application/json") && w.Body.Len() > 0 && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s answers %q, want JSON", address, w.Body)
		}
	})
}

// FuzzSocket sends any message over both sockets. The server answers it or closes the connection, and accepts the next
// connection.
func FuzzSocket(f *testing.F) {
	s, handler := newFuzzServer(f)
	logs := &syncBuffer{}
	web := httptest.NewUnstartedServer(handler)
	web.Config.ErrorLog = log.New(logs, "", 0)
	web.Start()
	f.Cleanup(web.Close)
	for _, acp := range []bool{false, true} {
		for _, m := range []string{`{"jsonrpc":"2.0","id":1,"method":"health","params":{}}`, `{"jsonrpc":"2.0","id":1,"method":"session.attach","params":{"session_id":"s"}}`,
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`, `{"jsonrpc":"2.0","method":"session/cancel"}`, `[]`, `{"a":`} {
			f.Add(acp, []byte(m))
		}
	}
	f.Fuzz(func(t *testing.T, acp bool, message []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		path, ping := "/v1/ws", `{"jsonrpc":"2.0","id":"ping","method":"health","params":{}}`
		if acp {
			path, ping = "/acp", `{"jsonrpc":"2.0","id":"ping","method":"initialize","params":{"protocolVersion":1}}`
		}
		conn, _, err := websocket.Dial(ctx, web.URL+path, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + s.Token()}}})
		if err != nil {
			t.Fatalf("connecting to %s: %v", path, err)
		}
		defer conn.CloseNow()
		for _, text := range []string{string(message), ping} {
			if err := conn.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
				break // the message has ended the connection
			}
		}
		for {
			_, data, err := conn.Read(ctx)
			if ctx.Err() != nil {
				t.Fatalf("%s: after %q there is no answer and no end", path, message)
			}
			if err != nil || strings.Contains(string(data), `"ping"`) {
				break
			}
		}
		if text := logs.String(); strings.Contains(text, "panic") {
			t.Fatalf("%s: after %q the server has\n%s", path, message, text)
		}
	})
}

// FuzzState starts a server with arbitrary state files. The server starts with the valid part or returns an error, and
// keeps a damaged file.
func FuzzState(f *testing.F) {
	f.Add([]byte(`[{"id":"t","hash":"x","role":"viewer"}]`), []byte(`{"hooks":[]}`), []byte("key"))
	f.Add([]byte(`null`), []byte(`[`), []byte{})
	f.Add([]byte{0}, []byte(`{"cursor":-1,"hooks":[{}],"subscriptions":[{"endpoint":"x"}]}`), []byte("\n"))
	f.Fuzz(func(t *testing.T, tokens, hooks, key []byte) {
		opts, _ := faultOptions(t)
		opts.Push = true
		if err := os.MkdirAll(opts.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{tokensName: tokens, webhooksName: hooks, pushKeyName: key}
		for name, data := range files {
			if err := os.WriteFile(filepath.Join(opts.Dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s, err := newServer(t.Context(), opts, newFaultStore())
		if err == nil {
			if _, err := s.tokens.check(s.Token(), ""); err != nil {
				t.Errorf("the token of the start: %v", err)
			}
			if _, err := s.tokens.check("", ""); err == nil {
				t.Error("an empty token is valid")
			}
			if err := s.Close(); err != nil {
				t.Errorf("closing the server: %v", err)
			}
		}
		for name, want := range files {
			found, _ := filepath.Glob(filepath.Join(opts.Dir, name+"*"))
			kept := false
			for _, path := range found {
				data, _ := os.ReadFile(path)
				kept = kept || string(data) == string(want) || json.Valid(want)
			}
			if !kept && name != pushKeyName {
				t.Errorf("of %s with %q the files %v are left, want the data", name, want, found)
			}
		}
	})
}
