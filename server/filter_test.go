package server

import (
	"net/http"
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
