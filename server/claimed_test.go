package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// untouched is a body that must not be read.
type untouched struct {
	io.Reader
	read int
}

func (u *untouched) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	u.read += n
	return n, err
}

func (u *untouched) Close() error { return nil }

// TestBody_claimed checks that a body with a Content-Length above the limit is refused before any
// of it is read, at every address that takes one.
func TestBody_claimed(t *testing.T) {
	h := newHarness(t)
	viewer, err := h.server.CreateToken("v", "viewer", 0)
	if err != nil {
		t.Fatal(err)
	}
	most := h.server.opts.MaxBody
	for _, tt := range []struct {
		path, token string
		max         int64
	}{
		{"/v1/login", "", smallBody}, {"/v1/pair", "", smallBody}, {"/v1/session.list", viewer, smallBody}, {"/mcp", viewer, smallBody},
		{"/v1/session.list", h.token, most}, {"/v1/session.query", h.token, most}, {"/v1/agui", h.token, most}, {"/v1/aisdk", h.token, most}, {"/mcp", h.token, most},
	} {
		for _, size := range []int64{tt.max, tt.max + 1} {
			body := &untouched{Reader: strings.NewReader("{}")}
			r := httptest.NewRequest(http.MethodPost, h.url+tt.path, body)
			r.ContentLength = size
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			r.Header.Set("Origin", h.url)
			if tt.token != "" {
				r.Header.Set("Authorization", "Bearer "+tt.token)
			}
			w := httptest.NewRecorder()
			h.server.Handler().ServeHTTP(w, r)
			refused := w.Code == http.StatusRequestEntityTooLarge
			if refused != (size > tt.max) || refused != (body.read == 0) {
				t.Errorf("%s with a claim of %d bytes: status %d after %d bytes; want %d before the first one: %v", tt.path, size, w.Code, body.read, http.StatusRequestEntityTooLarge, size > tt.max)
			}
			if got := w.Header().Get("Connection"); refused && got != "close" {
				t.Errorf("%s: Connection is %q, want close: the body is still to come", tt.path, got)
			}
		}
	}
}
