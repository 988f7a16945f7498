package keyproxy

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Defaults of [Options].
const (
	DefaultUpstream    = "https://api.anthropic.com"
	DefaultMaxBody     = 64 << 20
	DefaultMaxRequests = 64
	// DefaultTimeout is the time limit for the upstream to start its response.
	DefaultTimeout = 10 * time.Minute
)

// headerTimeout is the time limit for an agent to send the header of a request.
const headerTimeout = 10 * time.Second

// Options configures a proxy. The key is required; every other zero field has a default.
type Options struct {
	// Key is the key that the proxy adds, as x-api-key.
	Key string
	// Upstream is the target of requests: https, or http on the loopback interface.
	Upstream string
	// MaxBody limits the bytes of a request, MaxRequests the concurrent requests of one session.
	MaxBody     int64
	MaxRequests int
	// Timeout is the time limit for the upstream to start its response.
	Timeout time.Duration
	// Logger receives rejections, without secrets; nil discards them.
	Logger *slog.Logger
}

// Proxy is a running proxy. Its methods may be called from any goroutine.
type Proxy struct {
	opts      Options
	upstream  *url.URL
	host      string
	server    *http.Server
	transport *http.Transport
	served    chan struct{}
	conns     sync.WaitGroup

	mu     sync.Mutex
	grants map[[sha256.Size]byte]*grant // by the hash of the token
}

// grant is the right of one session.
type grant struct {
	session string
	ctx     context.Context
	cancel  context.CancelFunc
	places  chan struct{}
}

// Listen starts a proxy on a free port of 127.0.0.1. The caller must close it.
func Listen(opts Options) (*Proxy, error) {
	upstream, err := opts.check()
	if err != nil {
		return nil, fmt.Errorf("keyproxy: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("keyproxy: %w", err)
	}
	p := &Proxy{
		opts: opts, upstream: upstream, host: l.Addr().String(), served: make(chan struct{}), grants: map[[sha256.Size]byte]*grant{},
		transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableCompression: true, ResponseHeaderTimeout: opts.Timeout,
			TLSHandshakeTimeout: time.Minute, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true},
	}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: headerTimeout, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ConnState: p.count,
		ErrorLog: slog.NewLogLogger(opts.Logger.Handler(), slog.LevelDebug)}
	go func() {
		defer close(p.served)
		_ = p.server.Serve(l) // returns http.ErrServerClosed
	}()
	return p, nil
}

// count counts connections, so that Close can wait for their requests.
func (p *Proxy) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		p.conns.Add(1)
	case http.StateClosed, http.StateHijacked:
		p.conns.Done()
	}
}

// check fills in the defaults and returns the upstream's address.
func (o *Options) check() (*url.URL, error) {
	if o.Key == "" || strings.ContainsFunc(o.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the key is empty or has characters that no key has")
	}
	if o.Upstream == "" {
		o.Upstream = DefaultUpstream
	}
	if o.MaxBody == 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.MaxRequests == 0 {
		o.MaxRequests = DefaultMaxRequests
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	u, err := url.Parse(o.Upstream)
	if err != nil {
		return nil, err
	}
	addr, err := netip.ParseAddr(u.Hostname())
	loopback := u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
	if u.Host == "" || u.User != nil || u.RawQuery != "" || u.Scheme != "https" && !(u.Scheme == "http" && loopback) {
		return nil, fmt.Errorf("upstream %q is not an https address", o.Upstream)
	}
	return u, nil
}

// URL returns the address that agents use instead of the API's. It is on the loopback interface.
func (p *Proxy) URL() string { return "http://" + p.host }

// Upstream returns the target address of requests, without a password. It never contains the key.
func (p *Proxy) Upstream() string { return p.upstream.Redacted() }

// Grant creates a token for a session. It is valid until revoke is called, which also ends its
// running requests.
func (p *Proxy) Grant(session string) (token string, revoke func()) {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // it never fails
	token = "sk-parley-" + base64.RawURLEncoding.EncodeToString(secret)
	hash := sha256.Sum256([]byte(token))
	g := &grant{session: session, places: make(chan struct{}, p.opts.MaxRequests)}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	p.mu.Lock()
	defer p.mu.Unlock()
	p.grants[hash] = g
	return token, func() {
		p.mu.Lock()
		delete(p.grants, hash)
		p.mu.Unlock()
		g.cancel()
	}
}

// find returns the grant of a token. Tokens are compared by their hash, so that the time reveals no
// information.
func (p *Proxy) find(token string) *grant {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.grants[sha256.Sum256([]byte(token))]
}

// Close revokes all tokens, ends the running requests, and returns when the proxy has ended.
func (p *Proxy) Close() error {
	p.mu.Lock()
	for _, g := range p.grants {
		g.cancel()
	}
	clear(p.grants)
	p.mu.Unlock()
	err := p.server.Close()
	<-p.served
	p.conns.Wait()
	p.transport.CloseIdleConnections()
	return err
}
