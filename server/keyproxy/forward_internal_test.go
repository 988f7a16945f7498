package keyproxy

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCopyHeader checks that only headers of the message are copied, and that the copy is independent.
func TestCopyHeader(t *testing.T) {
	from := http.Header{"Accept": {"a", "b"}, "Connection": {"close, x-first", "X-Second"}, "X-First": {"1"}, "X-Second": {"2"}, "X-Third": {"3"}}
	for _, name := range hopHeaders {
		from[name] = append(from[name], "hop")
	}
	to := http.Header{"Accept": {"old"}, "Kept": {"k"}}
	copyHeader(to, from)
	if diff := cmp.Diff(http.Header{"Accept": {"a", "b"}, "Kept": {"k"}, "X-Third": {"3"}}, to); diff != "" {
		t.Errorf("the copy (-want +got):\n%s", diff)
	}
	to["Accept"][0] = "changed"
	if from["Accept"][0] != "a" {
		t.Error("the copy shares its values")
	}
}

// TestRefuse checks the error for each status, and that only tunnels ask for a password.
func TestRefuse(t *testing.T) {
	for status, want := range map[int]string{
		http.StatusUnauthorized: "authentication_error", http.StatusTooManyRequests: "rate_limit_error", http.StatusBadGateway: "api_error", http.StatusRequestEntityTooLarge: "request_too_large",
		http.StatusForbidden: "permission_error", http.StatusProxyAuthRequired: "permission_error", http.StatusBadRequest: "permission_error",
	} {
		w := httptest.NewRecorder()
		refuse(w, status, "why")
		var got struct {
			Type  string
			Error struct{ Type, Message string }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != status || got.Type != "error" || got.Error.Type != want || got.Error.Message != "parley: why" || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%d: %d %s %+v, %v", status, w.Code, w.Header(), got, err)
		}
		if asks := w.Header().Get("Proxy-Authenticate") != ""; asks != (status == http.StatusProxyAuthRequired) {
			t.Errorf("%d asks for a password: %t", status, asks)
		}
	}
}

// TestWithoutURL checks that an error does not contain the address of a request, whose query can
// contain secrets.
func TestWithoutURL(t *testing.T) {
	failed := errors.New("failed")
	if got := withoutURL(&url.Error{Op: "Get", URL: "https://x/?key=secret", Err: failed}); got != failed {
		t.Errorf("the error is %v, want %v", got, failed)
	}
	if got := withoutURL(failed); got != failed {
		t.Errorf("another error is %v, want %v", got, failed)
	}
}

// TestPattern checks the String form of each pattern, the hosts that it allows, and the addresses
// that these may have.
func TestPattern(t *testing.T) {
	for text, want := range map[string]pattern{
		"Example.ORG.": {"example.org", false, "443"}, "*.example.org:080": {"example.org", true, "80"}, "127.0.0.1:1": {"127.0.0.1", false, "1"}, "[::1]:65535": {"::1", false, "65535"}, "a_b-1": {"a_b-1", false, "443"},
	} {
		if got, err := parsePattern(text); got != want || err != nil {
			t.Errorf("%q is %+v, %v, want %+v", text, got, err, want)
		}
	}
	const public, other, private, loop = "1.1.1.1", "1.1.1.2", "10.0.0.1", "127.0.0.2"
	for _, tt := range []struct {
		p       pattern
		reaches []string
		denied  []string
	}{
		{pattern{name: "example.org"}, []string{public, other}, []string{private, loop, "::1"}},
		{pattern{name: "example.org", below: true}, []string{public}, []string{private, loop}},
		{pattern{name: "localhost"}, []string{loop, "::1", "::ffff:127.0.0.1"}, []string{public, private}},
		{pattern{name: "localhost", below: true}, []string{public}, []string{loop}},
		{pattern{name: public}, []string{public, "::ffff:" + public}, []string{other, private}},
		{pattern{name: private}, []string{private}, []string{public, "10.0.0.2"}},
		{pattern{name: "0.0.1", below: true}, []string{public}, []string{loop}},
	} {
		for _, a := range tt.reaches {
			if !tt.p.reaches(netip.MustParseAddr(a)) {
				t.Errorf("%+v does not reach %s", tt.p, a)
			}
		}
		for _, a := range tt.denied {
			if tt.p.reaches(netip.MustParseAddr(a)) {
				t.Errorf("%+v reaches %s", tt.p, a)
			}
		}
	}
	for _, tt := range []struct {
		p          pattern
		name, port string
		want       bool
	}{
		{pattern{"a.b", false, "443"}, "a.b", "443", true}, {pattern{"a.b", false, "443"}, "a.b", "80", false}, {pattern{"a.b", false, "443"}, "x.a.b", "443", false},
		{pattern{"a.b", true, "443"}, "x.a.b", "443", true}, {pattern{"a.b", true, "443"}, "a.b", "443", false}, {pattern{"a.b", true, "443"}, "xa.b", "443", false}, {pattern{"a.b", true, "443"}, "x.a.b", "1", false},
	} {
		if got := tt.p.allows(tt.name, tt.port); got != tt.want {
			t.Errorf("%+v allows %s:%s: %t, want %t", tt.p, tt.name, tt.port, got, tt.want)
		}
	}
}
