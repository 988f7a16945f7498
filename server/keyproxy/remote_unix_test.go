//go:build unix

package keyproxy_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/internal/usersocket"
	"github.com/seed7221b0f9/parley/server/keyproxy"
)

// remoteWorld runs the process of a proxy as goroutines of the test, which stop ends.
type remoteWorld struct {
	*testing.T
	path    string
	api     *httptest.Server
	starts  int
	running sync.WaitGroup
	stop    context.CancelFunc
}

// newRemoteWorld starts an API that responds with the key of each request.
func newRemoteWorld(t *testing.T) *remoteWorld {
	w := &remoteWorld{T: t, path: filepath.Join(t.TempDir(), "keys"), stop: func() {}}
	w.api = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) { io.WriteString(out, r.Header.Get("X-Api-Key")) }))
	t.Cleanup(func() { w.kill(); w.api.Close() })
	return w
}

// start starts the process.
func (w *remoteWorld) start(_ context.Context, args, _ []string) error {
	w.starts++
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	ready, failed := make(chan struct{}), make(chan error, 1)
	w.running.Go(func() {
		failed <- keyproxy.ServeControl(ctx, args[1], slog.New(slog.DiscardHandler), func() error { close(ready); return nil })
	})
	select {
	case <-ready:
		return nil
	case err := <-failed:
		return errors.Join(errors.New("the process has ended"), err)
	}
}

// kill ends the process.
func (w *remoteWorld) kill() {
	w.stop()
	w.running.Wait()
}

// open returns a Remote, as a server has it.
func (w *remoteWorld) open(key string) *keyproxy.Remote {
	w.Helper()
	r, err := keyproxy.OpenRemote(w.Context(), keyproxy.RemoteOptions{Path: w.path, Key: key, Upstream: w.api.URL, Start: w.start})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { r.Close() })
	return r
}

func (w *remoteWorld) grant(r *keyproxy.Remote, session string) (string, func()) {
	w.Helper()
	token, revoke, err := r.Grant(session)
	if err != nil {
		w.Fatal(err)
	}
	return token, revoke
}

// key sends a request with a token and returns the key that the API received, or the status of a
// refusal.
func (w *remoteWorld) key(address, token string, dial ...string) string {
	w.Helper()
	transport := &http.Transport{}
	if len(dial) > 0 {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", dial[0])
		}
	}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(w.Context(), "POST", address+"/v1/messages", strings.NewReader("{}"))
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("X-Api-Key", token)
	resp, err := transport.RoundTrip(req)
	if err != nil {
		w.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return resp.Status
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.Fatal(err)
	}
	return string(text)
}

const refused = "401 Unauthorized"

// The tokens of a server work with the next one and its key. They end with the sessions that it takes over; Settle ends the others.
func TestRemote(t *testing.T) {
	w := newRemoteWorld(t)
	first := w.open("key-1")
	if first.URL() != "" || w.starts != 0 {
		t.Errorf("without a grant the proxy has the address %q and %d starts", first.URL(), w.starts)
	}
	kept, _ := w.grant(first, "kept")
	lost, _ := w.grant(first, "lost")
	ended, end := w.grant(first, "ended")
	if got := w.key(first.URL(), kept); got != "key-1" {
		t.Errorf("the API got %q, want key-1", got)
	}
	door, err := first.Door()
	if err != nil {
		t.Fatal(err)
	}
	if got := w.key(first.URL(), kept, door); got != "key-1" {
		t.Errorf("through the door the API got %q, want key-1", got)
	}
	end()
	if got := w.key(first.URL(), ended); got != refused {
		t.Errorf("a revoked token is answered by %q", got)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}

	second := w.open("key-2")
	if second.URL() != first.URL() || w.starts != 1 {
		t.Errorf("the second server has the address %s and %d starts, want %s and 1", second.URL(), w.starts, first.URL())
	}
	fresh, revoke := w.grant(second, "kept")
	second.Settle()
	for token, want := range map[string]string{kept: "key-2", fresh: "key-2", lost: refused, "": refused} {
		if got := w.key(second.URL(), token); got != want {
			t.Errorf("a token is answered by %q, want %q", got, want)
		}
	}
	revoke()
	for _, token := range []string{kept, fresh} {
		if got := w.key(second.URL(), token); got != refused {
			t.Errorf("after the end of the session its token is answered by %q", got)
		}
	}
}

// A dead process is restarted by the next grant. Revoking a token that ended with it starts no process.
func TestRemote_died(t *testing.T) {
	w := newRemoteWorld(t)
	r := w.open("key")
	_, revoke := w.grant(r, "one")
	w.kill()
	if left, err := filepath.Glob(w.path + "*"); err != nil || len(left) > 0 {
		t.Errorf("the process leaves %v, %v", left, err)
	}
	revoke()
	if w.starts != 1 {
		t.Errorf("there were %d starts, want 1", w.starts)
	}
	token, _ := w.grant(r, "two")
	if got := w.key(r.URL(), token); got != "key" || w.starts != 2 {
		t.Errorf("after %d starts the API got %q, want 2 and key", w.starts, got)
	}
}

// TestRemote_unusable checks that a file that names no socket, and a process of another version,
// are replaced.
func TestRemote_unusable(t *testing.T) {
	for name, prepare := range map[string]func(w *remoteWorld){
		"damaged": func(w *remoteWorld) {
			if err := os.WriteFile(w.path, []byte("{"), 0o600); err != nil {
				w.Fatal(err)
			}
		},
		"another version": func(w *remoteWorld) {
			l, err := usersocket.Listen(w.path)
			if err != nil {
				w.Fatal(err)
			}
			w.running.Go(func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					io.WriteString(c, `{"version":99,"url":"http://127.0.0.1:9"}`+"\n")
					io.Copy(io.Discard, c)
					c.Close()
				}
			})
			w.Cleanup(func() { l.Close() })
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRemoteWorld(t)
			prepare(w)
			r := w.open("key")
			token, _ := w.grant(r, "one")
			if got := w.key(r.URL(), token); got != "key" || w.starts != 1 {
				t.Errorf("after %d starts the API got %q, want 1 and key", w.starts, got)
			}
		})
	}
}

// TestRemote_invalid checks the errors for a process that cannot be started and for invalid keys
// and upstreams.
func TestRemote_invalid(t *testing.T) {
	for name, o := range map[string]keyproxy.RemoteOptions{
		"no key": {}, "a key of two words": {Key: "a b"}, "no https": {Key: "k", Upstream: "http://api.example.com"},
	} {
		if r, err := keyproxy.OpenRemote(t.Context(), o); err == nil {
			r.Close()
			t.Errorf("%s: OpenRemote succeeds", name)
		}
	}
	r, err := keyproxy.OpenRemote(t.Context(), keyproxy.RemoteOptions{Path: filepath.Join(t.TempDir(), "keys"), Key: "k",
		Start: func(context.Context, []string, []string) error { return os.ErrPermission }})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Grant("s"); !errors.Is(err, os.ErrPermission) {
		t.Errorf("Grant without a process returns %v, want that of Start", err)
	}
}

// TestControl_invalid checks that the process responds to invalid requests with an error and keeps
// running.
func TestControl_invalid(t *testing.T) {
	w := newRemoteWorld(t)
	if err := w.start(t.Context(), []string{"", w.path}, nil); err != nil {
		t.Fatal(err)
	}
	ask := func(line string) string {
		t.Helper()
		conn, err := usersocket.Dial(t.Context(), w.path)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, line+"\n"); err != nil {
			t.Fatal(err)
		}
		if err := conn.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(conn)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	id := strings.Repeat("ab", 32)
	for _, c := range []struct{ line, want string }{
		{`{"grant":{"id":"` + id + `","session":"s"}}`, "the key is empty"},
		{`{"open":true}`, "the key is empty"},
		{`{"open":true,"key":"k","upstream":"ftp://x"}`, "not an https address"},
		{`{"open":true,"key":"k"}`, `"version":2`},
		{`{"grant":{"id":"xyz","session":"s"}}`, "the id of a token"},
		{`{"grant":{"id":"abcd","session":"s"}}`, "invalid length"},
		{`{"grant":{"id":"` + id + `","session":"` + strings.Repeat("s", 300) + `"}}`, "more than 256 bytes"},
		{`{"revoke":["x"]}`, "the id of a token"},
		{`no JSON`, ""},
		{`{"grant":{"id":"` + id + `","session":"s"}}`, "{}"},
		{`{"open":true}`, id},
		{`{"revoke":["` + id + `"]}`, "{}"},
		{`{"open":true,"key":"a b"}`, "characters that no key has"},
	} {
		if got := ask(c.line); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s is answered by %s, want %s", c.line, got, c.want)
		}
	}
	if got := ask(`{"open":true}`); strings.Contains(got, id) {
		t.Errorf("a revoked token is listed: %s", got)
	}
}

// The allowed hosts are those of the server that connected last.
func TestRemote_allow(t *testing.T) {
	w := newRemoteWorld(t)
	to := echo(t)
	open := func(allow ...string) *keyproxy.Remote {
		r, err := keyproxy.OpenRemote(t.Context(), keyproxy.RemoteOptions{Path: w.path, Key: "key", Upstream: w.api.URL, Allow: allow, Start: w.start})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		return r
	}
	first := open(to)
	token, _ := w.grant(first, "s")
	check := func(want int) {
		t.Helper()
		if _, _, status := connect(t, first.URL(), to, token); status != want {
			t.Errorf("the status is %d, want %d", status, want)
		}
	}
	check(200)
	open("example.org")
	check(403)
	open(to)
	check(200)
	if _, err := keyproxy.OpenRemote(t.Context(), keyproxy.RemoteOptions{Path: w.path, Key: "key", Allow: []string{"a b"}, Start: w.start}); err == nil {
		t.Error("an invalid host is accepted, want an error")
	}
}

// TestRemote_upstream: a key is sent only to the upstream that came with it. An upstream without a key changes nothing.
func TestRemote_upstream(t *testing.T) {
	w := newRemoteWorld(t)
	others := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		io.WriteString(out, "other "+r.Header.Get("X-Api-Key"))
	}))
	defer others.Close()
	first := w.open("key-1")
	token, _ := w.grant(first, "s")
	conn, err := usersocket.Dial(t.Context(), w.path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, `{"open":true,"upstream":"`+others.URL+`"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil { // it has answered
		t.Fatal(err)
	}
	if got := w.key(first.URL(), token); got != "key-1" {
		t.Errorf("after a message with another upstream and no key the first API got %q, want key-1", got)
	}
	second, err := keyproxy.OpenRemote(t.Context(), keyproxy.RemoteOptions{Path: w.path, Key: "key-2", Upstream: others.URL, Start: w.start})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if got := w.key(first.URL(), token); got != "other key-2" {
		t.Errorf("with another key and upstream the API got %q, want other key-2", got)
	}
}
