package server

import (
	"crypto/tls"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
)

// TestFilter_remote checks which address counts: that of the connection, and from a trusted proxy the
// last hop in its header, which the client cannot choose.
func TestFilter_remote(t *testing.T) {
	f, err := newFilter(Options{TrustedProxies: []string{"10.0.0.0/8", "192.0.2.1", "2001:db8::/32"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from string
		hops []string
		want string
	}{
		{"203.0.113.5:1", nil, "203.0.113.5"},
		{"203.0.113.5:1", []string{"198.51.100.1"}, "203.0.113.5"}, // not a proxy
		{"192.0.2.2:1", []string{"198.51.100.1"}, "192.0.2.2"},     // a neighbour of a proxy is not one
		{"10.1.2.3:1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"192.0.2.1:1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"[::ffff:10.1.2.3]:1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"[2001:db8::1]:1", []string{"2001:db8:1::7"}, "2001:db8:1::7"},
		{"10.1.2.3:1", []string{"1.1.1.1, 2.2.2.2 ,198.51.100.1"}, "198.51.100.1"}, // the client sent the first two
		{"10.1.2.3:1", []string{"1.1.1.1", "198.51.100.1"}, "198.51.100.1"},        // two headers
		{"10.1.2.3:1", []string{"198.51.100.1, nonsense"}, "10.1.2.3"},
		{"10.1.2.3:1", []string{""}, "10.1.2.3"},
		{"10.1.2.3:1", nil, "10.1.2.3"},
		{"@", []string{"198.51.100.1"}, ""}, // a socket without addresses
	} {
		r := &http.Request{RemoteAddr: c.from, Header: http.Header{}}
		for _, h := range c.hops {
			r.Header.Add("X-Forwarded-For", h)
		}
		if got := f.remote(r); got != c.want {
			t.Errorf("from %s with %q: %q, want %q", c.from, c.hops, got, c.want)
		}
	}
}

// TestFilter_identify checks the principal of a request: a token must be in a header and a cookie in a cookie, and a cookie counts
// only for requests of the server's pages.
func TestFilter_identify(t *testing.T) {
	f, err := newFilter(Options{Dir: "/d"})
	if err != nil {
		t.Fatal(err)
	}
	all := newTokens(filepath.Join(t.TempDir(), tokensName))
	var values, cookies [2]string
	for i := range values {
		if _, values[i], err = all.create(token{Role: "viewer"}, 0); err != nil {
			t.Fatal(err)
		}
		if cookies[i], _, err = all.exchange(values[i], ""); err != nil {
			t.Fatal(err)
		}
	}
	const get, post = http.MethodGet, http.MethodPost
	for _, tt := range []struct {
		name, method string
		headers      []string // names and values
		cookies      []string
		ok           bool
	}{
		{"a token", post, []string{"Authorization", "Bearer " + values[0]}, nil, true},
		{"a cookie as a token", post, []string{"Authorization", "Bearer " + cookies[0], "Origin", "o"}, nil, false},
		{"a token as a cookie", get, nil, values[:1], false},
		{"a wrong token with a cookie", get, []string{"Authorization", "Bearer x"}, cookies[:1], false},
		{"another scheme", get, []string{"Authorization", values[0]}, nil, false},
		{"nothing", get, nil, nil, false},
		{"a cookie", get, nil, cookies[:1], true},
		{"a cookie, post without an origin", post, nil, cookies[:1], false},
		{"a cookie, post", post, []string{"Origin", "o"}, cookies[:1], true},
		{"a cookie, socket without an origin", get, []string{"Upgrade", "websocket"}, cookies[:1], false},
		{"a cookie, socket", get, []string{"Upgrade", "websocket", "Origin", "o"}, cookies[:1], true},
		{"a cookie from another site", get, []string{"Sec-Fetch-Site", "cross-site"}, cookies[:1], false},
		{"a cookie from another site, with an origin", post, []string{"Sec-Fetch-Site", "cross-site", "Origin", "o"}, cookies[:1], false},
		{"a cookie from a neighbour", get, []string{"Sec-Fetch-Site", "same-site"}, cookies[:1], false},
		{"a cookie from an allowed neighbour", get, []string{"Sec-Fetch-Site", "same-site", "Origin", "o"}, cookies[:1], true},
		{"a cookie of the page", get, []string{"Sec-Fetch-Site", "same-origin"}, cookies[:1], true},
		{"a cookie and an old one", get, nil, []string{"old", cookies[0]}, true},
		{"a cookie twice", get, nil, []string{cookies[0], cookies[0]}, true},
		{"two cookies", get, nil, cookies[:], false},
		{"a cookie after the most others", get, nil, append(slices.Repeat([]string{"old"}, maxCookies-1), cookies[0]), true},
		{"a cookie after more", get, nil, append(slices.Repeat([]string{"old"}, maxCookies), cookies[0]), false},
	} {
		r := &http.Request{Method: tt.method, Header: http.Header{}}
		for i := 0; i < len(tt.headers); i += 2 {
			r.Header.Add(tt.headers[i], tt.headers[i+1])
		}
		for _, value := range tt.cookies {
			r.AddCookie(&http.Cookie{Name: f.cookie, Value: value})
		}
		if p, err := f.identify(all, r); (err == nil) != tt.ok || (p != nil) != tt.ok {
			t.Errorf("%s: %+v, %v, want it accepted: %v", tt.name, p, err, tt.ok)
		}
	}
}

// TestConnection checks that a stream that is refused for lack of a place does not reserve one, and
// that a place becomes free again after a stream.
func TestConnection(t *testing.T) {
	f, err := newFilter(Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{filter: f, conns: make(chan struct{}, 2)}
	s.streams.max = 2
	open := func(addr string, want int) (release func()) {
		t.Helper()
		release, err := s.connection(&http.Request{RemoteAddr: addr + ":1"})
		status := http.StatusOK
		var he *httpError
		if errors.As(err, &he) {
			status = he.status
		}
		if status != want {
			t.Errorf("a stream from %s: status %d, want %d", addr, status, want)
		}
		return release
	}
	one, _ := open("203.0.113.1", 200), open("203.0.113.1", 200)
	open("203.0.113.1", http.StatusTooManyRequests)
	for range 3 { // the server is full
		open("203.0.113.2", http.StatusServiceUnavailable)
	}
	one()
	open("203.0.113.2", 200)
	open("203.0.113.1", http.StatusServiceUnavailable)
}

// TestFilter_scheme checks when a request counts as sent with TLS, and which scheme its origin has: a client cannot claim TLS, a trusted proxy can.
func TestFilter_scheme(t *testing.T) {
	f, err := newFilter(Options{TrustedProxies: []string{"10.0.0.0/8"}})
	if err != nil {
		t.Fatal(err)
	}
	const client, proxy = "203.0.113.5:1", "10.1.2.3:1"
	for _, tt := range []struct {
		from               string
		tls                bool
		proto, origin      string
		allowed, encrypted bool
	}{
		{client, false, "", "http://localhost", true, false},
		{client, false, "", "https://localhost", false, false},
		{client, false, "https", "https://localhost", false, false},
		{client, true, "", "https://localhost", true, true},
		{client, true, "", "http://localhost", false, true},
		{proxy, false, "https", "https://localhost", true, true},
		{proxy, false, "", "https://localhost", true, false},
		{proxy, false, "http", "http://localhost", true, false},
		{proxy, false, "https", "https://other", false, true},
	} {
		r := &http.Request{Host: "localhost", RemoteAddr: tt.from, Header: http.Header{"X-Forwarded-Proto": {tt.proto}}}
		if tt.tls {
			r.TLS = &tls.ConnectionState{}
		}
		if got := f.originAllowed(tt.origin, r); got != tt.allowed {
			t.Errorf("%+v: the origin is allowed: %v, want %v", tt, got, tt.allowed)
		}
		if got := f.encrypted(r); got != tt.encrypted {
			t.Errorf("%+v: encrypted: %v, want %v", tt, got, tt.encrypted)
		}
	}
}
