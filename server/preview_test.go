package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/preview"
)

// devVariable makes the test binary a development server that responds with the variable's value.
const devVariable = "PARLEY_TEST_DEV"

// runDevServer serves until its standard input ends.
func runDevServer() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.Exit(1)
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	go func() {
		_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/stream":
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
				return
			case "/socket":
				if c, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true}); err == nil {
					_, _, _ = c.Read(r.Context())
				}
				return
			case "/upload":
				_, _ = io.Copy(io.Discard, r.Body)
			}
			fmt.Fprintf(w, "%s at %s with %q", os.Getenv(devVariable), r.Host, r.Header.Get("Cookie"))
		}))
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// envProvider is a scripted agent that records its environments, in order.
type envProvider struct {
	*agenttest.Provider
	mu   sync.Mutex
	envs [][]string
}

func (p *envProvider) keep(opts agent.Options) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.envs = append(p.envs, slices.Clone(opts.Env))
}

func (p *envProvider) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	p.keep(opts)
	return p.Provider.Open(ctx, opts)
}

func (p *envProvider) Resume(ctx context.Context, id string, opts agent.Options) (agent.Session, error) {
	p.keep(opts)
	return p.Provider.Resume(ctx, id, opts)
}

// last returns the environment of the newest agent.
func (p *envProvider) last() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.envs) == 0 {
		return nil
	}
	return p.envs[len(p.envs)-1]
}

// develop starts a development server as a child of an agent would. It ends with stop or the test.
func develop(t *testing.T, env []string, says string) (port int64, stop func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(slices.Clone(env), devVariable+"="+says)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	t.Cleanup(stop)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return int64(n), stop
}

// previewWorld is a server with previews, and a browser that resolves every name to them.
type previewWorld struct {
	*harness
	agents  *envProvider
	browser *http.Client
	listens string // the address of the previews
}

func newPreviewWorld(t *testing.T, change ...func(*Options)) *previewWorld {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("previews find the ports of an agent on Linux alone")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	origins, err := preview.ParseOrigins(fmt.Sprintf("http://*.localhost:%d", l.Addr().(*net.TCPAddr).Port))
	if err != nil {
		t.Fatal(err)
	}
	w := &previewWorld{agents: &envProvider{Provider: &agenttest.Provider{}}}
	served := make(chan error, 1)
	t.Cleanup(func() { // after the server has stopped
		if err := <-served; err != nil {
			t.Errorf("serving previews: %v", err)
		}
	})
	w.harness = newHarness(t, func(o *Options) {
		o.Preview, o.Env, o.Providers = &origins, []string{"PATH=/usr/bin:/bin"}, []agent.Provider{w.agents}
		o.APIKey = "sk-ant-fake-key-for-a-test"
		for _, f := range change {
			f(o)
		}
	})
	w.listens = l.Addr().String()
	w.agents.Dir = w.provider.Dir
	go func() { served <- w.server.ServePreview(context.Background(), l) }()
	w.browser = &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", l.Addr().String())
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return w
}

// get fetches a page with a cookie and returns the status, the body and the received cookie.
func (w *previewWorld) get(address, cookie string) (int, string, string) {
	w.Helper()
	req, err := http.NewRequestWithContext(w.ctx(), http.MethodGet, address, nil)
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("Cookie", cookie)
	resp, err := w.browser.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.Fatal(err)
	}
	set, _, _ := strings.Cut(resp.Header.Get("Set-Cookie"), ";")
	return resp.StatusCode, string(body), set
}

// look opens a preview as the holder of a token and returns its origin and its cookie.
func (w *previewWorld) look(token, session string, port int64) (origin, cookie string) {
	w.Helper()
	var opened api.PreviewOpenResult
	if err := w.client(token).Call(w.ctx(), "preview.open", api.PreviewOpenParams{SessionID: session, Port: port}, &opened); err != nil {
		w.Fatal(err)
	}
	status, _, cookie := w.get(opened.URL, "")
	if status != http.StatusSeeOther {
		w.Fatalf("%s: %d; want status == http.StatusSeeOther", opened.URL, status)
	}
	return opened.URL[:strings.Index(opened.URL, "/.parley")], cookie
}

// TestPreview checks with real processes that the server of an agent is listed and shown to those
// who may run sessions, and that no other port of the machine can be reached.
func TestPreview(t *testing.T) {
	short.SkipQuick(t, "starts several servers")
	w := newPreviewWorld(t)
	one := w.connect()
	port, stop := develop(t, w.agents.last(), "one")
	two := w.connect()
	other, _ := develop(t, w.agents.last(), "two")
	var list api.PreviewListResult
	w.call("preview.list", api.SessionRef{SessionID: one}, &list)
	if !list.Enabled || len(list.Ports) != 1 || list.Ports[0].Port != port || list.Ports[0].PID == 0 || list.Ports[0].Process == "" {
		t.Fatalf("the ports of the first session are %+v, want %d", list, port)
	}
	var tk api.TokensCreateResult
	w.call("tokens.create", api.TokensCreateParams{Role: "operator"}, &tk)
	origin, cookie := w.look(tk.Token, one, port)
	if status, text, _ := w.get(origin+"/", cookie+"; "+w.server.filter.cookie+"=page"); status != 200 || text != fmt.Sprintf("one at localhost:%d with \"\"", port) {
		t.Errorf("the preview shows %d %s", status, text)
	}
	keys, err := strconv.Atoi(w.server.keys.URL()[strings.LastIndexByte(w.server.keys.URL(), ':')+1:])
	if err != nil {
		t.Fatal(err)
	}
	own, err := strconv.Atoi(w.url[strings.LastIndexByte(w.url, ':')+1:])
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]int64{"another session": other, "the server": int64(own), "the key proxy": int64(keys), "nothing": 1, "no port": 0, "no number": 1 << 40} {
		if err := w.client(w.token).Call(w.ctx(), "preview.open", api.PreviewOpenParams{SessionID: one, Port: p}, nil); client.Reason(err) != api.Conflict {
			t.Errorf("%s: %v; want client.Reason(err) == api.Conflict", name, err)
		}
	}
	w.refused(api.SessionExpired, "preview.list", api.SessionRef{SessionID: "none"})
	otherOrigin, _ := w.look(w.token, two, other)
	if status, _, _ := w.get(otherOrigin+"/", cookie); status != http.StatusForbidden || otherOrigin == origin {
		t.Errorf("the cookie of one preview opens another: %d", status)
	}
	w.testPreviewRoles(one, port)
	w.testPreviewOrigin(origin)
	stop()
	if status, _, _ := w.get(origin+"/", cookie); status != http.StatusBadGateway {
		t.Errorf("after the server's end: %d", status)
	}
	w.call("tokens.revoke", api.TokensRevokeParams{ID: tk.ID}, nil)
	if status, _, _ := w.get(origin+"/", cookie); status == http.StatusBadGateway || status < 400 {
		t.Errorf("after the token was revoked: %d", status)
	}
	w.call("session.delete", api.SessionDeleteParams{SessionID: two}, nil)
	if status, _, _ := w.get(otherOrigin+"/", cookie); status != http.StatusMisdirectedRequest {
		t.Errorf("after the session was deleted: %d", status)
	}
}

// testPreviewRoles checks that viewers have no access, and that opening leaves an audit row.
func (w *previewWorld) testPreviewRoles(session string, port int64) {
	w.Helper()
	var tk api.TokensCreateResult
	w.call("tokens.create", api.TokensCreateParams{Role: "viewer"}, &tk)
	var share api.ShareCreateResult
	w.call("share.create", api.ShareCreateParams{SessionID: session}, &share)
	for _, token := range []string{tk.Token, share.Token} {
		for _, method := range []string{"preview.list", "preview.open"} {
			if err := w.client(token).Call(w.ctx(), method, api.PreviewOpenParams{SessionID: session, Port: port}, nil); client.Reason(err) != api.AuthFailed {
				w.Errorf("%s as a viewer: %v", method, err)
			}
		}
	}
	var rows api.AuditListResult
	w.call("audit.list", api.AuditListParams{SessionID: session}, &rows)
	if !slices.ContainsFunc(rows.Rows, func(r api.AuditRow) bool {
		return r.Method == "preview.open" && r.Outcome == "ok" && string(r.Detail) == fmt.Sprintf(`{"port":%d}`, port)
	}) {
		w.Errorf("there is no audit row of the preview in %+v", rows.Rows)
	}
}

// testPreviewOrigin checks that a previewed page cannot call the API with the cookie of
// Parley's page.
func (w *previewWorld) testPreviewOrigin(origin string) {
	w.Helper()
	cookie, _, err := w.server.tokens.exchange(w.token, "")
	if err != nil {
		w.Fatal(err)
	}
	for name, test := range map[string]struct {
		header map[string]string
		method string
		path   string
		want   int
	}{
		"a call of the page":                {map[string]string{"Origin": w.url}, "POST", "/v1/session.list", 200},
		"a call of the preview":             {map[string]string{"Origin": origin}, "POST", "/v1/session.list", 403},
		"a form of the preview":             {map[string]string{"Origin": origin, "Content-Type": "text/plain"}, "POST", "/v1/session.list", 403},
		"without an origin":                 {nil, "POST", "/v1/session.list", 401},
		"a picture from the preview":        {map[string]string{"Sec-Fetch-Site": "same-site"}, "GET", "/v1/sessions/x/events?wait=0", 401},
		"a picture from another site":       {map[string]string{"Sec-Fetch-Site": "cross-site"}, "GET", "/v1/sessions/x/events?wait=0", 401},
		"an address that the page may read": {map[string]string{"Sec-Fetch-Site": "same-origin"}, "GET", "/v1/sessions/x/events?wait=0", 404},
		"a socket of the preview":           {map[string]string{"Origin": origin, "Connection": "Upgrade", "Upgrade": "websocket"}, "GET", "/v1/ws", 403},
	} {
		req, err := http.NewRequestWithContext(w.ctx(), test.method, w.url+test.path, strings.NewReader("{}"))
		if err != nil {
			w.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		for k, v := range test.header {
			req.Header.Set(k, v)
		}
		req.AddCookie(&http.Cookie{Name: w.server.filter.cookie, Value: cookie})
		if status, _, body := w.do(req); status != test.want {
			w.Errorf("%s: %d %s, want %d", name, status, body, test.want)
		}
	}
}

// TestGuard_cookies checks that a cookie of a neighbouring page neither blocks the page nor admits
// another.
func TestGuard_cookies(t *testing.T) {
	h := newHarness(t)
	good, _, err := h.server.tokens.exchange(h.token, "")
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := h.server.tokens.exchange(h.token, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		values []string
		ok     bool
	}{
		"one": {[]string{good}, true}, "the same twice": {[]string{good, good}, true}, "a wrong one first": {[]string{"x", "pt_1_2", good}, true},
		"two that are good": {[]string{good, again}, false}, "a token": {[]string{h.token}, false}, "none": {nil, false}, "wrong": {[]string{"x"}, false},
	} {
		r, err := http.NewRequest(http.MethodGet, h.url+"/v1/openapi.json", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range test.values {
			r.AddCookie(&http.Cookie{Name: h.server.filter.cookie, Value: v})
		}
		if _, err := h.server.filter.identify(h.server.tokens, r); (err == nil) != test.ok {
			t.Errorf("%s: %v; want (err == nil) == test.ok", name, err)
		}
	}
}

// TestPreview_off checks a server without previews.
func TestPreview_off(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	var list api.PreviewListResult
	h.call("preview.list", api.SessionRef{SessionID: id}, &list)
	if list.Enabled || len(list.Ports) != 0 {
		t.Errorf("the previews are %+v", list)
	}
	h.refused(api.Unsupported, "preview.open", api.PreviewOpenParams{SessionID: id, Port: 80})
	if err := h.server.ServePreview(h.ctx()); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("serving none: %v", err)
	}
}

// TestPreview_connections checks that the listener of previews has as many connections as the server takes, and refuses one more.
func TestPreview_connections(t *testing.T) {
	w := newPreviewWorld(t, func(o *Options) { o.MaxConnections = 2 })
	for n := range 3 {
		conn, err := net.Dial("tcp", w.listens)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if n < 2 {
			continue
		}
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: none\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(conn); !strings.Contains(string(got), " 503 ") {
			t.Errorf("connection %d is answered with %q, %v, want status 503", n+1, got, err)
		}
	}
}
