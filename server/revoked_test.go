package server

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/host/join"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// revocable is a kind of connection that is in use.
type revocable struct {
	route   string // the name of its route, if it has one
	line    string // method and path
	header  string // more lines
	body    string // the part of the body that is sent
	half    bool   // the request announces a longer body
	begins  int    // the status of a response that begins before the end
	ends    int    // the status of a later response; 0 means any
	linked  bool   // the holder of a link to the session may open it
	machine bool   // a machine opens it
	place   bool   // it uses a connection slot
	starts  bool   // it starts a session
	preview bool   // it is a connection to a preview
}

const (
	asJSON  = "Content-Type: application/json\r\n"
	upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)

// revocables returns all kinds of connections, for a session with a turn that does not end.
func (w *previewWorld) revocables(id string) map[string]revocable {
	w.Helper()
	cursor := w.cursor(id)
	place, _, _ := strings.Cut(cursor, ".")
	events := "GET /v1/sessions/" + id + "/events"
	run := fmt.Sprintf(`{"threadId":%q,"forwardedProps":{"after":%q}}`, id, place)
	start := `{"threadId":"new","forwardedProps":{"session":{"provider":"slow"}},"messages":[{"id":"m","role":"user","content":"say x"}]}`
	tool := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"session_wait","arguments":{"session_id":%q,"seconds":600}}}`, id)
	both := asJSON + "Accept: application/json, text/event-stream\r\n"
	protocol := "Sec-WebSocket-Protocol: " + join.Subprotocol + "\r\n"
	const refused, switching = http.StatusUnauthorized, http.StatusSwitchingProtocols
	return map[string]revocable{
		"a call":                 {line: "POST /v1/session.connect", header: asJSON, body: `{"provider":"slow"}`, ends: refused, starts: true},
		"half of a call":         {line: "POST /v1/session.list", header: asJSON, body: `{`, half: true, ends: refused},
		"a socket":               {line: "GET /v1/ws", header: upgrade, begins: switching, linked: true, place: true},
		"a stream":               {route: "session.attach", line: events, begins: http.StatusOK, linked: true, place: true},
		"a poll":                 {route: "session.attach", line: events + "?wait=60&after=" + cursor, ends: refused, linked: true, place: true},
		"a run":                  {route: "agui", line: "POST /v1/agui", header: asJSON, body: run, begins: http.StatusOK, place: true},
		"the start of a run":     {route: "agui", line: "POST /v1/agui", header: asJSON, body: start, ends: refused, place: true, starts: true},
		"half of a run":          {route: "agui", line: "POST /v1/agui", header: asJSON, body: `{`, half: true, ends: refused},
		"half of a chat":         {route: "aisdk", line: "POST /v1/aisdk", header: asJSON, body: `{`, half: true, ends: refused},
		"a resumed chat":         {route: "aisdk.stream", line: "GET /v1/aisdk/" + id + "/stream", begins: http.StatusOK, linked: true, place: true},
		"a tool of MCP":          {route: "mcp", line: "POST /mcp", header: both, body: tool, place: true},
		"half of a tool of MCP":  {route: "mcp", line: "POST /mcp", header: both, body: `{`, half: true, ends: refused, place: true},
		"a socket of ACP":        {route: "acp", line: "GET /acp", header: upgrade, begins: switching, place: true},
		"half of a call of ACP":  {route: "acp", line: "POST /acp", header: asJSON, body: `{`, half: true, ends: refused},
		"a machine":              {route: "host.join", line: "GET " + join.Path, header: upgrade + protocol, begins: switching, machine: true, place: true},
		"a stream of a preview":  {line: "GET /stream", begins: http.StatusOK, preview: true},
		"a socket of a preview":  {line: "GET /socket", header: upgrade, begins: switching, preview: true},
		"an upload to a preview": {line: "POST /upload", body: "x", half: true, preview: true},
	}
}

// holder is a caller in a test of revocation.
type holder struct {
	t               *testing.T
	w               *previewWorld
	id, machineID   string // ids of the tokens
	header, machine string // the credentials, as lines of a header
	preview, origin string // of the preview: the cookie as a line, and the host
}

// open sends the request of a connection, and reads the status of a response that begins at once.
func (c *holder) open(name string, r revocable) *bufio.Reader {
	c.t.Helper()
	addr, host, credential := strings.TrimPrefix(c.w.url, "http://"), "", c.header
	switch host = addr; {
	case r.machine:
		credential = c.machine
	case r.preview:
		addr, host, credential = c.w.listens, c.origin, c.preview
	}
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(wait)); err != nil {
		c.t.Fatal(err)
	}
	if !strings.Contains(r.header, "Connection:") {
		credential += "Connection: close\r\n"
	}
	length := len(r.body)
	if r.half {
		length += 10
	}
	if _, err := fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: %s\r\n%s%sContent-Length: %d\r\n\r\n%s", r.line, host, credential, r.header, length, r.body); err != nil {
		c.t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	if r.begins != 0 {
		if got := status(in); got != r.begins {
			c.t.Fatalf("%s begins with the status %d, want %d", name, got, r.begins)
		}
	}
	return in
}

// status reads the status line of a response; 0 means no response.
func status(in *bufio.Reader) (code int) {
	line, _ := in.ReadString('\n')
	_, _ = fmt.Sscanf(line, "HTTP/1.1 %d", &code)
	return code
}

// newHolder creates the credentials of a caller: a token, its cookie, or a link to a session.
func (w *previewWorld) newHolder(t *testing.T, session string, port int64, kind string) *holder {
	t.Helper()
	c := &holder{t: t, w: w}
	make := func(tk token) (id, value string) {
		t.Helper()
		tk, value, err := w.server.tokens.create(tk, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return tk.ID, value
	}
	id, value := make(token{Role: "host"})
	c.machineID, c.machine = id, "Authorization: Bearer "+value+"\r\n"
	tk := token{Role: "operator"}
	if kind == "link" {
		tk = token{Role: "viewer", Session: session}
	}
	c.id, value = make(tk)
	c.header = "Authorization: Bearer " + value + "\r\n"
	if kind == "cookie" {
		cookie, _, err := w.server.tokens.exchange(value, "")
		if err != nil {
			t.Fatal(err)
		}
		c.header = fmt.Sprintf("Cookie: %s=%s\r\nOrigin: %s\r\n", w.server.filter.cookie, cookie, w.url)
	}
	if kind == "link" {
		return c
	}
	var opened api.PreviewOpenResult
	body := fmt.Sprintf(`{"session_id":%q,"port":%d}`, session, port)
	in := c.open("", revocable{line: "POST /v1/preview.open", header: asJSON, body: body})
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&opened); err != nil {
		t.Fatal(err)
	}
	code, _, cookie := w.get(opened.URL, "")
	if code != http.StatusSeeOther {
		t.Fatalf("%s: %d, want a cookie", opened.URL, code)
	}
	c.origin, _, _ = strings.Cut(strings.TrimPrefix(opened.URL, "http://"), "/")
	c.preview = "Cookie: " + cookie + "\r\nOrigin: http://" + c.origin + "\r\n"
	return c
}

// TestRevoked_all checks that each kind of open connection ends with the credential of its caller, and that no new one begins. Each route is in
// the table.
func TestRevoked_all(t *testing.T) {
	short.SkipQuick(t, "calls every method")
	const hour = time.Hour // no other limit ends a connection
	// Each caller has its own server, so that the connection counts are independent.
	begin := func(t *testing.T) (w *previewWorld, id string, port int64) {
		w = newPreviewWorld(t, func(o *Options) {
			o.Providers = append(o.Providers, &agenttest.Provider{ProviderName: "slow", OpenDelay: hour})
			o.WriteTimeout, o.Heartbeat, o.DrainTimeout = hour, hour, 10*time.Millisecond
		})
		id = w.connect()
		port, _ = develop(t, w.agents.last(), "one")
		w.query(id, "wait")
		w.watch(id).state(session.Running)
		return w, id, port
	}
	w, id, _ := begin(t)
	covered := map[string]bool{"metrics": true /* answered at once */, "backup": true /* in TestRevoked_stalled */}
	for _, r := range w.revocables(id) {
		covered[r.route] = true
	}
	for _, rt := range routes() {
		if !covered[rt.name] {
			t.Errorf("no connection of the table is of the route %s", rt.name)
		}
	}
	revoke := func(c *holder) {
		for _, id := range []string{c.id, c.machineID} {
			c.w.call("tokens.revoke", api.TokensRevokeParams{ID: id}, nil)
		}
	}
	expire := func(c *holder) {
		all := c.w.server.tokens
		all.mu.Lock()
		defer all.mu.Unlock()
		for _, id := range []string{c.id, c.machineID} {
			all.all[all.place[id]].Expires = all.now().Add(20 * time.Millisecond)
		}
		all.await()
	}
	for name, tt := range map[string]struct {
		kind string
		end  func(*holder)
	}{
		"a token, revoked":            {"token", revoke},
		"a token, expired":            {"token", expire},
		"a cookie, its token revoked": {"cookie", revoke},
		"a cookie, its token expired": {"cookie", expire},
		"a cookie, after a logout": {"cookie", func(c *holder) {
			if got := status(c.open("", revocable{line: "POST /v1/logout", header: asJSON})); got != http.StatusOK {
				c.t.Errorf("the logout has the status %d, want 200", got)
			}
		}},
		"a link, revoked": {"link", func(c *holder) { c.w.call("share.revoke", api.ShareRevokeParams{ID: c.id}, nil) }},
	} {
		t.Run(name, func(t *testing.T) {
			w, id, port := begin(t)
			w.newHolder(t, id, port, tt.kind).testEnd(w.revocables(id), tt.kind, tt.end)
		})
	}
}

// testEnd opens all connections that the holder may have, and ends its credentials.
func (c *holder) testEnd(kinds map[string]revocable, kind string, end func(*holder)) {
	conns := map[string]*bufio.Reader{}
	places, starts := len(c.w.server.conns), c.w.slow()
	for name, r := range kinds {
		if kind == "link" && !r.linked || kind == "cookie" && r.machine {
			continue
		}
		conns[name] = c.open(name, r)
		if r.place {
			places++
		}
		if r.starts {
			starts++
		}
	}
	eventually(c.t, "the server is in the middle of all", func() bool { return len(c.w.server.conns) >= places && c.w.slow() >= starts })
	began := time.Now()
	end(c)
	var wg sync.WaitGroup
	for name, in := range conns {
		wg.Go(func() {
			rest, err := io.ReadAll(in)
			// At the earliest, other limits end a connection after five seconds.
			if took := time.Since(began); err != nil || took >= lingerTime {
				c.t.Errorf("%s ends after %v with %v, want an end at once", name, took, err)
			}
			if r := kinds[name]; r.ends != 0 && !strings.HasPrefix(string(rest), fmt.Sprintf("HTTP/1.1 %d ", r.ends)) {
				c.t.Errorf("%s ends with %.200q, want the status %d", name, rest, r.ends)
			}
		})
	}
	wg.Wait()
	for name := range conns {
		r := kinds[name]
		r.begins = 0
		if got := status(c.open(name, r)); got != http.StatusUnauthorized && got != http.StatusTooManyRequests && !(r.preview && (got == http.StatusForbidden || got == http.StatusMisdirectedRequest)) {
			c.t.Errorf("%s has the status %d afterwards, want a refusal", name, got)
		}
	}
}

// slow returns the number of sessions with an agent that starts slowly.
func (w *previewWorld) slow() (n int) {
	w.Helper()
	var list api.ListResult
	w.call("session.list", api.ListParams{}, &list)
	for _, s := range list.Sessions {
		if s.Provider == "slow" {
			n++
		}
	}
	return n
}
