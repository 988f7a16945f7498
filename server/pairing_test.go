package server

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/server/api"
)

// pair sends a code as the page does.
func (h *harness) pair(code, origin string) (int, []*http.Cookie) {
	h.Helper()
	req := h.request(func(r *http.Request) {
		r.URL.Path = "/v1/pair"
		r.Header.Del("Authorization")
		r.Header.Set("Origin", origin)
		r.Body = io.NopCloser(strings.NewReader(fmt.Sprintf(`{"code":%q}`, code)))
		r.ContentLength = -1
	})
	status, header, _ := h.do(req)
	return status, (&http.Response{Header: header}).Cookies()
}

// with calls a method with a cookie, and returns the status.
func (h *harness) with(c *http.Cookie, method string) int {
	h.Helper()
	status, _, _ := h.do(h.request(func(r *http.Request) {
		r.URL.Path = "/v1/" + method
		r.Header.Del("Authorization")
		r.Header.Set("Origin", h.url)
		r.AddCookie(c)
	}))
	return status
}

// TestPairing checks that a code admits one device, which gets a token of the chosen role, once,
// and that the device is listed and can be revoked.
func TestPairing(t *testing.T) {
	clock := newFakeClock()
	h := newHarness(t, func(o *Options) { o.now = clock.Now })
	var made api.PairingCreateResult
	h.call("pairing.create", api.PairingCreateParams{Role: "viewer", Name: "phone"}, &made)
	if made.Code == "" || made.ID == "" || !made.Loopback || len(made.Addresses) != 0 {
		t.Fatalf("the code is %+v", made)
	}
	if status, _ := h.pair(made.Code, "https://evil.example"); status != http.StatusForbidden {
		t.Errorf("a foreign page: status %d", status)
	}
	status, cookies := h.pair(made.Code, h.url)
	if status != http.StatusOK || len(cookies) != 1 {
		t.Fatalf("the code: status %d, %v", status, cookies)
	}
	c := cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || time.Duration(c.MaxAge)*time.Second != deviceAge || strings.Contains(c.Value, made.Code) {
		t.Errorf("the cookie is %+v", c)
	}
	if status := h.with(c, "session.list"); status != http.StatusOK {
		t.Errorf("the device: status %d", status)
	}
	if status := h.with(c, "session.connect"); status != http.StatusForbidden {
		t.Errorf("a viewer starts a session: status %d", status)
	}
	if status, _ := h.pair(made.Code, h.url); status != http.StatusUnauthorized {
		t.Errorf("the code again: status %d", status)
	}
	var list api.TokensListResult
	h.call("tokens.list", api.Empty{}, &list)
	if len(list.Tokens) != 1 || list.Tokens[0].ID != made.ID || !list.Tokens[0].Device || list.Tokens[0].Name != "phone" || list.Tokens[0].UsedAt == "" {
		t.Errorf("the devices are %+v", list)
	}
	var audit api.AuditListResult
	h.call("audit.list", api.AuditListParams{By: "phone"}, &audit)
	if len(audit.Rows) == 0 || audit.Rows[len(audit.Rows)-1].Method != "pair" {
		t.Errorf("the audit rows are %+v", audit)
	}
	if strings.Contains(h.logs.String(), made.Code) {
		t.Error("the log has the code")
	}
	h.call("tokens.revoke", api.TokensRevokeParams{ID: made.ID}, nil)
	if status := h.with(c, "session.list"); status != http.StatusUnauthorized {
		t.Errorf("a device that was shut out: status %d", status)
	}
}

// TestPairing_ends checks each event that invalidates a code before its use.
func TestPairing_ends(t *testing.T) {
	clock := newFakeClock()
	h := newHarness(t, func(o *Options) { o.now = clock.Now })
	create := func(token string) (made api.PairingCreateResult) {
		t.Helper()
		if err := h.client(token).Call(h.ctx(), "pairing.create", api.PairingCreateParams{Role: "operator", Name: "phone"}, &made); err != nil {
			t.Fatal(err)
		}
		return made
	}
	var other api.TokensCreateResult
	h.call("tokens.create", api.TokensCreateParams{Role: "admin"}, &other)
	for name, end := range map[string]func(api.PairingCreateResult){
		"its time":          func(api.PairingCreateResult) { clock.advance(pairingAge) },
		"a new one":         func(api.PairingCreateResult) { create(h.token) },
		"being cancelled":   func(p api.PairingCreateResult) { h.call("pairing.cancel", api.PairingRef{ID: p.ID}, nil) },
		"a restart":         func(api.PairingCreateResult) { h.restart() },
		"a letter too many": func(api.PairingCreateResult) {},
	} {
		made := create(h.token)
		end(made)
		if name == "a letter too many" {
			made.Code += "A"
		}
		if status, _ := h.pair(made.Code, h.url); status != http.StatusUnauthorized {
			t.Errorf("after %s: status %d", name, status)
		}
	}
	late := create(h.token)
	clock.advance(pairingAge - time.Second)
	if status, _ := h.pair(late.Code, h.url); status != http.StatusOK {
		t.Errorf("within its time: status %d", status)
	}
	kept := create(h.token)
	if err := h.client(other.Token).Call(h.ctx(), "pairing.cancel", api.PairingRef{ID: kept.ID}, nil); err != nil {
		t.Fatal(err)
	}
	theirs := create(other.Token)
	h.server.tokens.mu.Lock()
	h.server.tokens.all[h.server.tokens.place[other.ID]].Role = "operator"
	h.server.tokens.mu.Unlock()
	if status, _ := h.pair(theirs.Code, h.url); status != http.StatusUnauthorized {
		t.Errorf("a code of one who is no admin any more: status %d", status)
	}
	h.server.tokens.mu.Lock()
	h.server.tokens.all[h.server.tokens.place[other.ID]].Role = "admin"
	h.server.tokens.mu.Unlock()
	theirs = create(other.Token)
	h.call("tokens.revoke", api.TokensRevokeParams{ID: other.ID}, nil)
	if status, _ := h.pair(theirs.Code, h.url); status != http.StatusUnauthorized {
		t.Errorf("a code of a revoked admin: status %d", status)
	}
	if status, _ := h.pair(kept.Code, h.url); status != http.StatusOK {
		t.Errorf("a code that another admin cancelled: status %d", status)
	}
	for _, p := range []api.PairingCreateParams{{Name: "x"}, {Role: "root", Name: "x"}, {Role: "viewer"}, {Role: "viewer", Name: "a\nb"}} {
		h.refused(api.InvalidParams, "pairing.create", p)
	}
	status := 0
	for range 2 * maxBadTokensLocal {
		status, _ = h.pair("wrong", h.url)
	}
	if status != http.StatusTooManyRequests {
		t.Errorf("many wrong codes: status %d", status)
	}
}

// TestPairing_addresses checks which addresses are shown for a phone.
func TestPairing_addresses(t *testing.T) {
	for _, tt := range []struct {
		listen   string
		hosts    []string
		secure   bool
		loopback bool
		want     string
	}{
		{"127.0.0.1:8080", []string{"box.example"}, false, true, "[]"},
		{"[::1]:8080", nil, false, true, "[]"},
		{"0.0.0.0:8080", nil, false, false, "[]"},
		{"0.0.0.0:8080", []string{"box.example", "10.0.0.2:99", "fd00::1"}, true, false, "[https://box.example:8080/ https://10.0.0.2:99/ https://[fd00::1]:8080/]"},
		{"192.0.2.1:80", []string{"192.0.2.1"}, false, false, "[http://192.0.2.1:80/]"},
	} {
		s := &Server{opts: Options{AllowedHosts: tt.hosts, SecureCookies: tt.secure}}
		addr, err := net.ResolveTCPAddr("tcp", tt.listen)
		if err != nil {
			t.Fatal(err)
		}
		s.listening(addr)
		if got := fmt.Sprint(s.addresses()); got != tt.want || s.loopbackOnly() != tt.loopback {
			t.Errorf("%s, %v: %v, %s; want got == tt.want and s.loopbackOnly() == tt.loopback", tt.listen, tt.hosts, s.loopbackOnly(), got)
		}
	}
}

// TestPairing_machine checks that a code for a machine is exchanged for a token of its role. The token is in the list
// of tokens, and a machine can join with it. A client without an Origin header, such as the command, may exchange the
// code.
func TestPairing_machine(t *testing.T) {
	clock := newFakeClock()
	h := newHarness(t, func(o *Options) { o.now = clock.Now })
	var made api.PairingCreateResult
	h.call("pairing.create", api.PairingCreateParams{Role: "host", Name: "workstation"}, &made)
	clock.advance(machinePairingAge - time.Second) // longer than that for a device
	exchange := func() (int, string) {
		status, header, body := h.do(h.request(func(r *http.Request) {
			r.URL.Path = "/v1/pair"
			r.Header.Del("Authorization")
			r.Body = io.NopCloser(strings.NewReader(fmt.Sprintf(`{"code":%q}`, made.Code)))
			r.ContentLength = -1
		}))
		if cookies := header.Values("Set-Cookie"); len(cookies) > 0 {
			t.Errorf("a machine gets the cookies %v", cookies)
		}
		return status, string(body)
	}
	status, body := exchange()
	var got struct{ Token string }
	if err := json.Unmarshal([]byte(body), &got); status != http.StatusOK || err != nil || got.Token == "" {
		t.Fatalf("the code gets %d %s", status, body)
	}
	if status, body := exchange(); status != http.StatusUnauthorized {
		t.Errorf("the code again gets %d %s", status, body)
	}
	var list api.TokensListResult
	h.call("tokens.list", api.Empty{}, &list)
	for _, tk := range list.Tokens {
		if tk.ID == made.ID && tk.Role == "host" && tk.Name == "workstation" && tk.ExpiresAt == "" {
			return
		}
	}
	t.Errorf("the tokens are %+v, want one of the machine", list.Tokens)
}
