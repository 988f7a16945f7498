package keyproxy_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/server/keyproxy"
)

// echo returns the address of a server that sends back its input, and then closes.
func echo(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				io.Copy(c, c)
			}()
		}
	}()
	return l.Addr().String()
}

// connect asks a proxy for a tunnel and returns the connection and the status.
func connect(t *testing.T, proxy, target, token string) (*bufio.Reader, *net.TCPConn, int) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(proxy, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	auth := base64.StdEncoding.EncodeToString([]byte("parley:" + token))
	// The first bytes of the agent arrive together with the request.
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: any.example.org\r\nProxy-Authorization: Basic %s\r\n\r\nhello", target, auth)
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect})
	if err != nil {
		t.Fatal(err)
	}
	return r, conn.(*net.TCPConn), resp.StatusCode
}

// tunnelWorld has a proxy that allows hosts, and a token.
func tunnelWorld(t *testing.T, allow ...string) (*keyproxy.Proxy, string, func()) {
	t.Helper()
	p, err := keyproxy.Listen(keyproxy.Options{Key: "key", Allow: allow, MaxRequests: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	token, revoke, err := p.Grant("s")
	if err != nil {
		t.Fatal(err)
	}
	return p, token, revoke
}

// TestTunnel_hosts checks that a tunnel reaches only the allowed hosts, at their ports.
func TestTunnel_hosts(t *testing.T) {
	to := echo(t)
	_, port, err := net.SplitHostPort(to)
	if err != nil {
		t.Fatal(err)
	}
	private, public := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("192.0.2.1")
	names := map[string][]netip.Addr{
		"localhost": {private}, "127.0.0.1": {private}, "inside.example.org": {private}, "a.wild.example.org": {private},
		"both.example.org": {private, public}, "k.example.org": {private}, "far.example.org": {private},
	}
	for _, tt := range []struct {
		allow, target string
		want          int
	}{
		{to, to, 200},
		{"localhost:" + port, "localhost:" + port, 200},
		{"LocalHost:" + port, "LOCALHOST.:" + port, 200},
		{"localhost.:0" + port, "localhost:" + port, 200}, // in the form that is compared
		{"127.0.0.1", to, 403},                            // another port
		{"localhost:" + port, "localhost", 403},           // no port
		{"localhost:" + port, "localhost:0" + port, 403},
		{"localhost:" + port, "localhost..:" + port, 403},
		{"localhost:" + port, "a@localhost:" + port, 200}, // the user is not part of the host
		{"localhost:" + port, "localhost@inside.example.org:" + port, 403},
		{"localhost:" + port, "inside.example.org:" + port + "/localhost:" + port, 403},
		{"localhost:" + port, "inside.example.org:" + port + "?localhost:" + port, 403},
		{"localhost:" + port, "inside.example.org:" + port + "#localhost:" + port, 400},
		{"localhost:" + port, "[::1]:" + port, 403},
		{"127.0.0.1:" + port, "[::ffff:127.0.0.1]:" + port, 403},
		{"127.0.0.1:" + port, "127.1:" + port, 403},
		{"127.0.0.1:" + port, "2130706433:" + port, 403},
		{"*.0.0.1:" + port, to, 502}, // the pattern is for names, not addresses
		{"*.example.org:" + port, "a,b.example.org:" + port, 403},
		{"k.example.org:" + port, "\u212a.example.org:" + port, 403}, // the lower case of the Kelvin sign is k
		{"localhost:" + port, to, 403},
		{"example.org:" + port, "inside.example.org:" + port, 403},
		{"*.inside.example.org:" + port, "inside.example.org:" + port, 403},
		{"*.example.org:" + port, "notexample.org:" + port, 403},
		{"inside.example.org:" + port, "inside.example.org:" + port, 502}, // a private address
		{"*.wild.example.org:" + port, "a.wild.example.org:" + port, 502},
		{"nowhere.example.org:" + port, "nowhere.example.org:" + port, 502},
	} {
		t.Run(tt.allow+" "+tt.target, func(t *testing.T) {
			p, token, _ := tunnelWorld(t, tt.allow)
			keyproxy.SetLookup(p, func(_ context.Context, _, name string) ([]netip.Addr, error) {
				if found := names[strings.ToLower(strings.TrimSuffix(name, "."))]; found != nil {
					return found, nil
				}
				return nil, &net.DNSError{Name: name, IsNotFound: true}
			})
			r, conn, status := connect(t, p.URL(), tt.target, token)
			if status != tt.want {
				t.Fatalf("the status is %d, want %d", status, tt.want)
			}
			if status != 200 {
				return
			}
			io.WriteString(conn, ", world")
			conn.CloseWrite()
			if text, err := io.ReadAll(r); err != nil || string(text) != "hello, world" {
				t.Errorf("the tunnel returns %q, %v, want %q", text, err, "hello, world")
			}
		})
	}
}

// TestTunnel_resolves checks that a name is resolved once, in the form that was compared, and that
// only addresses are used that its pattern allows.
func TestTunnel_resolves(t *testing.T) {
	to := echo(t)
	_, port, err := net.SplitHostPort(to)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		allow  []string
		target string
		found  []string // results of each lookup, separated by commas
		want   int
	}{
		{[]string{"localhost:" + port}, "LocalHost.:" + port, []string{"127.0.0.1"}, 200},
		{[]string{"localhost:" + port}, "localhost:" + port, []string{"::ffff:127.0.0.1"}, 200},
		{[]string{"localhost:" + port}, "localhost:" + port, []string{"10.0.0.1,169.254.169.254"}, 502}, // localhost allows only this machine
		{[]string{"127.0.0.1:" + port}, to, []string{"127.0.0.2"}, 502},                                 // an address allows only itself
		{[]string{"*.localhost:" + port}, "a.localhost:" + port, []string{"127.0.0.1"}, 502},
		{[]string{"name.example.org:" + port, "localhost:" + port, to}, "name.example.org:" + port, []string{"127.0.0.1", "127.0.0.1"}, 502},
		{[]string{"name.example.org:" + port, "*.example.org:" + port}, "name.example.org:" + port, []string{"::1,::127.0.0.1", "127.0.0.1"}, 502},
	} {
		t.Run(fmt.Sprint(tt.allow, tt.target, tt.found), func(t *testing.T) {
			p, token, _ := tunnelWorld(t, tt.allow...)
			var asked []string
			keyproxy.SetLookup(p, func(_ context.Context, _, name string) (all []netip.Addr, _ error) {
				asked = append(asked, name)
				for text := range strings.SplitSeq(tt.found[len(asked)-1], ",") {
					all = append(all, netip.MustParseAddr(text))
				}
				return all, nil
			})
			_, _, status := connect(t, p.URL(), tt.target, token)
			name, _, _ := strings.Cut(strings.ToLower(tt.target), ":")
			if want := []string{strings.TrimSuffix(name, ".")}; status != tt.want || fmt.Sprint(asked) != fmt.Sprint(want) {
				t.Errorf("the status is %d after lookups of %q, want %d and %q", status, asked, tt.want, want)
			}
		})
	}
}

// TestTunnel_grant checks that a tunnel needs a valid token, counts as a request of the session,
// and ends with the token.
func TestTunnel_grant(t *testing.T) {
	to := echo(t)
	p, token, revoke := tunnelWorld(t, to)
	for _, wrong := range []string{"", "x", token + "x"} {
		if _, _, status := connect(t, p.URL(), to, wrong); status != http.StatusProxyAuthRequired {
			t.Errorf("the status for token %q is %d, want %d", wrong, status, http.StatusProxyAuthRequired)
		}
	}
	var open []*bufio.Reader
	for range 2 {
		r, _, status := connect(t, p.URL(), to, token)
		if _, err := r.Peek(5); status != 200 || err != nil {
			t.Fatalf("the status is %d, %v, want 200", status, err)
		}
		open = append(open, r)
	}
	if _, _, status := connect(t, p.URL(), to, token); status != http.StatusTooManyRequests {
		t.Errorf("the status of a third tunnel is %d, want %d", status, http.StatusTooManyRequests)
	}
	revoke()
	for _, r := range open {
		if text, _ := io.ReadAll(r); string(text) != "hello" {
			t.Errorf("the rest of the tunnel is %q, want %q", text, "hello")
		}
	}
	if _, _, status := connect(t, p.URL(), to, token); status != http.StatusProxyAuthRequired {
		t.Errorf("the status after the revocation is %d, want %d", status, http.StatusProxyAuthRequired)
	}
}

// TestTunnel_close checks that Close ends tunnels, and that tunnels are refused without allowed
// hosts.
func TestTunnel_close(t *testing.T) {
	to := echo(t)
	p, token, _ := tunnelWorld(t, to)
	r, _, status := connect(t, p.URL(), to, token)
	if status != 200 {
		t.Fatalf("the status is %d, want 200", status)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, r)
	none, token, _ := tunnelWorld(t)
	if _, _, status := connect(t, none.URL(), to, token); status != http.StatusForbidden {
		t.Errorf("the status without a list is %d, want %d", status, http.StatusForbidden)
	}
}

func TestTunnel_invalid(t *testing.T) {
	for _, text := range []string{"", "*.", "https://example.org", "example.org:", "example.org:0", "example.org:99999", "example.org/path", "a b", "*", "a.*.org", "user@example.org", ":443", ".", "*..", "[::1]", "\u212a.example.org", "exämple.org", "example.org:+443"} {
		if p, err := keyproxy.Listen(keyproxy.Options{Key: "key", Allow: []string{text}}); err == nil {
			p.Close()
			t.Errorf("%q is a host, want an error", text)
		}
	}
}

// TestIsPublic checks that addresses that are not reachable from the internet are not public.
func TestIsPublic(t *testing.T) {
	for text, want := range map[string]bool{
		"1.1.1.1": true, "2606:4700::1": true, "::ffff:1.1.1.1": true,
		"127.0.0.1": false, "10.0.0.1": false, "192.168.1.1": false, "172.16.0.1": false, "169.254.169.254": false, "100.64.0.1": false, "0.0.0.0": false, "0.1.2.3": false,
		"224.0.0.1": false, "255.255.255.255": false, "::1": false, "fe80::1": false, "fd00::1": false, "::": false, "64:ff9b::7f00:1": false, "2002:7f00:1::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::127.0.0.1": false, "::ffff:0:127.0.0.1": false, "64:ff9b:1::7f00:1": false, "2001:0:7f00:1::1": false,
		"fec0::1": false, "fe80::1%eth0": false, "2606:4700::1%eth0": false, "100::1": false, "2001:db8::1": false, "3fff::1": false, "5f00::1": false, "ff02::1": false,
		"192.0.0.192": false, "192.0.2.1": false, "198.18.0.1": false, "198.19.255.255": false, "198.20.0.1": true, "198.51.100.1": false, "203.0.113.1": false, "192.88.99.1": false,
		"240.0.0.1": false, "239.255.255.255": false, "223.255.255.254": true, "100.128.0.1": true, "2001:200::1": true, "3ffe::1": true,
	} {
		if got := keyproxy.IsPublic(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s is public: %t, want %t", text, got, want)
		}
	}
}
