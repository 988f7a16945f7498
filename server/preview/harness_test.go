package preview_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/seed7221b0f9/parley/server/preview"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wait is the timeout of tests for expected events.
const wait = time.Minute

// seen is a request at the previewed server.
type seen struct {
	Host, Path, Body string
	Header           http.Header
}

// world is a proxy on a loopback port with a development server.
type world struct {
	*testing.T
	proxy  *preview.Proxy
	front  *httptest.Server
	dev    *httptest.Server
	client *http.Client

	mu      sync.Mutex
	now     time.Time
	owned   bool            // the port belongs to the session
	refused map[string]bool // holders
}

func newWorld(t *testing.T, origins string, change ...func(*preview.Options)) *world {
	t.Helper()
	w := &world{T: t, now: time.Now(), owned: true, refused: map[string]bool{}}
	w.dev = httptest.NewServer(http.HandlerFunc(w.develop))
	o, err := preview.ParseOrigins(origins)
	if err != nil {
		t.Fatal(err)
	}
	opts := preview.Options{Origins: o, Dial: w.dial, Now: w.clock, Allowed: func(holder, _ string) bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return !w.refused[holder]
	}}
	for _, f := range change {
		f(&opts)
	}
	w.proxy = preview.New(opts)
	w.front = httptest.NewServer(w.proxy)
	front := w.front.Listener.Addr().String()
	w.client = &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", front) // every name leads here
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(func() {
		w.proxy.Close()
		w.front.Close()
		w.dev.Close()
	})
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

func (w *world) dial(ctx context.Context, _ string, _ int) (net.Conn, error) {
	w.mu.Lock()
	owned := w.owned
	w.mu.Unlock()
	if !owned {
		return nil, errors.New("the port is not the session's")
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", w.dev.Listener.Addr().String())
}

// develop is the development server.
func (w *world) develop(rw http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/socket":
		c, err := websocket.Accept(rw, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
		if err != nil {
			return
		}
		defer c.CloseNow()
		for {
			kind, data, err := c.Read(context.Background())
			if err != nil || c.Write(context.Background(), kind, append([]byte("echo "), data...)) != nil {
				return
			}
		}
	case "/stream":
		rw.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(rw, "data: first\n\n")
		_ = http.NewResponseController(rw).Flush()
		<-r.Context().Done()
	case "/away":
		http.Redirect(rw, r, r.URL.Query().Get("to"), http.StatusFound)
	case "/hostile":
		for name, value := range map[string]string{"Strict-Transport-Security": "max-age=1", "Clear-Site-Data": `"*"`, "Alt-Svc": "h3=\":1\"", "X-Frame-Options": "ALLOWALL",
			"Cross-Origin-Resource-Policy": "cross-origin", "Content-Security-Policy": "script-src 'self'", "Nel": "{}"} {
			rw.Header().Set(name, value)
		}
		for _, c := range []string{"parley_0011=stolen; Path=/", "__Host-parley_0011=stolen; Path=/; Secure", "PARLEY_preview_x=1", "own=1; Domain=localhost; Path=/", "bad"} {
			rw.Header().Add("Set-Cookie", c)
		}
	default:
		body, _ := io.ReadAll(r.Body)
		_ = json.NewEncoder(rw).Encode(seen{r.Host, r.URL.RequestURI(), string(body), r.Header})
	}
}

// visitor is a browser that has opened a preview.
type visitor struct {
	*world
	origin, cookie string
}

// open opens a preview of a port and returns its visitor.
func (w *world) open(holder, session string, port int) *visitor {
	w.Helper()
	address, err := w.proxy.Open(holder, session, port)
	if err != nil {
		w.Fatal(err)
	}
	v := w.enter(address)
	if v == nil {
		w.Fatalf("%s cannot be opened", address)
	}
	return v
}

// enter follows an address; it returns nil if it is rejected.
func (w *world) enter(address string) *visitor {
	w.Helper()
	status, header, _ := w.do("GET", address, "", nil)
	u, err := url.Parse(address)
	if err != nil {
		w.Fatal(err)
	}
	if status != http.StatusSeeOther {
		return nil
	}
	cookie, _, _ := strings.Cut(header.Get("Set-Cookie"), ";")
	return &visitor{w, u.Scheme + "://" + u.Host, cookie}
}

func (w *world) do(method, address, body string, header map[string]string) (int, http.Header, string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, strings.Replace(address, "https:", "http:", 1), strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := w.client.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		w.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(data)
}

// call makes a request with the visitor's cookie and additional headers.
func (v *visitor) call(method, path, body string, more map[string]string) (int, http.Header, string) {
	v.Helper()
	header := map[string]string{"Cookie": v.cookie}
	for name, value := range more {
		if name == "Cookie" {
			value = v.cookie + "; " + value
		}
		header[name] = value
	}
	return v.do(method, v.origin+path, body, header)
}

// looks reports whether the visitor can see the server.
func (v *visitor) looks() bool {
	v.Helper()
	status, _, _ := v.call("GET", "/", "", nil)
	return status == http.StatusOK
}

// stream opens the event stream. The place of the previous request becomes free shortly after its
// response.
func (v *visitor) stream() *http.Response {
	v.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	v.Cleanup(cancel)
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, v.origin+"/stream", nil)
		if err != nil {
			v.Fatal(err)
		}
		req.Header.Set("Cookie", v.cookie)
		resp, err := v.client.Do(req)
		if err != nil {
			v.Fatal(err)
		}
		if resp.StatusCode == http.StatusOK {
			return resp
		}
		_ = resp.Body.Close()
	}
}
