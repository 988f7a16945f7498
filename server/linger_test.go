package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

// TestBody_sentFirst checks that a client that sends all of a body before it reads gets the response that rejects it, at
// every address that takes a body and whether or not the length is known.
func TestBody_sentFirst(t *testing.T) {
	short.SkipQuick(t, "sends large bodies")
	h := newHarness(t)
	viewer, err := h.server.CreateToken("v", "viewer", 0)
	if err != nil {
		t.Fatal(err)
	}
	const size = 24 << 20
	for _, tt := range []struct {
		path, token string
		want        int
	}{
		{"/v1/login", "", http.StatusRequestEntityTooLarge}, {"/v1/pair", "", http.StatusRequestEntityTooLarge},
		{"/v1/session.list", "", http.StatusUnauthorized}, {"/v1/session.list", viewer, http.StatusRequestEntityTooLarge},
		{"/v1/session.query", viewer, http.StatusForbidden}, {"/v1/agui", viewer, http.StatusForbidden}, {"/v1/aisdk", "", http.StatusUnauthorized},
		{"/mcp", viewer, http.StatusRequestEntityTooLarge}, {"/acp", "", http.StatusUnauthorized}, {"/v1/none/such", "", http.StatusNotFound},
		{"/", "", http.StatusMethodNotAllowed},
	} {
		for name, length := range map[string]string{"known": fmt.Sprint("Content-Length: ", size), "chunked": "Transfer-Encoding: chunked"} {
			t.Run(strings.Trim(tt.path, "/")+" "+name, func(t *testing.T) {
				head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\nContent-Type: application/json\r\n%s\r\n", tt.path, strings.TrimPrefix(h.url, "http://"), h.url, length)
				if tt.token != "" {
					head += "Authorization: Bearer " + tt.token + "\r\n"
				}
				if name == "chunked" {
					head += fmt.Sprintf("\r\n%x", size)
				}
				resp := sentFirst(t, h.url, head+"\r\n", size)
				if resp.StatusCode != tt.want || !resp.Close {
					t.Errorf("status %d, connection closed %v; want %d, true", resp.StatusCode, resp.Close, tt.want)
				}
			})
		}
	}
}

// sentFirst sends a head and size bytes, and only then reads the response.
func sentFirst(t *testing.T, url, head string, size int64) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	if _, err := io.Copy(c, io.MultiReader(strings.NewReader(head), &padding{size})); err != nil {
		t.Fatalf("sending the body: %v", err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("reading the response: %v", err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err != nil {
		t.Fatalf("reading the response: %v", err)
	}
	return resp
}

// TestBody_smallRest checks that a rejected request with a small body keeps its connection.
func TestBody_smallRest(t *testing.T) {
	h := newHarness(t)
	for name, length := range map[string]string{"known": fmt.Sprintf("Content-Length: %d\r\n", smallBody), "chunked": "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"} {
		size := int64(smallBody)
		if name == "chunked" {
			size = 0
		}
		resp := sentFirst(t, h.url, fmt.Sprintf("POST /v1/session.list HTTP/1.1\r\nHost: %s\r\n%s\r\n", strings.TrimPrefix(h.url, "http://"), length), size)
		if resp.StatusCode != http.StatusUnauthorized || resp.Close {
			t.Errorf("%s: status %d, connection closed %v; want %d, false", name, resp.StatusCode, resp.Close, http.StatusUnauthorized)
		}
	}
}
