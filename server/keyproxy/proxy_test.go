package keyproxy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/server/keyproxy"
)

const key = "sk-ant-the-real-key"

// world has an API, a proxy for it and a client.
type world struct {
	*testing.T
	api    *httptest.Server
	proxy  *keyproxy.Proxy
	client *http.Client
}

func newWorld(t *testing.T, api http.HandlerFunc, change ...func(*keyproxy.Options)) *world {
	t.Helper()
	w := &world{T: t, api: httptest.NewServer(api), client: &http.Client{Timeout: time.Minute}}
	opts := keyproxy.Options{Key: key, Upstream: w.api.URL}
	for _, f := range change {
		f(&opts)
	}
	var err error
	if w.proxy, err = keyproxy.Listen(opts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.client.CloseIdleConnections()
		if err := w.proxy.Close(); err != nil {
			t.Error(err)
		}
		w.api.Close()
	})
	return w
}

// send sends a request with a token and returns the status and the body.
func (w *world) send(token string, change ...func(*http.Request)) (int, string) {
	w.Helper()
	req, err := http.NewRequestWithContext(context.Background(), "POST", w.proxy.URL()+"/v1/messages?beta=true", strings.NewReader(`{"model":"m"}`))
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("X-Api-Key", token)
	for _, f := range change {
		f(req)
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
	return resp.StatusCode, string(data)
}

// TestProxy_forwards checks the request at the API, and the response.
func TestProxy_forwards(t *testing.T) {
	var got *http.Request
	var body string
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		got, body = r, string(data)
		rw.Header().Set("Set-Cookie", "a=b")
		rw.Header().Set("Request-Id", "req_1")
		rw.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(rw, "short and stout")
	})
	token, revoke, _ := w.proxy.Grant("s-1")
	status, answer := w.send(token, func(r *http.Request) {
		r.Header.Set("Cookie", "secret=1")
		r.Header.Set("Connection", "X-Hop, keep-alive")
		r.Header.Set("X-Hop", "1")
		r.Header.Set("Anthropic-Version", "2023-06-01")
	})
	if status != http.StatusTeapot || answer != "short and stout" || body != `{"model":"m"}` || got.URL.String() != "/v1/messages?beta=true" {
		t.Errorf("%d %q for %q at %s", status, answer, body, got.URL)
	}
	h := got.Header
	if h.Get("X-Api-Key") != key || h.Get("Cookie")+h.Get("X-Hop")+h.Get("Authorization") != "" || h.Get("Anthropic-Version") != "2023-06-01" {
		t.Errorf("the API got the headers %v", h)
	}
	if status, _ = w.send("", func(r *http.Request) { r.Header.Del("X-Api-Key"); r.Header.Set("Authorization", "Bearer "+token) }); status != http.StatusTeapot || got.Header.Get("Authorization") != "" {
		t.Errorf("as a bearer token: %d, %v", status, got.Header)
	}
	revoke()
	if status, _ := w.send(token); status != http.StatusUnauthorized {
		t.Errorf("after the session: %d", status)
	}
}

// TestProxy_refuses checks the rejected requests.
func TestProxy_refuses(t *testing.T) {
	reached := 0
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		reached++
		_, _ = io.Copy(io.Discard, r.Body)
	}, func(o *keyproxy.Options) { o.MaxBody = 100 })
	token, _, _ := w.proxy.Grant("s-1")
	for name, c := range map[string]struct {
		token  string
		change func(*http.Request)
		want   int
	}{
		"no token": {"", func(*http.Request) {}, http.StatusUnauthorized},
		"the key":  {key, func(*http.Request) {}, http.StatusUnauthorized},
		"another":  {"sk-parley-x", func(*http.Request) {}, http.StatusUnauthorized},
		"host":     {token, func(r *http.Request) { r.Host = "evil.example" }, http.StatusForbidden},
		"origin":   {token, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, http.StatusForbidden},
		"method":   {token, func(r *http.Request) { r.Method = "DELETE" }, http.StatusMethodNotAllowed},
		"dots":     {token, func(r *http.Request) { r.URL.Path = "/v1/../x" }, http.StatusBadRequest},
	} {
		if status, body := w.send(c.token, c.change); status != c.want || strings.Contains(body, key) || !strings.Contains(body, `"type":"error"`) {
			t.Errorf("%s: %d %s, want %d", name, status, body, c.want)
		}
	}
	if reached != 0 {
		t.Errorf("%d requests reached the API", reached)
	}
	status, _ := w.send(token, func(r *http.Request) {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(strings.Repeat("x", 200))), 200
	})
	if status != http.StatusRequestEntityTooLarge {
		t.Errorf("a large body: %d", status)
	}
}

// TestProxy_noRedirect checks that a redirecting response is not forwarded.
func TestProxy_noRedirect(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
	})
	token, _, _ := w.proxy.Grant("s-1")
	if status, _ := w.send(token); status != http.StatusBadGateway {
		t.Errorf("a redirect: %d", status)
	}
}

// TestProxy_streams checks that an event arrives before the next is sent, that the requests of a
// session are limited, and that its end ends running requests.
func TestProxy_streams(t *testing.T) {
	gone := make(chan struct{})
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(rw, "event: one\n")
		_ = http.NewResponseController(rw).Flush()
		<-r.Context().Done()
		close(gone)
	}, func(o *keyproxy.Options) { o.MaxRequests = 1 })
	token, revoke, _ := w.proxy.Grant("s-1")
	req, err := http.NewRequestWithContext(context.Background(), "GET", w.proxy.URL()+"/v1/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", token)
	resp, err := w.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	if line, err := lines.ReadString('\n'); line != "event: one\n" {
		t.Fatalf("the first event is %q, %v", line, err)
	}
	if status, _ := w.send(token); status != http.StatusTooManyRequests {
		t.Errorf("a second request at once: %d", status)
	}
	revoke()
	if rest, err := io.ReadAll(lines); err == nil {
		t.Errorf("what was cut looks whole: %q", rest)
	}
	select {
	case <-gone:
	case <-time.After(time.Minute):
		t.Error("the request of a session that is gone still runs")
	}
}

func TestListen_refuses(t *testing.T) {
	for _, o := range []keyproxy.Options{{}, {Key: "a b"}, {Key: "a\n"}, {Key: "k", Upstream: "http://api.example.com"}, {Key: "k", Upstream: "ftp://127.0.0.1"},
		{Key: "k", Upstream: "https://u:p@example.com"}, {Key: "k", Upstream: "::"}} {
		if p, err := keyproxy.Listen(o); err == nil {
			t.Errorf("%+v was taken", o)
			_ = p.Close()
		}
	}
}

func Example() {
	proxy, err := keyproxy.Listen(keyproxy.Options{Key: "sk-ant-of-the-server"})
	if err != nil {
		panic(err)
	}
	defer proxy.Close()
	token, revoke, _ := proxy.Grant("s-1")
	defer revoke()
	// An agent with these variables works without the key.
	env := []string{"ANTHROPIC_BASE_URL=" + proxy.URL(), "ANTHROPIC_API_KEY=" + token}
	fmt.Println(len(env), strings.Contains(strings.Join(env, " "), "sk-ant"))
	// Output: 2 false
}

// TestProxy_answers checks which responses of the API are forwarded: all except redirects, with
// their headers, but without cookies and connection headers.
func TestProxy_answers(t *testing.T) {
	status := 0
	w := newWorld(t, func(rw http.ResponseWriter, _ *http.Request) {
		for name, value := range map[string]string{"Set-Cookie": "a=b", "Request-Id": "req_1", "Location": "http://evil.example/", "Connection": "X-Hop", "X-Hop": "1", "Keep-Alive": "timeout=1"} {
			rw.Header().Set(name, value)
		}
		rw.WriteHeader(status)
	})
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	token, _, _ := w.proxy.Grant("s-1")
	for sent, want := range map[int]int{200: 200, 299: 299, 300: 502, 301: 502, 307: 502, 399: 502, 400: 400, 404: 404, 429: 429, 500: 500, 529: 529} {
		status = sent
		req, err := http.NewRequestWithContext(t.Context(), "POST", w.proxy.URL()+"/v1/messages", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", token)
		resp, err := w.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		h := resp.Header
		if resp.StatusCode != want || (h.Get("Request-Id") == "req_1") != (want == sent) || h.Get("Set-Cookie")+h.Get("X-Hop")+h.Get("Keep-Alive") != "" {
			t.Errorf("status %d came as %d with the headers %v, want %d", sent, resp.StatusCode, h, want)
		}
		if want != sent && h.Get("Location") != "" {
			t.Errorf("status %d: the place of the redirect came through: %v", sent, h)
		}
	}
}

// TestProxy_sentFirst checks that an agent that sends its complete request before it reads still
// gets the response that rejects it.
func TestProxy_sentFirst(t *testing.T) {
	const most = 4 << 20
	w := newWorld(t, func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }, func(o *keyproxy.Options) { o.MaxBody = most })
	token, _, err := w.proxy.Grant("s")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, token string
		size, want  int
	}{
		{"a token that is unknown", "x", most - 1, http.StatusUnauthorized},
		{"a body over the limit", token, most + most/2, http.StatusRequestEntityTooLarge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", strings.TrimPrefix(w.proxy.URL(), "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(10 * time.Second))
			fmt.Fprintf(conn, "POST /v1/messages HTTP/1.1\r\nHost: %s\r\nX-Api-Key: %s\r\nContent-Length: %d\r\n\r\n", strings.TrimPrefix(w.proxy.URL(), "http://"), tt.token, tt.size)
			if _, err := conn.Write(make([]byte, tt.size)); err != nil {
				t.Fatalf("the body was not sent: %v", err)
			}
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatalf("the response was not read: %v", err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != tt.want {
				t.Errorf("the status is %d, want %d", resp.StatusCode, tt.want)
			}
		})
	}
}
