package server

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
)

// A proxy with TLS that keeps Host and sets X-Forwarded-For and X-Forwarded-Proto, as docs/guide/proxy.md
// configures it, serves calls, sockets, streams and logins.
func TestBehindProxy(t *testing.T) {
	h := newHarness(t, func(o *Options) { o.TrustedProxies = []string{"127.0.0.1"} })
	target, err := url.Parse(h.url)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewTLSServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.SetXForwarded()
		r.Out.Host = r.In.Host
	}})
	defer front.Close()

	direct := h.url
	h.url, h.http = front.URL, front.Client()
	id := h.connect()
	w := h.watch(id)
	h.query(id, "say one two three")
	w.results(1)
	w.awaitAnswer("one two three")

	t.Run("stream", func(t *testing.T) {
		req, _ := http.NewRequestWithContext(h.ctx(), http.MethodGet, front.URL+"/v1/sessions/"+id+"/events", nil)
		req.Header.Set("Authorization", "Bearer "+h.token)
		resp, err := front.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		first := make([]byte, 64)
		n, err := resp.Body.Read(first)
		if got := string(first[:n]); resp.StatusCode != http.StatusOK || !strings.HasPrefix(got, "retry: ") {
			t.Errorf("the stream has status %d and starts with %q (%v), want 200 and retry", resp.StatusCode, got, err)
		}
	})
	for _, proto := range []string{"https", "http"} {
		t.Run("cookie over "+proto, func(t *testing.T) {
			base, do := front.URL, front.Client()
			if proto == "http" {
				base, do = direct, http.DefaultClient
			}
			req, _ := http.NewRequestWithContext(h.ctx(), http.MethodPost, base+"/v1/login", strings.NewReader(`{"token":"`+h.token+`"}`))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Origin", base)
			resp, err := do.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if all := resp.Cookies(); len(all) != 1 || all[0].Secure != (proto == "https") {
				t.Errorf("a login returns status %d and the cookies %v, want one that is secure with https only", resp.StatusCode, all)
			}
		})
	}
}
