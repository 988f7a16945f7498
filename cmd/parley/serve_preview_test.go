package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestServe_preview checks with the real CLI that a background server of the agent is found by its
// port and can be previewed.
func TestServe_preview(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("previews find the ports of an agent on Linux alone")
	}
	short.Skip(t, "node")
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	command := node + ` -e "require('http').createServer((q, s) => s.end('made by the agent, at ' + q.headers.host)).listen(0, '127.0.0.1')"`
	w := newClaudeWorld(t, claudetest.Replies(
		claudetest.Use("Bash", map[string]any{"command": command, "description": "Start the server", "run_in_background": true}), claudetest.Say("It runs.")))
	c, _ := w.serve(t)
	converse(t, c, "start it")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var list api.ListResult
	if err := c.Call(ctx, "session.list", api.ListParams{}, &list); err != nil || len(list.Sessions) != 1 {
		t.Fatalf("the sessions are %+v, %v", list, err)
	}
	session := list.Sessions[0].SessionID
	status, body := openPreview(ctx, t, c, session)("/")
	if status != http.StatusOK || !strings.HasPrefix(body, "made by the agent, at localhost:") {
		t.Errorf("the preview shows %d %s", status, body)
	}
}

// openPreview opens the preview of a session's node server. The returned function fetches a page of
// it.
func openPreview(ctx context.Context, t *testing.T, c *client.Client, session string) func(path string) (status int, body string) {
	t.Helper()
	port := nodePort(ctx, t, c, session)
	var opened api.PreviewOpenResult
	if err := c.Call(ctx, "preview.open", api.PreviewOpenParams{SessionID: session, Port: port.Port}, &opened); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(opened.URL)
	if err != nil || !strings.HasSuffix(u.Hostname(), ".localhost") {
		t.Fatalf("the address is %s, %v", opened.URL, err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, "127.0.0.1:"+u.Port()) // browsers resolve such names to loopback
	}}}
	get := func(address string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := browser.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
	get(opened.URL) // exchanges the code of the address for a cookie
	return func(path string) (int, string) {
		t.Helper()
		return get(u.Scheme + "://" + u.Host + path)
	}
}

// nodePort waits until a node process of the session listens, and returns its port.
func nodePort(ctx context.Context, t *testing.T, c *client.Client, session string) api.PreviewPort {
	t.Helper()
	var found api.PreviewListResult
	for {
		if err := c.Call(ctx, "preview.list", api.SessionRef{SessionID: session}, &found); err != nil {
			t.Fatal(err)
		}
		for _, p := range found.Ports {
			if strings.Contains(p.Process, "node") || strings.Contains(p.Process, "MainThread") { // the names of node processes
				return p
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the server was not found: %+v", found)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
