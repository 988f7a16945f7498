package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// request returns a request that the server admits, as changed by the given function.
func (h *harness) request(change func(*http.Request)) *http.Request {
	h.Helper()
	req, err := http.NewRequestWithContext(h.ctx(), http.MethodPost, h.url+"/v1/health", strings.NewReader("{}"))
	if err != nil {
		h.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+h.token)
	change(req)
	return req
}

func TestRejectedRequests(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	expired, err := h.server.CreateToken("old", "admin", time.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	own := h.url
	for _, tt := range []struct {
		name   string
		change func(*http.Request)
		want   int
	}{
		{"as it should be", func(*http.Request) {}, 200},
		{"own origin", func(r *http.Request) { r.Header.Set("Origin", own) }, 200},
		{"charset", func(r *http.Request) { r.Header.Set("Content-Type", "application/json; charset=utf-8") }, 200},
		{"foreign origin", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403},
		{"own host with another port", func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }, 403},
		{"null origin", func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		{"empty origin", func(r *http.Request) { r.Header["Origin"] = []string{""} }, 403},
		{"two origins", func(r *http.Request) { r.Header["Origin"] = []string{own, "https://evil.example"} }, 403},
		{"rebinding host", func(r *http.Request) { r.Host = "evil.example" }, 403},
		{"rebinding host with its origin", func(r *http.Request) { r.Host = "evil.example:80"; r.Header.Set("Origin", "http://evil.example:80") }, 403},
		{"host that begins like ours", func(r *http.Request) { r.Host = "localhost.evil.example" }, 403},
		{"text/plain", func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415},
		{"form", func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") }, 415},
		{"no content type", func(r *http.Request) { r.Header.Del("Content-Type") }, 415},
		{"no token", func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		{"wrong token", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+h.token+"x") }, 401},
		{"another secret of the same id", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+h.token[:20]+strings.Repeat("A", 39)) }, 401},
		{"basic", func(r *http.Request) { r.SetBasicAuth("owner", h.token) }, 401},
		{"expired token", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+expired) }, 401},
		{"token in the query", func(r *http.Request) { r.URL.RawQuery = "token=" + h.token }, 400},
		{"token as a cookie", func(r *http.Request) {
			r.Header.Del("Authorization")
			r.AddCookie(&http.Cookie{Name: h.server.filter.cookie, Value: h.token})
			r.Header.Set("Origin", own)
		}, 401},
		{"GET of a method", func(r *http.Request) { r.Method = http.MethodGet }, 404},
	} {
		if status, _, body := h.do(h.request(tt.change)); status != tt.want {
			t.Errorf("%s: status %d, want %d: %s", tt.name, status, tt.want, body)
		}
	}
	patterns := []string{"GET /v1/ws"}
	for _, rt := range routes() {
		patterns = append(patterns, strings.ReplaceAll(rt.pattern, "{id}", id))
	}
	for _, pattern := range patterns {
		method, path, ok := strings.Cut(pattern, " ")
		if !ok {
			method, path = http.MethodPost, pattern
		}
		for name, change := range map[string]func(*http.Request){
			"no token":       func(r *http.Request) { r.Header.Del("Authorization") },
			"foreign origin": func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
			"rebinding":      func(r *http.Request) { r.Host = "evil.example" },
			"in the query":   func(r *http.Request) { r.URL.RawQuery = "access_token=" + h.token },
		} {
			req := h.request(func(r *http.Request) {
				r.Method, r.Body, r.ContentLength, r.URL.Path = method, nil, 0, path
				change(r)
			})
			if status, _, _ := h.do(req); status < 400 || status > 403 {
				t.Errorf("%s with %s: status %d", pattern, name, status)
			}
		}
	}
}

func TestRoles(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	w := h.watch(id)
	h.query(id, "tool Bash")
	w.state(session.RequiresAction)
	request := h.history(id).Prompts[0].RequestID()
	token := func(role string) string {
		value, err := h.server.CreateToken(role, role, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	viewer, operator := h.client(token("viewer")), h.client(token("operator"))
	if err := viewer.Call(h.ctx(), "session.getHistory", api.SessionRef{SessionID: id}, nil); err != nil {
		t.Errorf("a viewer cannot look: %v", err)
	}
	for method, params := range map[string]any{
		"session.query": api.QueryParams{SessionID: id, Text: "x"}, "session.connect": api.ConnectParams{}, "session.interrupt": api.SessionRef{SessionID: id},
		"permission.respond": api.PermissionRespondParams{SessionID: id, RequestID: request, Behavior: "allow"}, "tokens.create": api.TokensCreateParams{Role: "admin"},
		"files.read": api.FilesReadParams{SessionID: id, Path: "a"}, "session.delete": api.SessionDeleteParams{SessionID: id}, "audit.list": api.Empty{},
	} {
		if got := client.Reason(viewer.Call(h.ctx(), method, params, nil)); got != api.AuthFailed {
			t.Errorf("a viewer calls %s: reason %q", method, got)
		}
	}
	for _, method := range []string{"tokens.create", "tokens.list", "audit.list", "server.drain"} {
		if got := client.Reason(operator.Call(h.ctx(), method, api.Empty{}, nil)); got != api.AuthFailed {
			t.Errorf("an operator calls %s: reason %q", method, got)
		}
	}
	if err := operator.Call(h.ctx(), "permission.respond", api.PermissionRespondParams{SessionID: id, RequestID: request, Behavior: "deny"}, nil); err != nil {
		t.Errorf("an operator cannot answer: %v", err)
	}
	var audit api.AuditListResult
	h.call("audit.list", api.AuditListParams{SessionID: id}, &audit)
	found := map[string]bool{}
	for _, row := range audit.Rows {
		found[row.Method+" "+row.By+" "+row.Outcome] = true
	}
	for _, want := range []string{"permission.respond operator ok", "permission.respond viewer auth_failed"} {
		if !found[want] {
			t.Errorf("the audit log lacks %q: %+v", want, audit.Rows)
		}
	}
}

func TestShare(t *testing.T) {
	h := newHarness(t)
	mine, other := h.connect(), h.connect()
	var share api.ShareCreateResult
	h.call("share.create", api.ShareCreateParams{SessionID: mine}, &share)
	if !strings.Contains(share.URL, "#token=") || share.ExpiresAt == "" {
		t.Errorf("the link is %+v", share)
	}
	guest := h.client(share.Token)
	if err := guest.Call(h.ctx(), "session.getHistory", api.SessionRef{SessionID: mine}, nil); err != nil {
		t.Errorf("the holder of a link cannot look: %v", err)
	}
	var list api.ListResult
	if err := guest.Call(h.ctx(), "session.list", api.ListParams{}, &list); err != nil || len(list.Sessions) != 1 {
		t.Errorf("the holder of a link sees %+v, %v", list, err)
	}
	for method, params := range map[string]any{
		"session.getHistory": api.SessionRef{SessionID: other}, "session.attach": api.SessionRef{SessionID: other}, "session.query": api.QueryParams{SessionID: mine, Text: "x"},
		"permission.list": api.Empty{}, "history.list": api.Empty{}, "settings.get": api.Empty{}, "providers.list": api.Empty{},
	} {
		if got := client.Reason(guest.Call(h.ctx(), method, params, nil)); got != api.AuthFailed {
			t.Errorf("the holder of a link calls %s: reason %q", method, got)
		}
	}
	w := h.dial(share.Token)
	if _, e := w.call("session.attach", api.AttachParams{SessionID: other}); e == nil || e.Data.Reason != api.AuthFailed {
		t.Errorf("over a socket the link opens another session: %+v", e)
	}
	if _, e := w.call("hello", api.HelloParams{Resume: []api.ResumeCursor{{SessionID: other}}}); e != nil {
		t.Errorf("hello: %+v", e)
	}
	if _, e := w.call("session.attach", api.AttachParams{SessionID: mine}); e != nil {
		t.Errorf("attach: %+v", e)
	}
	req := h.request(func(r *http.Request) {
		r.Method, r.Body, r.ContentLength, r.URL.Path = http.MethodGet, nil, 0, "/v1/sessions/"+other+"/events"
		r.Header.Set("Authorization", "Bearer "+share.Token)
	})
	if status, _, _ := h.do(req); status != http.StatusForbidden {
		t.Errorf("the events of another session: status %d", status)
	}
	h.call("share.revoke", api.ShareRevokeParams{ID: share.ID}, nil)
	if got := client.Reason(guest.Call(h.ctx(), "health", api.Empty{}, nil)); got != api.AuthFailed {
		t.Errorf("a revoked link: reason %q", got)
	}
}

func TestCookie(t *testing.T) {
	h := newHarness(t)
	login := func(token, origin string) (int, []*http.Cookie) {
		req := h.request(func(r *http.Request) {
			r.URL.Path = "/v1/login"
			r.Header.Del("Authorization")
			r.Header.Set("Origin", origin)
			r.Body = io.NopCloser(strings.NewReader(fmt.Sprintf(`{"token":%q}`, token)))
			r.ContentLength = -1
		})
		status, header, _ := h.do(req)
		return status, (&http.Response{Header: header}).Cookies()
	}
	if status, _ := login("pt_x_y", h.url); status != http.StatusUnauthorized {
		t.Errorf("a wrong token: status %d", status)
	}
	if status, _ := login(h.token, "https://evil.example"); status != http.StatusForbidden {
		t.Errorf("a foreign page: status %d", status)
	}
	token, err := h.server.CreateToken("page", "operator", 0)
	if err != nil {
		t.Fatal(err)
	}
	status, cookies := login(token, h.url)
	if status != http.StatusOK || len(cookies) != 1 {
		t.Fatalf("login: status %d, cookies %v", status, cookies)
	}
	c := cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Value == token {
		t.Errorf("the cookie is %+v", c)
	}
	with := func(change func(*http.Request)) int {
		status, _, _ := h.do(h.request(func(r *http.Request) {
			r.Header.Del("Authorization")
			r.AddCookie(c)
			r.Header.Set("Origin", h.url)
			change(r)
		}))
		return status
	}
	if got := with(func(*http.Request) {}); got != http.StatusOK {
		t.Errorf("a page of the server: status %d", got)
	}
	if got := with(func(r *http.Request) { r.Header.Del("Origin") }); got != http.StatusUnauthorized {
		t.Errorf("a cookie without an origin: status %d", got)
	}
	if got := with(func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }); got != http.StatusUnauthorized {
		t.Errorf("a cookie from another site: status %d", got)
	}
	h.restart()
	if got := with(func(r *http.Request) {
		r.URL.Host = strings.TrimPrefix(h.url, "http://")
		r.Host = ""
		r.Header.Set("Origin", h.url)
	}); got != http.StatusOK {
		t.Errorf("after a restart: status %d", got)
	}
	if got := with(func(r *http.Request) { r.URL.Path = "/v1/logout" }); got != http.StatusOK {
		t.Errorf("logout: status %d", got)
	}
	if got := with(func(*http.Request) {}); got != http.StatusUnauthorized {
		t.Errorf("after logout: status %d", got)
	}
}

func TestFiles_jail(t *testing.T) {
	h := newHarness(t)
	work := filepath.Join(h.dir, "work")
	writeFile(t, filepath.Join(work, "in.txt"), "one\ntwo\nthree\n")
	writeFile(t, filepath.Join(h.dir, "secret.txt"), "secret")
	for link, target := range map[string]string{"link": "../secret.txt", "abs": filepath.Join(h.dir, "secret.txt"), "dir": "..", "ok": "in.txt"} {
		if err := os.Symlink(target, filepath.Join(work, link)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	id := h.connect()
	for _, path := range []string{"../secret.txt", "link", "abs", "dir/secret.txt", "/etc/passwd", filepath.Join(h.dir, "secret.txt"), "a/../../secret.txt", "..", "dir"} {
		var r api.FilesReadResult
		err := h.client(h.token).Call(h.ctx(), "files.read", api.FilesReadParams{SessionID: id, Path: path}, &r)
		if err == nil || strings.Contains(r.Text, "secret") {
			t.Errorf("files.read of %q: %q, %v", path, r.Text, err)
		}
	}
	for _, path := range []string{"in.txt", "ok", filepath.Join(work, "in.txt")} {
		var r api.FilesReadResult
		h.call("files.read", api.FilesReadParams{SessionID: id, Path: path, Range: &api.LineRange{Start: 2, End: 3}}, &r)
		if r.Text != "two\nthree\n" {
			t.Errorf("files.read of %q: %q", path, r.Text)
		}
	}
	var found api.FilesSearchResult
	h.call("files.search", api.FilesSearchParams{SessionID: id, Query: "t"}, &found)
	for _, f := range found.Files {
		if strings.Contains(f.Path, "secret") {
			t.Errorf("files.search found %q", f.Path)
		}
	}
	for _, dir := range []string{h.dir, "/", "/etc", work + "/../server", work + "/dir", "relative", filepath.Join(h.dir, "work-not")} {
		if got := client.Reason(h.client(h.token).Call(h.ctx(), "session.connect", api.ConnectParams{CWD: dir}, nil)); got != api.AuthFailed && got != api.InvalidParams {
			t.Errorf("a session in %q: reason %q", dir, got)
		}
	}
	if got := client.Reason(h.client(h.token).Call(h.ctx(), "session.connect", api.ConnectParams{AdditionalDirectories: []string{h.dir}}, nil)); got != api.AuthFailed {
		t.Errorf("an additional directory: reason %q", got)
	}
	for _, upload := range []string{"../../tokens.json", "..", "x/y", ""} {
		content := event.Encoded(map[string]any{"type": "image", "source": map[string]string{"type": "upload", "id": upload}})
		h.refused(api.InvalidParams, "session.queryWithContent", api.QueryWithContentParams{SessionID: id, Content: []event.JSON{content}})
	}
}

func TestBody_tooLarge(t *testing.T) {
	h := newHarness(t, func(o *Options) { o.MaxBody = 1 << 20 })
	id := h.connect()
	req := h.request(func(r *http.Request) {
		r.Body = io.NopCloser(io.LimitReader(zeros{}, 100<<20))
		r.ContentLength = 100 << 20
	})
	resp, err := http.DefaultClient.Do(req)
	if err == nil { // or the server closed the connection during the request
		resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("a body of 100 MB: status %d", resp.StatusCode)
		}
	}
	w := h.dial(h.token)
	big, _ := json.Marshal(api.QueryParams{SessionID: id, Text: strings.Repeat("x", 2<<20)})
	_ = w.conn.Write(context.Background(), websocket.MessageText, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"session.query","params":%s}`, big))
	if _, _, err := w.conn.Read(h.ctx()); websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
		t.Errorf("a message of 2 MB: %v", err)
	}
	if q := prompts(h.history(id)); len(q) != 0 {
		t.Error("it was taken")
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return copy(p, bytes.Repeat([]byte{' '}, len(p))), nil }

// TestIdleSockets opens many silent sockets: those beyond the limit are rejected with a reason,
// existing ones stay, and memory is limited. PARLEY_SOAK=1 makes it 10,000.
func TestIdleSockets(t *testing.T) {
	const most = 10 + 64 // of the listener: a few requests in addition to the streams
	sockets := short.Count(200, 1000, 10_000)
	h := newHarness(t, func(o *Options) { o.MaxConnections, o.HeaderTimeout = most-64, 10*wait })
	w := h.dial(h.token)
	before := heapInUse()
	var refused atomic.Int32
	var wg sync.WaitGroup
	var conns []net.Conn
	enough := make(chan struct{})
	for range sockets {
		c, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
		if err != nil {
			t.Fatalf("socket %d: %v", len(conns), err)
		}
		conns = append(conns, c)
		wg.Go(func() {
			answer, _ := io.ReadAll(c)
			if bytes.HasPrefix(answer, []byte("HTTP/1.1 503 ")) && bytes.Contains(answer, []byte(`"reason":"limit_reached"`)) && int(refused.Add(1)) == sockets+1-most {
				close(enough)
			}
		})
	}
	select {
	case <-enough:
	case <-time.After(wait):
		t.Errorf("of %d sockets %d were refused, want %d", sockets, refused.Load(), sockets+1-most)
	}
	if _, e := w.call("health", api.Empty{}); e != nil {
		t.Errorf("who was in is out: %+v", e)
	}
	if grown := int64(heapInUse()) - int64(before); grown > 64<<20 {
		t.Errorf("the sockets take %d MB", grown>>20)
	}
	for _, c := range conns {
		_ = c.Close()
	}
	wg.Wait()
	if n := refused.Load(); int(n) != sockets+1-most {
		t.Errorf("%d sockets were refused, want %d", n, sockets+1-most)
	}
}

func heapInUse() uint64 {
	runtime.GC()
	runtime.GC() // the second run frees pooled memory
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestSlowLoris sends a part of a header: the server closes the connection after its timeout.
func TestSlowLoris(t *testing.T) {
	h := newHarness(t, func(o *Options) { o.HeaderTimeout = 300 * time.Millisecond })
	c, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "POST /v1/health HTTP/1.1\r\nHost: localhost\r\n")
	_ = c.SetReadDeadline(time.Now().Add(wait))
	if data, err := io.ReadAll(c); err != nil {
		t.Errorf("the socket stays open (%v, %q)", err, data)
	}
	if o, err := (Options{}).withDefaults(); err != nil || o.HeaderTimeout != 10*time.Second {
		t.Errorf("the bound is %v, %v", o.HeaderTimeout, err)
	}
}

// TestHostileOutput checks that a model's text is data on every path, and that no response is
// served as a page.
func TestHostileOutput(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	w := h.watch(id)
	hostile := "say </script><script>alert(1)</script>\ndata: {\"forged\":true}\n\nevent: resync\n\x00\x1b]0;x\x07\u2028"
	h.query(id, hostile)
	w.results(1)
	w.awaitAnswer(strings.TrimPrefix(hostile, "say "))
	req, _ := http.NewRequestWithContext(h.ctx(), http.MethodGet, h.url+"/", nil)
	_, header, _ := h.do(req)
	csp := header.Get("Content-Security-Policy")
	if !strings.Contains(csp, "script-src 'self'") || strings.Contains(csp, "unsafe") || header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("the headers of the page are %v", header)
	}
	var hist api.GetHistoryResult
	h.call("session.getHistory", api.SessionRef{SessionID: id}, &hist)
	for _, line := range h.viaSSE(id, api.Cursor{Epoch: hist.Cursor.Epoch}, hist.Cursor.Seq) {
		if !json.Valid([]byte(line)) || strings.HasPrefix(line, `{"forged"`) {
			t.Errorf("a line of the stream is %s", line)
		}
	}
}

func TestLogs_noSecrets(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	w := h.watch(id)
	h.query(id, "say the password is hunter2")
	w.results(1)
	h.do(h.request(func(r *http.Request) { r.Header.Set("Authorization", "Bearer pt_wrong_token1234") }))
	h.do(h.request(func(r *http.Request) { r.URL.RawQuery = "token=" + h.token }))
	if logs := h.logs.String(); strings.Contains(logs, h.token) || strings.Contains(logs, "hunter2") || strings.Contains(logs, "token1234") {
		t.Errorf("the log has a secret:\n%s", logs)
	}
	for name, mode := range map[string]os.FileMode{"": 0o700, "tokens.json": 0o600} {
		if _, err := h.server.CreateToken("x", "viewer", time.Hour); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(h.opts.Dir, name))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s has mode %v, %v", name, info.Mode(), err)
		}
	}
	data, err := os.ReadFile(filepath.Join(h.opts.Dir, "tokens.json"))
	if err != nil || strings.Contains(string(data), "pt_") {
		t.Errorf("the file of the tokens has a secret: %s, %v", data, err)
	}
}

func TestAllowedHosts(t *testing.T) {
	h := newHarness(t, func(o *Options) {
		o.AllowedHosts, o.AllowedOrigins, o.TrustedProxies = []string{"parley.example"}, []string{"https://app.example"}, []string{"127.0.0.0/8"}
	})
	for _, tt := range []struct {
		host, origin string
		want         int
	}{{"parley.example", "", 200}, {"parley.example:443", "https://parley.example:443", 200}, {"parley.example", "https://app.example", 200}, {"other.example", "", 403}, {"parley.example", "http://app.example", 403}} {
		status, _, body := h.do(h.request(func(r *http.Request) {
			r.Host = tt.host
			if tt.origin != "" {
				r.Header.Set("Origin", tt.origin)
			}
		}))
		if status != tt.want {
			t.Errorf("host %s, origin %s: status %d, want %d: %s", tt.host, tt.origin, status, tt.want, body)
		}
	}
}

func TestHealthEndpoints(t *testing.T) {
	h := newHarness(t)
	get := func(path string) int {
		req, _ := http.NewRequestWithContext(h.ctx(), http.MethodGet, h.url+path, nil)
		status, _, _ := h.do(req)
		return status
	}
	if get("/livez") != 200 || get("/readyz") != 200 {
		t.Errorf("livez %d, readyz %d", get("/livez"), get("/readyz"))
	}
	h.server.sessions.Refuse()
	if get("/livez") != 200 || get("/readyz") != 503 {
		t.Errorf("while draining: livez %d, readyz %d", get("/livez"), get("/readyz"))
	}
	h.refused2(api.Draining, "session.connect", api.ConnectParams{})
}

// refused2 is like refused, but for a reason after which a client would normally retry.
func (h *harness) refused2(want api.Reason, method string, params any) {
	h.Helper()
	if _, e := h.post(method, params); e == nil || e.Data.Reason != want {
		h.Errorf("%s: %+v, want reason %s", method, e, want)
	}
}
