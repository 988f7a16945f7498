package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/seed7221b0f9/parley/server/api"
)

// wire answers requests without a network.
type wire func(r *http.Request) (*http.Response, error)

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) { return w(r) }

func reply(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

// wired returns a client with w instead of a server.
func wired(t *testing.T, o Options, w wire) *Client {
	t.Helper()
	if o.URL == "" {
		o.URL = "http://server.test/below/"
	}
	o.HTTPClient = &http.Client{Transport: w}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNew(t *testing.T) {
	for _, tt := range []struct{ address, token, wantURL, wantToken string }{
		{"http://h:1", "t", "http://h:1", "t"},
		{"https://h/a/b/", "t", "https://h/a/b", "t"},
		{"http://h:1/#token=f", "", "http://h:1", "f"},
		{"http://h:1/?x=y#token=f", "t", "http://h:1", "t"},
		{"http://h:1/#other=f", "", "http://h:1", ""},
	} {
		c, err := New(Options{URL: tt.address, Token: tt.token})
		if err != nil {
			t.Fatal(err)
		}
		if c.URL() != tt.wantURL || c.opts.Token != tt.wantToken {
			t.Errorf("New(%q, %q) has %q and the token %q, want %q and %q", tt.address, tt.token, c.URL(), c.opts.Token, tt.wantURL, tt.wantToken)
		}
		if c.opts.Retry != DefaultRetry || c.opts.MaxRetry != DefaultMaxRetry || c.opts.Silence != DefaultSilence || c.opts.HTTPClient == nil {
			t.Errorf("the defaults are %+v", c.opts)
		}
	}
	own := Options{URL: "http://h", Retry: 1, MaxRetry: 2, Silence: 3}
	if c, err := New(own); err != nil || c.opts.Retry != 1 || c.opts.MaxRetry != 2 || c.opts.Silence != 3 {
		t.Errorf("the options are %+v, %v, want %+v", c.opts, err, own)
	}
}

// TestCall_ways checks all failures of a call: the number of attempts, with a key and without, and the error for the caller.
func TestCall_ways(t *testing.T) {
	refused := func(status int, reason api.Reason) func() (*http.Response, error) {
		return func() (*http.Response, error) {
			return reply(status, fmt.Sprintf(`{"error":{"code":-1,"message":"no","data":{"reason":%q}}}`, reason)), nil
		}
	}
	failed := func(err error) func() (*http.Response, error) {
		return func() (*http.Response, error) { return nil, err }
	}
	torn := func() (*http.Response, error) {
		r := reply(200, "")
		r.Body = io.NopCloser(io.MultiReader(strings.NewReader("{"), &brokenReader{}))
		return r, nil
	}
	for _, tt := range []struct {
		name         string
		answer       func() (*http.Response, error)
		plain, keyed bool // the call is retried
		reason       api.Reason
		text         string
	}{
		{"nobody listens", failed(&net.OpError{Op: "dial", Err: errors.New("x")}), true, true, "", "dial"},
		{"refused connection", failed(syscall.ECONNREFUSED), true, true, "", "refused"},
		{"broken write", failed(&net.OpError{Op: "write", Err: errors.New("x")}), false, true, "", "write"},
		{"broken read", failed(io.ErrUnexpectedEOF), false, true, "", "EOF"},
		{"broken answer", torn, false, true, "", "torn"},
		{"cancelled", failed(context.Canceled), false, false, "", "canceled"},
		{"too late", failed(context.DeadlineExceeded), false, false, "", "deadline"},
		{"draining", refused(503, api.Draining), true, true, api.Draining, "no"},
		{"conflict", refused(409, api.Conflict), false, false, api.Conflict, "no"},
		{"too slow", refused(429, api.TooSlow), false, false, api.TooSlow, "no"},
		{"limit", refused(429, api.LimitReached), false, false, api.LimitReached, "no"},
		{"a proxy", func() (*http.Response, error) { return reply(502, "<html>"), nil }, false, false, "", "status 502"},
		{"an empty refusal", func() (*http.Response, error) { return reply(500, "{}"), nil }, false, false, "", "status 500"},
		{"no JSON", func() (*http.Response, error) { return reply(200, "x"), nil }, false, false, "", "the answer to m"},
	} {
		for keyed, again := range map[bool]bool{false: tt.plain, true: tt.keyed} {
			t.Run(fmt.Sprint(tt.name, ", keyed ", keyed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					sent := 0
					c := wired(t, Options{}, func(*http.Request) (*http.Response, error) {
						if sent++; sent == 1 {
							return tt.answer()
						}
						return reply(200, `{"turn_id":"t","seq":3}`), nil
					})
					var params api.Idempotency
					if keyed {
						params.Key = "k"
					}
					var a api.Accepted
					err := c.Call(t.Context(), "m", params, &a)
					if again {
						if err != nil || sent != 2 || a.Seq != 3 {
							t.Errorf("Call = %+v, %v after %d requests, want the answer to the second", a, err, sent)
						}
						return
					}
					if err == nil || sent != 1 || Reason(err) != tt.reason || !strings.Contains(err.Error(), tt.text) {
						t.Errorf("Call = %v with the reason %q after %d requests, want %q and %q after one", err, Reason(err), sent, tt.text, tt.reason)
					}
				})
			})
		}
	}
}

type brokenReader struct{}

func (*brokenReader) Read([]byte) (int, error) { return 0, errors.New("torn") }

// TestCall_request checks the address, the token, the type and the parameters of a request.
func TestCall_request(t *testing.T) {
	var got, body string
	c := wired(t, Options{Token: "secret"}, func(r *http.Request) (*http.Response, error) {
		text, err := io.ReadAll(r.Body)
		got, body = fmt.Sprint(r.Method, " ", r.URL, " ", r.Header.Get("Authorization"), " ", r.Header.Get("Content-Type")), string(text)
		return reply(200, "{}"), err
	})
	if err := c.Call(t.Context(), "a/b", api.SessionRef{SessionID: "s"}, nil); err != nil {
		t.Fatal(err)
	}
	if want := "POST http://server.test/below/v1/a%2Fb Bearer secret application/json"; got != want || body != `{"session_id":"s"}` {
		t.Errorf("the request is %q with %s, want %q", got, body, want)
	}
}

// TestCall_pauses checks that the pauses between attempts double up to the longest, and that the call returns the last error when its
// context ends.
func TestCall_pauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		var at []time.Duration
		began := time.Now()
		c := wired(t, Options{Retry: time.Second, MaxRetry: 5 * time.Second}, func(*http.Request) (*http.Response, error) {
			at = append(at, time.Since(began))
			return nil, syscall.ECONNREFUSED
		})
		if err := c.Call(ctx, "m", api.Empty{}, nil); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("Call = %v, want the last error of the connection", err)
		}
		want := []time.Duration{0, 1, 3, 7, 12, 17, 22, 27}
		for i := range want {
			want[i] *= time.Second
		}
		if !slices.Equal(at, want) {
			t.Errorf("the attempts were made after %v, want %v", at, want)
		}
		if ended := time.Since(began); ended != 30*time.Second {
			t.Errorf("Call ended after %v, want 30s", ended)
		}
	})
}

// TestFollow_pauses checks that Follow retries with the same pauses, and ends with the error of its context, or with a final rejection.
func TestFollow_pauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var at []time.Duration
		began := time.Now()
		c := wired(t, Options{Token: "secret", Retry: time.Second, MaxRetry: 3 * time.Second}, func(r *http.Request) (*http.Response, error) {
			if r.URL.Path != "/below/v1/ws" || r.Header.Get("Authorization") != "Bearer secret" {
				t.Errorf("the request is for %s with %q", r.URL, r.Header.Get("Authorization"))
			}
			at = append(at, time.Since(began))
			return nil, errors.New("broken")
		})
		var last error
		for _, err := range c.Follow(ctx, "s", nil) {
			last = err
		}
		want := []time.Duration{0, time.Second, 3 * time.Second, 6 * time.Second, 9 * time.Second}
		if !errors.Is(last, context.DeadlineExceeded) || !slices.Equal(at, want) {
			t.Errorf("the attempts were made after %v, want %v; the last error is %v", at, want, last)
		}
	})
	for status, reason := range map[int]api.Reason{401: api.AuthFailed, 403: api.AuthFailed} {
		sent := 0
		c := wired(t, Options{}, func(*http.Request) (*http.Response, error) {
			sent++
			return reply(status, ""), nil
		})
		var last error
		for _, err := range c.Follow(t.Context(), "s", nil) {
			last = err
		}
		e, ok := errors.AsType[*Error](last)
		if !ok || e.Status != status || Reason(last) != reason || sent != 1 {
			t.Errorf("status %d: Follow ends with %v after %d attempts, want the reason %q after one", status, last, sent, reason)
		}
	}
}

// TestGet checks that Metrics and Backup send the token; a rejection, a broken response and a failing writer are errors.
func TestGet(t *testing.T) {
	var got string
	answer := reply(200, "text")
	c := wired(t, Options{Token: "secret"}, func(r *http.Request) (*http.Response, error) {
		got = fmt.Sprint(r.Method, " ", r.URL.Path, " ", r.Header.Get("Authorization"))
		if answer == nil {
			return nil, io.ErrUnexpectedEOF
		}
		return answer, nil
	})
	text, err := c.Metrics(t.Context())
	if want := "GET /below/metrics Bearer secret"; err != nil || text != "text" || got != want {
		t.Errorf("Metrics = %q, %v with %q, want the text with %q", text, err, got, want)
	}
	var b bytes.Buffer
	answer = reply(200, "copy")
	if err := c.Backup(t.Context(), &b); err != nil || b.String() != "copy" || got != "GET /below/v1/backup Bearer secret" {
		t.Errorf("Backup wrote %q, %v with %q", b.String(), err, got)
	}
	answer = reply(403, `{"error":{"message":"no","data":{"reason":"auth_failed"}}}`)
	if err := c.Backup(t.Context(), &b); Reason(err) != api.AuthFailed || b.String() != "copy" {
		t.Errorf("Backup = %v, want the refusal; it wrote %q", err, b.String())
	}
	answer = reply(200, "")
	answer.Body = io.NopCloser(&brokenReader{})
	if err := c.Backup(t.Context(), &b); err == nil || !strings.Contains(err.Error(), "torn") {
		t.Errorf("Backup of a torn answer = %v", err)
	}
	answer = nil
	if _, err := c.Metrics(t.Context()); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("Metrics of a broken connection = %v", err)
	}
}

// memory is an in-memory network: a listener, and a client's connections to it.
type memory struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error   { return nil }
func (m *memory) Addr() net.Addr { return &net.TCPAddr{} }

func (m *memory) dial(context.Context, string, string) (net.Conn, error) {
	a, b := net.Pipe()
	select {
	case m.conns <- b:
		return a, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

// TestFollow_life checks that a successful connection resets the pauses, and that a connection that answers pings is kept despite its
// silence.
func TestFollow_life(t *testing.T) {
	const attached = `{"jsonrpc":"2.0","id":2,"result":{"cursor":{"epoch":"e","seq":3},"state":"idle"}}`
	for _, tt := range []struct {
		name  string
		serve func(ctx context.Context, conn *websocket.Conn, n int)
		want  []time.Duration // times of the connections
	}{
		{"dropped at once", func(context.Context, *websocket.Conn, int) {}, []time.Duration{0, 1, 3, 7, 12, 17, 22, 27}},
		{"dropped after the second worked", func(ctx context.Context, conn *websocket.Conn, n int) {
			if n == 3 {
				_ = conn.Write(ctx, websocket.MessageText, []byte(attached))
			}
		}, []time.Duration{0, 1, 3, 4, 6, 10, 15, 20, 25}},
		{"silent", func(ctx context.Context, conn *websocket.Conn, _ int) {
			_ = conn.Write(ctx, websocket.MessageText, []byte(attached))
			_, _, _ = conn.Read(ctx) // answers pings
		}, []time.Duration{0}},
		{"no JSON", func(ctx context.Context, conn *websocket.Conn, _ int) {
			_ = conn.Write(ctx, websocket.MessageText, []byte("x"))
			<-ctx.Done()
		}, []time.Duration{0, 1, 3, 7, 12, 17, 22, 27}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 29500*time.Millisecond) // not the time of an attempt
				defer cancel()
				network, began := &memory{make(chan net.Conn), make(chan struct{})}, time.Now()
				var at []time.Duration
				s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					at = append(at, time.Since(began))
					conn, err := websocket.Accept(w, r, nil)
					if err != nil {
						t.Error(err)
						return
					}
					defer conn.CloseNow()
					for range 2 {
						if _, _, err := conn.Read(ctx); err != nil {
							t.Error(err)
						}
					}
					tt.serve(ctx, conn, len(at))
				})}
				served := make(chan struct{})
				go func() {
					_ = s.Serve(network) // returns when the network is closed
					close(served)
				}()
				c, err := New(Options{URL: "http://s", Retry: time.Second, MaxRetry: 5 * time.Second, Silence: 10 * time.Second,
					HTTPClient: &http.Client{Transport: &http.Transport{DialContext: network.dial, DisableKeepAlives: true}}})
				if err != nil {
					t.Fatal(err)
				}
				var last error
				for _, err := range c.Follow(ctx, "s", nil) {
					last = err
				}
				if !errors.Is(last, context.DeadlineExceeded) {
					t.Errorf("Follow ends with %v, want the end of its context", last)
				}
				for i := range tt.want {
					tt.want[i] *= time.Second
				}
				if !slices.Equal(at, tt.want) {
					t.Errorf("the connections were made after %v, want %v", at, tt.want)
				}
				close(network.closed)
				<-served
				_ = s.Close()
			})
		})
	}
}
