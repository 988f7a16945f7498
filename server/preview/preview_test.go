package preview_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/seed7221b0f9/parley/server/preview"
)

const named = "http://*.localhost:7718"

// TestProxy_access checks the access: the holder of a code, once, at its preview, until it expires
// or access is revoked.
func TestProxy_access(t *testing.T) {
	w := newWorld(t, named)
	address, err := w.proxy.Open("me", "s-1", 3000)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil || !strings.HasSuffix(u.Host, ".localhost:7718") || u.RawQuery != "" {
		t.Fatalf("the address is %s, %v", address, err)
	}
	for name, at := range map[string]string{
		"without a code": "http://" + u.Host + "/", "a wrong code": "http://" + u.Host + u.Path[:len(u.Path)-1] + "!", "no such host": "http://p00.localhost:7718" + u.Path,
		"the bare host": "http://localhost:7718" + u.Path, "another port": "http://" + u.Hostname() + ":7719" + u.Path, "an address": "http://127.0.0.1:7718" + u.Path,
	} {
		if status, header, _ := w.do("GET", at, "", nil); status < 400 || header.Get("Set-Cookie") != "" {
			t.Errorf("%s: status %d", name, status)
		}
	}
	me := w.enter(address)
	if me == nil || !me.looks() {
		t.Fatal("the holder of the code does not get in")
	}
	if w.enter(address) != nil {
		t.Error("the code works twice")
	}
	if status, header, _ := me.call("GET", u.Path, "", nil); status != http.StatusSeeOther || header.Get("Set-Cookie") != "" {
		t.Errorf("the same address again, with the cookie: %d, %v", status, header)
	}
	other := w.open("me", "s-2", 3000)
	if other.origin == me.origin || !other.looks() {
		t.Errorf("another session has the origin %s", other.origin)
	}
	if third := w.open("me", "s-1", 3001); third.origin == me.origin {
		t.Error("another port has the same origin")
	}
	crossed := &visitor{w, other.origin, me.cookie}
	if crossed.looks() {
		t.Error("the cookie of one preview opens another")
	}
	_, value, _ := strings.Cut(me.cookie, "=")
	name, _, _ := strings.Cut(other.cookie, "=")
	if renamed := (&visitor{w, other.origin, name + "=" + value}); renamed.looks() {
		t.Error("the cookie of one preview opens another by its name")
	}
	tossed := &visitor{w, me.origin, strings.Replace(me.cookie, value, "wrong", 1) + "; " + me.cookie}
	if !tossed.looks() {
		t.Error("a cookie that another page added keeps the holder out")
	}
	w.change(func() { w.refused["me"] = true })
	if me.looks() {
		t.Error("the right was taken away, and the preview still opens")
	}
	w.change(func() { w.refused["me"] = false })
	w.change(func() { w.now = w.now.Add(preview.DefaultAge) })
	if status, _, _ := me.call("GET", "/", "", nil); status != http.StatusForbidden {
		t.Errorf("after its time a preview answers with %d", status)
	}
	late, err := w.proxy.Open("me", "s-1", 3000)
	if err != nil {
		t.Fatal(err)
	}
	w.change(func() { w.now = w.now.Add(preview.CodeAge) })
	if w.enter(late) != nil {
		t.Error("a code does not expire")
	}
	again := w.open("me", "s-1", 3000)
	w.proxy.Forget("s-1")
	if again.looks() {
		t.Error("the preview of a session that is gone still opens")
	}
	w.proxy.Close()
	if _, err := w.proxy.Open("me", "s-1", 3000); !errors.Is(err, preview.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// TestProxy_owned checks that the port is checked for each request.
func TestProxy_owned(t *testing.T) {
	w := newWorld(t, named)
	me := w.open("me", "s-1", 3000)
	if !me.looks() {
		t.Fatal("it does not open")
	}
	w.change(func() { w.owned = false })
	if status, _, text := me.call("GET", "/", "", nil); status != http.StatusBadGateway || strings.Contains(text, "not the session's") {
		t.Errorf("after the port went to another: %d %s", status, text)
	}
	w.change(func() { w.owned = true })
	if !me.looks() {
		t.Error("the server is back, and is not shown")
	}
}

// TestProxy_foreign checks that other pages cannot use the visitor's cookie.
func TestProxy_foreign(t *testing.T) {
	w := newWorld(t, named)
	me := w.open("me", "s-1", 3000)
	other := w.open("me", "s-2", 3000)
	navigate := map[string]string{"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
	for name, test := range map[string]struct {
		method string
		header map[string]string
		want   int
	}{
		"own page":                       {"POST", map[string]string{"Origin": me.origin, "Sec-Fetch-Site": "same-origin"}, 200},
		"a step from elsewhere":          {"GET", merge(navigate, "Sec-Fetch-Site", "cross-site"), 200},
		"a step from a neighbour":        {"GET", merge(navigate, "Sec-Fetch-Site", "same-site"), 200},
		"typed":                          {"GET", merge(navigate, "Sec-Fetch-Site", "none"), 200},
		"Parley's page":                  {"POST", map[string]string{"Origin": "http://localhost:7717"}, 403},
		"another preview":                {"POST", map[string]string{"Origin": other.origin}, 403},
		"another preview, a picture":     {"GET", map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}, 403},
		"another site, a frame":          {"GET", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, 403},
		"another site, a form":           {"POST", merge(navigate, "Sec-Fetch-Site", "cross-site"), 403},
		"no origin at all":               {"POST", map[string]string{"Origin": "null"}, 403},
		"an origin in another spelling":  {"POST", map[string]string{"Origin": me.origin + "."}, 403},
		"a socket that names none":       {"GET", map[string]string{"Connection": "Upgrade", "Upgrade": "websocket"}, 403},
		"a socket of another page":       {"GET", map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Origin": other.origin}, 403},
		"another site, a script's fetch": {"GET", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Origin": "https://evil.example"}, 403},
	} {
		if status, _, _ := me.call(test.method, "/", "", test.header); status != test.want {
			t.Errorf("%s: %d, want %d", name, status, test.want)
		}
	}
}

func merge(m map[string]string, name, value string) map[string]string {
	all := map[string]string{name: value}
	for k, v := range m {
		all[k] = v
	}
	return all
}

// TestProxy_request checks the request at the server: its own name and cookies, and no data of
// Parley or of the client.
func TestProxy_request(t *testing.T) {
	w := newWorld(t, named)
	me := w.open("me", "s-1", 3000)
	status, _, text := me.call("POST", "/a/b?c=d", "the body", map[string]string{
		"Cookie": "parley_0011=page; own=1; __Host-parley_preview_x=2", "Authorization": "Bearer pt_1_x", "Origin": me.origin, "Referer": me.origin + "/x?y",
		"X-Forwarded-For": "9.9.9.9", "X-Real-Ip": "9.9.9.9", "Forwarded": "for=9.9.9.9", "Proxy-Authorization": "Basic x", "X-Own": "1",
	})
	var got seen
	if err := json.Unmarshal([]byte(text), &got); status != http.StatusOK || err != nil {
		t.Fatalf("%d %s; want status == http.StatusOK and err == nil", status, text)
	}
	if got.Host != "localhost:3000" || got.Path != "/a/b?c=d" || got.Body != "the body" {
		t.Errorf("the request is %+v", got)
	}
	for name, want := range map[string]string{"Cookie": "own=1", "Authorization": "", "Origin": "http://localhost:3000", "Referer": "http://localhost:3000/x?y", "X-Own": "1",
		"X-Forwarded-For": "", "X-Real-Ip": "", "Forwarded": "", "Proxy-Authorization": ""} {
		if value := got.Header.Get(name); value != want {
			t.Errorf("%s is %q, want %q", name, value, want)
		}
	}
	for value, want := range map[string]string{"Basic dTpw": "", "bearer  pt_1_x": "", "Bearer eyJ": "Bearer eyJ"} {
		_, _, text := me.call("GET", "/", "", map[string]string{"Authorization": value, "Referer": "http://localhost:7717/secret"})
		var got seen
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Header.Get("Authorization") != want || got.Header.Get("Referer") != "" {
			t.Errorf("%s came as %q, %v", value, got.Header.Get("Authorization"), err)
		}
	}
}

// TestProxy_answer checks the response at the browser: no cookie with Parley's name, no header that
// applies to other origins, no frames, and redirects that stay.
func TestProxy_answer(t *testing.T) {
	w := newWorld(t, named)
	me := w.open("me", "s-1", 3000)
	_, header, _ := me.call("GET", "/hostile", "", nil)
	if got := strings.Join(header["Set-Cookie"], " | "); got != "own=1; Path=/" {
		t.Errorf("the cookies are %q", got)
	}
	for name, want := range map[string]string{"Strict-Transport-Security": "", "Clear-Site-Data": "", "Alt-Svc": "", "Nel": "", "X-Frame-Options": "SAMEORIGIN",
		"Cross-Origin-Resource-Policy": "same-origin"} {
		if got := strings.Join(header[name], ", "); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := strings.Join(header["Content-Security-Policy"], " | "); got != "script-src 'self' | frame-ancestors 'self'" {
		t.Errorf("the policies are %q", got)
	}
	for to, want := range map[string]string{
		"/x": "/x", "http://localhost:3000/x?y=1": "/x?y=1", "http://127.0.0.1:3000": "/", "http://localhost:3001/x": "http://localhost:3001/x",
		"https://example.com/": "https://example.com/", "http://localhost:3000//evil.example/": "/evil.example/",
	} {
		if _, header, _ := me.call("GET", "/away?to="+url.QueryEscape(to), "", nil); header.Get("Location") != want {
			t.Errorf("a redirect to %s leads to %s, want %s", to, header.Get("Location"), want)
		}
	}
}

// TestProxy_stream checks that an event stream is forwarded while it is open, and ends with the
// access.
func TestProxy_stream(t *testing.T) {
	w := newWorld(t, named)
	me := w.open("me", "s-1", 3000)
	resp := me.stream()
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	line, err := lines.ReadString('\n')
	if err != nil || line != "data: first\n" {
		t.Fatalf("the stream says %q, %v", line, err)
	}
	w.change(func() { w.refused["me"] = true })
	w.proxy.Recheck()
	for err == nil {
		_, err = lines.ReadString('\n')
	}
	if resp.Request.Context().Err() != nil {
		t.Error("the stream did not end with the right to it")
	}
}

// TestProxy_socket checks that a WebSocket works in both directions, and ends with the proxy.
func TestProxy_socket(t *testing.T) {
	w := newWorld(t, named)
	me := w.open("me", "s-1", 3000)
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	c, _, err := websocket.Dial(ctx, strings.Replace(me.origin, "http:", "ws:", 1)+"/socket", &websocket.DialOptions{
		HTTPClient: w.client, HTTPHeader: http.Header{"Cookie": {me.cookie}, "Origin": {me.origin}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	if err := c.Write(ctx, websocket.MessageText, []byte("hot")); err != nil {
		t.Fatal(err)
	}
	if _, data, err := c.Read(ctx); err != nil || string(data) != "echo hot" {
		t.Fatalf("the socket says %q, %v", data, err)
	}
	w.proxy.Close() // waits for it
	if _, _, err := c.Read(ctx); err == nil || ctx.Err() != nil {
		t.Errorf("the socket outlives the proxy: %v", err)
	}
}

// TestProxy_bounds checks the limits of bodies and of concurrent requests.
func TestProxy_bounds(t *testing.T) {
	w := newWorld(t, named, func(o *preview.Options) { o.MaxBody, o.MaxRequests = 100, 1 })
	me := w.open("me", "s-1", 3000)
	if status, _, _ := me.call("POST", "/", strings.Repeat("x", 101), map[string]string{"Origin": me.origin}); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a body over the bound: %d", status)
	}
	if status, _, _ := me.call("POST", "/", strings.Repeat("x", 100), map[string]string{"Origin": me.origin}); status != http.StatusOK {
		t.Errorf("a body of the bound: %d", status)
	}
	defer me.stream().Body.Close()
	if status, _, _ := me.call("GET", "/", "", nil); status != http.StatusServiceUnavailable {
		t.Errorf("a second request at once: %d", status)
	}
}

// TestProxy_ports checks previews with a port each: their number, and that their cookies are
// separate.
func TestProxy_ports(t *testing.T) {
	w := newWorld(t, "http://192.168.1.5:7720-7721")
	one, two := w.open("me", "s-1", 3000), w.open("me", "s-2", 3000)
	if one.origin == two.origin || !one.looks() || !two.looks() {
		t.Fatalf("the origins are %s and %s", one.origin, two.origin)
	}
	if _, err := w.proxy.Open("me", "s-3", 3000); !errors.Is(err, preview.ErrFull) {
		t.Errorf("a third preview: %v", err)
	}
	_, header, _ := one.call("GET", "/hostile", "", nil)
	set, _, _ := strings.Cut(header.Get("Set-Cookie"), ";")
	if !strings.HasSuffix(set, "_own=1") || !strings.Contains(header.Get("Set-Cookie"), "HttpOnly") || len(header["Set-Cookie"]) != 1 {
		t.Fatalf("the cookies are %v", header["Set-Cookie"])
	}
	for v, want := range map[*visitor]string{one: "own=1", two: ""} {
		_, _, text := v.call("GET", "/", "", map[string]string{"Cookie": set + "; own=2; parley_0011=page"})
		var got seen
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Header.Get("Cookie") != want {
			t.Errorf("the server of %s gets the cookie %q, want %q", v.origin, got.Header.Get("Cookie"), want)
		}
	}
	if (&visitor{w, two.origin, one.cookie}).looks() {
		t.Error("the cookie of one port opens another")
	}
	w.change(func() { w.now = w.now.Add(preview.DefaultAge) })
	if _, err := w.proxy.Open("me", "s-3", 3000); err != nil {
		t.Errorf("when the others have ended: %v", err)
	}
}

// TestProxy_https checks that cookies are restricted to TLS if the origins are.
func TestProxy_https(t *testing.T) {
	w := newWorld(t, "https://*.preview.example.org")
	address, err := w.proxy.Open("me", "s-1", 3000)
	if err != nil {
		t.Fatal(err)
	}
	_, header, _ := w.do("GET", address, "", nil)
	cookie := header.Get("Set-Cookie")
	if !strings.HasPrefix(cookie, "__Host-parley_preview_") || !strings.Contains(cookie, "; Secure") || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Lax") {
		t.Errorf("the cookie is %s", cookie)
	}
}

func TestParseOrigins(t *testing.T) {
	for text, want := range map[string]string{
		"http://*.localhost:7718": "http://*.localhost:7718", "https://*.Preview.example.org/": "https://*.preview.example.org", "https://x.example:443": "https://x.example",
		"http://192.168.1.5:7720-7727": "http://192.168.1.5:7720-7727", "http://[::1]:7720-7721": "http://[::1]:7720-7721", "http://[fd00::1]": "http://[fd00::1]",
		"": "", "localhost": "", "ftp://x": "", "http://": "", "http://*": "", "http://*.": "", "http://a.*.b": "", "http://x/y": "", "http://u@x": "", "http://x?y": "",
		"http://x:0": "", "http://x:70000": "", "http://x:2-1": "", "http://x:1-64": "http://x:1-64", "http://x:1-65": "", "http://x:1-65535": "", "http://*.x:1-2": "", "http://x:y": "",
	} {
		o, err := preview.ParseOrigins(text)
		got := ""
		if err == nil {
			got = o.String()
		}
		if got != want {
			t.Errorf("%q is %q, want %q (%v)", text, got, want, err)
		}
	}
}

func FuzzParseOrigins(f *testing.F) {
	f.Add("http://*.localhost:7718")
	f.Add("http://[::1]:7720-7721")
	f.Fuzz(func(t *testing.T, text string) {
		o, err := preview.ParseOrigins(text)
		if err != nil {
			return
		}
		if again, err := preview.ParseOrigins(o.String()); err != nil || again.String() != o.String() {
			t.Errorf("%q is %q, and that is %q, %v", text, o, again, err)
		}
	})
}
