package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/seed7221b0f9/parley/server/api"
)

// opened holds the connections of a token: each must end with it.
type opened struct {
	socket *wire
	closed map[string]<-chan error
}

// open opens a socket that follows a session, an idle one, a stream and a poll.
func (h *harness) open(token, session string) *opened {
	h.Helper()
	o := &opened{socket: h.dial(token), closed: map[string]<-chan error{}}
	if _, err := o.socket.call("session.attach", api.AttachParams{SessionID: session}); err != nil {
		h.Fatalf("session.attach: %+v", err)
	}
	idle := h.dial(token)
	o.closed["socket"] = ended(func(ctx context.Context) error { _, _, err := idle.conn.Read(ctx); return err })
	for name, query := range map[string]string{"stream": "", "poll": "?wait=50&after=" + h.cursor(session)} {
		req, err := http.NewRequestWithContext(h.ctx(), http.MethodGet, h.url+"/v1/sessions/"+session+"/events"+query, nil)
		if err != nil {
			h.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		begun := make(chan struct{})
		o.closed[name] = ended(func(context.Context) error {
			if name == "poll" {
				close(begun)
			}
			resp, err := http.DefaultClient.Do(req)
			if name == "stream" {
				close(begun)
			}
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			_, err = io.Copy(io.Discard, resp.Body)
			if name == "poll" && resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusTooManyRequests {
				return fmt.Errorf("the poll has the status %d, want a refusal", resp.StatusCode)
			}
			return err
		})
		<-begun
	}
	return o
}

// cursor returns the position after the last event of a session.
func (h *harness) cursor(session string) string {
	h.Helper()
	var a api.AttachResult
	w := h.dial(h.token)
	data, err := w.call("session.attach", api.AttachParams{SessionID: session})
	if err != nil {
		h.Fatalf("session.attach: %+v", err)
	}
	if err := json.Unmarshal(data, &a); err != nil {
		h.Fatal(err)
	}
	return fmt.Sprintf("%s:%d.%d", a.Cursor.Epoch, a.Cursor.Seq, a.Cursor.Sub)
}

// ended runs f and reports its end.
func ended(f func(context.Context) error) <-chan error {
	done := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		defer cancel()
		done <- f(ctx)
	}()
	return done
}

// TestRevoked checks that sockets, streams and polls end with their token, cookie or link, for every kind of end.
func TestRevoked(t *testing.T) {
	for name, end := range map[string]func(h *harness, session, id, value string){
		"revoked": func(h *harness, _, id, _ string) { h.call("tokens.revoke", api.TokensRevokeParams{ID: id}, nil) },
		"expired": func(h *harness, _, id, _ string) { // like the timer
			tk := &h.server.tokens.all[h.server.tokens.place[id]]
			h.server.tokens.mu.Lock()
			tk.Expires = h.server.tokens.now().Add(20 * time.Millisecond)
			h.server.tokens.await()
			h.server.tokens.mu.Unlock()
		},
		"link": func(h *harness, _, id, _ string) { h.call("share.revoke", api.ShareRevokeParams{ID: id}, nil) },
		"deleted": func(h *harness, session, _, _ string) {
			h.call("session.delete", api.SessionRef{SessionID: session}, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			session := h.connect()
			role := "operator"
			tk := token{Name: "x", Role: role}
			if name == "link" || name == "deleted" {
				tk.Session, tk.Role = session, "viewer"
			}
			tk, value, err := h.server.tokens.create(tk, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			o := h.open(value, session)
			other := h.open(h.token, session)
			end(h, session, tk.ID, value)
			for kind, done := range o.closed {
				select {
				case err := <-done:
					if err != nil && kind == "poll" && name != "deleted" { // the poll returns the end of the session
						t.Error(err)
					}
					if code := websocket.CloseStatus(err); kind == "socket" && code != websocket.StatusPolicyViolation {
						t.Errorf("the socket ended with %v, want a policy violation", err)
					}
				case <-time.After(wait):
					t.Errorf("the %s has not ended", kind)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			defer cancel()
			for ctx.Err() == nil { // messages in transit
				if _, _, err := o.socket.conn.Read(ctx); err != nil {
					break
				}
			}
			if ctx.Err() != nil {
				t.Error("the socket that follows a session has not ended")
			}
			if name != "deleted" {
				if _, err := other.socket.call("session.list", api.Empty{}); err != nil {
					t.Errorf("the socket of another token: %+v", err)
				}
			}
		})
	}
}

// TestRevoked_call checks that a call on an open socket uses the current access of the token, not
// that at the time of connecting.
func TestRevoked_call(t *testing.T) {
	h := newHarness(t)
	for name, change := range map[string]func(*token){
		"gone": nil, "another role": func(tk *token) { tk.Role = "viewer" }, "another tenant": func(tk *token) { tk.Tenant = "acme" },
		"another session": func(tk *token) { tk.Session = "s-1" },
	} {
		tk, value, err := h.server.tokens.create(token{Role: "admin"}, 0)
		if err != nil {
			t.Fatal(err)
		}
		p, err := h.server.tokens.check(value, "")
		if err != nil {
			t.Fatal(err)
		}
		if change == nil {
			if err := h.server.tokens.revoke(tk.ID); err != nil {
				t.Fatal(err)
			}
		} else {
			h.server.tokens.mu.Lock()
			change(&h.server.tokens.all[h.server.tokens.place[tk.ID]])
			h.server.tokens.mu.Unlock()
		}
		for _, m := range methods {
			if _, err := h.server.call(t.Context(), &caller{principal: p}, m.name, nil); !errors.Is(err, errToken) {
				t.Errorf("%s with a token that is %s: %v, want a refusal", m.name, name, err)
			}
		}
	}
}

// TestExchange checks that a cookie has the access of its token and ends with it.
func TestExchange(t *testing.T) {
	dir := t.TempDir()
	tokens, err := openTokens(filepath.Join(dir, tokensName))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	tokens.now = func() time.Time { return now }
	tk, value, err := tokens.create(token{Name: "n", Role: "operator", Tenant: "acme", Session: "s-1", Account: "payer"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	cookie, age, err := tokens.exchange(value, "")
	if err != nil || age != time.Hour {
		t.Fatalf("exchange: %v, %v", age, err)
	}
	again, err := openTokens(filepath.Join(dir, tokensName)) // after a restart
	if err != nil {
		t.Fatal(err)
	}
	again.now = tokens.now
	p, err := again.check(cookie, "")
	if err != nil || p.name != "n" || p.role != roleOperator || p.tenant != "acme" || p.session != "s-1" || p.account != "payer" || !p.cookie {
		t.Errorf("the cookie is of %+v, %v", p, err)
	}
	now = now.Add(time.Hour)
	if _, err := again.check(cookie, ""); err == nil {
		t.Error("a cookie outlives its token")
	}
	now = now.Add(-time.Minute)
	if err := again.revoke(tk.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := again.check(cookie, ""); err == nil {
		t.Error("the cookie of a revoked token is valid")
	}
}

// TestExchange_refused checks that only tokens of people have cookies: a cookie of a cookie would outlive the token.
func TestExchange_refused(t *testing.T) {
	all := newTokens(filepath.Join(t.TempDir(), tokensName))
	cookie, _, err := all.exchange(all.begin(), "")
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{"a cookie": cookie}
	for name, tk := range map[string]token{"an agent": {Role: "operator", AgentOf: "s-1"}, "a machine": {Role: "host"}, "an expired token": {Role: "viewer", Expires: time.Now()}} {
		_, value, err := all.create(tk, 0)
		if err != nil {
			t.Fatal(err)
		}
		values[name] = value
	}
	for name, value := range values {
		if got, _, err := all.exchange(value, ""); !errors.Is(err, errToken) {
			t.Errorf("%s is exchanged for %q, %v; want a refusal", name, got, err)
		}
	}
}

// TestTokens_begin checks that replacing the token of the process ends the old token with its
// cookies and connections.
func TestTokens_begin(t *testing.T) {
	all := newTokens(filepath.Join(t.TempDir(), tokensName))
	first := all.begin()
	cookie, _, err := all.exchange(first, "")
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	all.ended = func() { told++ }
	var held []context.Context
	for _, value := range []string{first, cookie} {
		p, err := all.check(value, "")
		if err != nil {
			t.Fatal(err)
		}
		ctx, release := all.hold(t.Context(), p)
		defer release()
		held = append(held, ctx)
	}
	second := all.begin()
	for i, value := range []string{first, cookie} {
		if _, err := all.check(value, ""); !errors.Is(err, errToken) || !errors.Is(context.Cause(held[i]), errToken) {
			t.Errorf("after the next start the check of value %d returns %v, and its connection has ended with %v; want %v", i, err, context.Cause(held[i]), errToken)
		}
	}
	if _, err := all.check(second, ""); err != nil || told != 1 {
		t.Errorf("the new token: %v; %d ends were reported, want 1", err, told)
	}
}

// TestExchange_fields checks that a cookie has every access right and limit of its token, by
// comparing each field.
func TestExchange_fields(t *testing.T) {
	tokens, err := openTokens(filepath.Join(t.TempDir(), tokensName))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	tokens.now = func() time.Time { return now }
	own := []string{"ID", "Hash", "Parent", "Created", "Expires", "AgentOf"} // agents get no cookies
	made := token{Role: roleViewer.String()}
	fields := reflect.TypeFor[token]()
	for i := range fields.NumField() {
		if f := reflect.ValueOf(&made).Elem().Field(i); f.Kind() == reflect.String && f.String() == "" && !slices.Contains(own, fields.Field(i).Name) {
			f.SetString("own " + fields.Field(i).Name)
		}
	}
	tk, value, err := tokens.create(made, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	cookie, _, err := tokens.exchange(value, made.Port)
	if err != nil {
		t.Fatal(err)
	}
	p, err := tokens.check(cookie, made.Port)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := tokens.find(p.id)
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		was, is := reflect.ValueOf(tk).Field(i).Interface(), reflect.ValueOf(got).Field(i).Interface()
		if !slices.Contains(own, name) && was != is {
			t.Errorf("%s is %v of the cookie, %v of its token", name, is, was)
		}
	}
	if got.Parent != tk.ID || got.Expires.After(tk.Expires) {
		t.Errorf("the cookie is of %q until %v, want %q until %v", got.Parent, got.Expires, tk.ID, tk.Expires)
	}
	want := principal{id: got.ID, name: made.Name, account: made.Account, tenant: made.Tenant, role: roleViewer, session: made.Session, cookie: true}
	if *p != want {
		t.Errorf("its holder is %+v, want %+v", *p, want)
	}
}

// TestPrintedToken_notStored checks that a server that cannot store its tokens prints a token that
// is valid until the server ends.
func TestPrintedToken_notStored(t *testing.T) {
	h := newHarness(t)
	path := filepath.Join(h.opts.Dir, tokensName)
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	value, err := h.server.PrintedToken(&net.TCPAddr{Port: 7717})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := h.server.tokens.check(value, "7717"); err != nil || p.role != roleAdmin {
		t.Errorf("the printed token is that of %+v, %v, want an admin", p, err)
	}
	if !strings.Contains(h.logs.String(), "cannot be stored") {
		t.Errorf("the log has no warning:\n%s", h.logs)
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// TestPrintedToken checks that the printed token and its cookies are valid after a crash at the same port, and end when the server is
// stopped.
func TestPrintedToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), tokensName)
	open := func() *tokens {
		t.Helper()
		tokens, err := openTokens(path)
		if err != nil {
			t.Fatal(err)
		}
		return tokens
	}
	first := open()
	value, err := first.print("7717")
	if err != nil {
		t.Fatal(err)
	}
	cookie, _, err := first.exchange(value, "7717")
	if err != nil {
		t.Fatal(err)
	}
	crashed := open()
	next, err := crashed.print("7717")
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]string{"token": value, "cookie": cookie, "new token": next} {
		p, err := crashed.check(v, "7717")
		if err != nil || p.role != roleAdmin || p.account != ownerAccount {
			t.Errorf("the %s after a crash: %+v, %v", name, p, err)
		}
		if _, err := crashed.check(v, "7718"); err == nil {
			t.Errorf("the %s is valid at another port", name)
		}
	}
	for range maxPrinted {
		if _, err := open().print("7717"); err != nil {
			t.Fatal(err)
		}
	}
	for name, v := range map[string]string{"token": value, "cookie": cookie} {
		if _, err := open().check(v, "7717"); err == nil {
			t.Errorf("the %s is valid after %d crashes", name, maxPrinted+1)
		}
	}
	other, _, err := open().create(token{Role: "viewer"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := open().endPrinted(); err != nil {
		t.Fatal(err)
	}
	if list := open().list(); len(list) != 1 || list[0].ID != other.ID {
		t.Errorf("after a stop on purpose there are %+v, want the token that was not printed", list)
	}
}

// TestTokens_end checks that no data of an ended token and its cookies is left.
func TestTokens_end(t *testing.T) {
	for name, end := range map[string]func(*tokens, token) error{
		"revoked": func(all *tokens, tk token) error { return all.revoke(tk.ID) },
		"deleted": func(all *tokens, tk token) error { return all.forget(tk.Session) },
		"too many": func(all *tokens, tk token) error {
			for range maxPrinted {
				if _, err := all.print(tk.Port); err != nil {
					return err
				}
			}
			_, err := all.remove(func(old token) bool { return old.Name != tk.Name })
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := openTokens(filepath.Join(t.TempDir(), tokensName))
			if err != nil {
				t.Fatal(err)
			}
			tk, value, err := all.create(token{Name: "n", Role: "admin", Session: "s-1", Port: "1"}, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			cookie, _, err := all.exchange(value, "1")
			if err != nil {
				t.Fatal(err)
			}
			p, err := all.check(cookie, "1")
			if err != nil {
				t.Fatal(err)
			}
			held, release := all.hold(t.Context(), p)
			defer release()
			if err := end(all, tk); err != nil {
				t.Fatal(err)
			}
			if !errors.Is(context.Cause(held), errToken) {
				t.Errorf("the connection of the cookie has ended with %v, want %v", context.Cause(held), errToken)
			}
			if late, release := all.hold(t.Context(), p); !errors.Is(context.Cause(late), errToken) {
				t.Error("a connection that is opened late stays")
				release()
			}
			again, err := openTokens(all.path)
			if err != nil || len(again.all) != 0 || len(all.all) != 0 || len(all.used) != 0 || len(all.held) != 0 {
				t.Errorf("the file has %d tokens, %v; the memory %d, with %d uses and %d connections; want none", len(again.all), err, len(all.all), len(all.used), len(all.held))
			}
		})
	}
}

// TestTokens_expiry checks that every expiring token ends its connections at the right time, and
// that each end is reported.
func TestTokens_expiry(t *testing.T) {
	path := filepath.Join(t.TempDir(), tokensName)
	synctest.Test(t, func(t *testing.T) {
		all := newTokens(path)
		var ended atomic.Int64
		stop := all.watch(func() { ended.Add(1) })
		defer stop()
		var held []context.Context
		for _, age := range []time.Duration{2 * time.Hour, 0, time.Hour, 3 * time.Hour} {
			tk, _, err := all.create(token{Role: "viewer"}, age)
			if err != nil {
				t.Fatal(err)
			}
			ctx, release := all.hold(t.Context(), &principal{id: tk.ID})
			defer release()
			held = append(held, ctx)
		}
		for hour, want := range [][]bool{{false, false, false, false}, {false, false, true, false}, {true, false, true, false}, {true, false, true, true}} {
			synctest.Wait()
			for i, ctx := range held {
				if got := ctx.Err() != nil; got != want[i] || ended.Load() != int64(hour) {
					t.Errorf("after %d hours connection %d has ended: %v, and %d ends were reported; want %v and %d", hour, i, got, ended.Load(), want[i], hour)
				}
			}
			<-time.After(time.Hour)
		}
	})
}

// TestTokens_holds checks the role that belongs to the id of a token; a link to a session has no
// role.
func TestTokens_holds(t *testing.T) {
	all := newTokens(filepath.Join(t.TempDir(), tokensName))
	for _, tt := range []struct {
		tk   token
		want role
	}{{token{Role: "viewer"}, roleViewer}, {token{Role: "operator"}, roleOperator}, {token{Role: "admin"}, roleAdmin}, {token{Role: "admin", Session: "s-1"}, roleNone}, {token{Role: "root"}, roleNone}} {
		tk, _, err := all.create(tt.tk, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := all.holds(tk.ID); got != tt.want {
			t.Errorf("%+v holds %s, want %s", tt.tk, got, tt.want)
		}
	}
	if got := all.holds(""); got != roleNone {
		t.Errorf("nobody holds %s", got)
	}
}

// TestBody_limits checks the limits of a body before the caller is known, and afterwards by role
// and method.
func TestBody_limits(t *testing.T) {
	h := newHarness(t)
	viewer, err := h.server.CreateToken("v", "viewer", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, path, token string
		size              int64
		chunked           bool
		want              int
	}{
		{"login", "/v1/login", "", 1 << 30, false, http.StatusRequestEntityTooLarge},
		{"login, size unknown", "/v1/login", "", 1 << 30, true, http.StatusRequestEntityTooLarge},
		{"login, small", "/v1/login", "", 60 << 10, false, http.StatusUnauthorized},
		{"nobody", "/v1/session.list", "", 1 << 30, true, http.StatusUnauthorized},
		{"wrong token", "/v1/session.list", "pt_a_b", 1 << 30, true, http.StatusUnauthorized},
		{"viewer", "/v1/session.list", viewer, 65 << 10, true, http.StatusRequestEntityTooLarge},
		{"viewer, refused method", "/v1/session.query", viewer, 1 << 30, true, http.StatusForbidden},
		{"admin", "/v1/session.list", h.token, 65 << 10, true, http.StatusOK},
		{"nobody", "/v1/agui", "", 1 << 30, true, http.StatusUnauthorized},
		{"viewer", "/v1/agui", viewer, 1 << 30, true, http.StatusForbidden},
		{"viewer", "/v1/aisdk", viewer, 1 << 30, true, http.StatusForbidden},
		{"nobody", "/mcp", "", 1 << 30, true, http.StatusUnauthorized},
		{"viewer", "/mcp", viewer, 65 << 10, true, http.StatusRequestEntityTooLarge},
	} {
		text := `{"token":"x","pad":"`
		body := &counted{Reader: io.MultiReader(strings.NewReader(text), &padding{tt.size - int64(len(text)) - 2}, strings.NewReader(`"}`))}
		req, err := http.NewRequestWithContext(h.ctx(), http.MethodPost, h.url+tt.path, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Origin", h.url)
		req.Header.Set("Expect", "100-continue")
		if tt.token != "" {
			req.Header.Set("Authorization", "Bearer "+tt.token)
		}
		if !tt.chunked {
			req.ContentLength = tt.size
		}
		status, _, answer := h.do(req)
		if status != tt.want {
			t.Errorf("%s of %s: status %d, want %d: %.200s", tt.path, tt.name, status, tt.want, answer)
		}
		if tt.want >= 400 && tt.size > 1<<20 && body.n.Load() > lingerMost+10<<20 { // buffered by the system
			t.Errorf("%s of %s: %d bytes were read, want at most %d", tt.path, tt.name, body.n.Load(), lingerMost)
		}
	}
	socket := h.dial(viewer)
	socket.send(`{"jsonrpc":"2.0","id":1,"method":"session.list","params":{"pad":"` + strings.Repeat("x", smallBody) + `"}}`)
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	if _, _, err := socket.conn.Read(ctx); websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
		t.Errorf("a viewer's message of more than 64 KiB: %v", err)
	}
}

// padding is a reader of n letters.
type padding struct{ n int64 }

func (p *padding) Read(b []byte) (int, error) {
	if p.n <= 0 {
		return 0, io.EOF
	}
	n := min(int64(len(b)), p.n)
	for i := range b[:n] {
		b[i] = 'x'
	}
	p.n -= n
	return int(n), nil
}

// counted counts the bytes read. A transport may continue to read after the response.
type counted struct {
	io.Reader
	n atomic.Int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n.Add(int64(n))
	return n, err
}

func TestPlaces(t *testing.T) {
	p := places{max: 2}
	var leave []func()
	enter := func(addr string, want bool) {
		t.Helper()
		l, ok := p.enter(addr)
		if ok != want {
			t.Errorf("%s: %v, want %v", addr, ok, want)
		}
		if ok {
			leave = append(leave, l)
		}
	}
	enter("192.0.2.1", true)
	enter("192.0.2.1", true)
	enter("192.0.2.1", false)
	enter("::ffff:192.0.2.1", false) // the same
	enter("192.0.2.2", true)
	enter("2001:db8::1", true)
	enter("2001:db8::2", true)
	enter("2001:db8::3", false) // one network
	enter("2001:db8:0:1::1", true)
	for range 5 {
		enter("127.0.0.1", true)
		enter("::1", true)
	}
	leave[0]()
	leave[0]()
	enter("192.0.2.1", true)
	enter("192.0.2.1", false)
	for _, l := range leave {
		l()
	}
	if len(p.open) > 0 {
		t.Errorf("places are left: %v", p.open)
	}
}

func TestTries(t *testing.T) {
	now := time.Now()
	tries := tries{now: func() time.Time { return now }}
	for i := range 2 * maxBadTokens {
		if first, more := tries.bad("192.0.2.1"); first != (i == 0) || more != (i < maxBadTokens) {
			t.Errorf("try %d: first %v, more %v", i, first, more)
		}
	}
	if first, more := tries.bad("192.0.2.2"); !first || !more {
		t.Error("another address is refused")
	}
	for i := range 2 * maxBadTokensLocal {
		if _, more := tries.bad("127.0.0.1"); more != (i < maxBadTokensLocal) {
			t.Errorf("loopback, try %d: more %v", i, more)
		}
	}
	now = now.Add(maxBadTokensWindow)
	if first, more := tries.bad("192.0.2.1"); !first || !more {
		t.Error("an address is refused after a minute")
	}
	for i := range 2 * maxAddressesTries {
		tries.bad(fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255))
	}
	if len(tries.count) > maxAddressesTries {
		t.Errorf("%d addresses are kept", len(tries.count))
	}
}

// TestBadTokens checks that wrong tokens are counted and logged by the client address that a
// trusted proxy reports.
func TestBadTokens(t *testing.T) {
	h := newHarness(t, func(o *Options) { o.TrustedProxies = []string{"127.0.0.1"} })
	try := func(forwarded, token string) int {
		t.Helper()
		status, _, _ := h.do(h.request(func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("X-Forwarded-For", forwarded)
		}))
		return status
	}
	for i := range maxBadTokens {
		if got := try("192.0.2.1", "pt_a_b"); got != http.StatusUnauthorized {
			t.Errorf("wrong token %d: status %d", i+1, got)
		}
	}
	if got := try("192.0.2.1", "pt_a_b"); got != http.StatusTooManyRequests {
		t.Errorf("one more: status %d", got)
	}
	if got := try("192.0.2.2", "pt_a_b"); got != http.StatusUnauthorized {
		t.Errorf("another address: status %d", got)
	}
	if got := try("192.0.2.1", h.token); got != http.StatusOK {
		t.Errorf("a right token from there: status %d", got)
	}
	if n := strings.Count(h.logs.String(), "a request was refused"); n != 2 {
		t.Errorf("%d lines in the log, want one for each address:\n%s", n, h.logs.String())
	}
}

// TestBadTokens_places checks that wrong tokens count wherever they are sent: in a header, as a cookie, and to log in or to pair a device.
func TestBadTokens_places(t *testing.T) {
	h := newHarness(t)
	handler := h.server.Handler()
	for i, tt := range []struct{ name, path, header, value, body string }{
		{"a bearer token", "/v1/hello", "Authorization", "Bearer pt_a_b", "{}"},
		{"a cookie", "/v1/hello", "Cookie", h.server.filter.cookie + "=pt_a_b", "{}"},
		{"a login", "/v1/login", "", "", `{"token":"pt_a_b"}`},
		{"a pairing code", "/v1/pair", "", "", `{"code":"wrong"}`},
	} {
		for n := 1; n <= maxBadTokens+1; n++ {
			r := httptest.NewRequest(http.MethodPost, tt.path, strings.NewReader(tt.body))
			r.Host, r.RemoteAddr = "localhost", fmt.Sprintf("192.0.2.%d:1", i+1)
			r.Header.Set("Content-Type", "application/json")
			if tt.header != "" {
				r.Header.Set(tt.header, tt.value)
			}
			want := http.StatusUnauthorized
			if n > maxBadTokens {
				want = http.StatusTooManyRequests
			}
			w := httptest.NewRecorder()
			if handler.ServeHTTP(w, r); w.Code != want {
				t.Errorf("%s: try %d has the status %d, want %d: %s", tt.name, n, w.Code, want, w.Body)
			}
		}
	}
}
