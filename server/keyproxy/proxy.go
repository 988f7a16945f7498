package keyproxy

import (
	"cmp"
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

	"github.com/seed7221b0f9/parley/internal/usersocket"
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
	// Allow lists the hosts to which agents can open tunnels with CONNECT and their token as the
	// password: HOST, HOST:PORT, or *.HOST for all names below one. The default port is 443. A name
	// may not resolve to a private address; localhost and addresses are allowed as written.
	Allow []string
	// MaxBody is the size limit of a request in bytes. MaxRequests is the limit of concurrent
	// requests per session.
	MaxBody     int64
	MaxRequests int
	// Timeout is the time limit for the upstream to start its response.
	Timeout time.Duration
	// Door is the path of a file that names the socket of [Proxy.Door]; see package usersocket.
	Door string
	// Logger receives rejections, without secrets; nil discards them.
	Logger *slog.Logger
}

// Proxy is a running proxy. Its methods may be called from any goroutine.
type Proxy struct {
	opts      Options
	host      string
	server    *http.Server
	transport *http.Transport
	serving   sync.WaitGroup
	conns     sync.WaitGroup
	tunnels   sync.WaitGroup
	lookup    lookupFunc

	mu     sync.Mutex
	target target
	grants map[tokenID]*grant
	door   *usersocket.Listener // nil before the first call of Door
}

// target is the API that agents can use, with its key and the allowed hosts.
type target struct {
	key   string
	url   *url.URL
	allow []pattern
}

// tokenID is the hash of a token.
type tokenID [sha256.Size]byte

// grant is the access of one session.
type grant struct {
	session string
	ctx     context.Context
	cancel  context.CancelFunc
	places  chan struct{}
}

// Listen starts a proxy on a free port of 127.0.0.1. The caller must close it.
func Listen(opts Options) (*Proxy, error) {
	upstream, err := opts.target()
	if err != nil {
		return nil, fmt.Errorf("keyproxy: %w", err)
	}
	opts = opts.withDefaults()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("keyproxy: %w", err)
	}
	p := &Proxy{
		opts: opts, target: upstream, host: l.Addr().String(), grants: map[tokenID]*grant{}, lookup: net.DefaultResolver.LookupNetIP,
		transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableCompression: true, ResponseHeaderTimeout: opts.Timeout,
			TLSHandshakeTimeout: time.Minute, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true},
	}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: headerTimeout, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ConnState: p.count,
		ErrorLog: slog.NewLogLogger(opts.Logger.Handler(), slog.LevelDebug)}
	p.serve(l)
	return p, nil
}

// serve serves a listener until Close.
func (p *Proxy) serve(l net.Listener) {
	p.serving.Go(func() { _ = p.server.Serve(l) }) // returns http.ErrServerClosed
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

// withDefaults fills in the defaults.
func (o Options) withDefaults() Options {
	o.MaxBody = cmp.Or(o.MaxBody, DefaultMaxBody)
	o.MaxRequests = cmp.Or(o.MaxRequests, DefaultMaxRequests)
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// target checks the key, the address of the upstream and the allowed hosts.
func (o Options) target() (target, error) {
	if o.Key == "" || strings.ContainsFunc(o.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return target{}, errors.New("the key is empty or has characters that no key has")
	}
	upstream := cmp.Or(o.Upstream, DefaultUpstream)
	u, err := url.Parse(upstream)
	if err != nil {
		return target{}, err
	}
	addr, err := netip.ParseAddr(u.Hostname())
	loopback := u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
	if u.Host == "" || u.User != nil || u.RawQuery != "" || u.Scheme != "https" && !(u.Scheme == "http" && loopback) {
		return target{}, fmt.Errorf("upstream %q is not an https address", upstream)
	}
	t := target{key: o.Key, url: u}
	for _, text := range o.Allow {
		h, err := parsePattern(text)
		if err != nil {
			return target{}, err
		}
		t.allow = append(t.allow, h)
	}
	return t, nil
}

// retarget replaces the key, its upstream and the allowed hosts in one step, so that no key is sent
// to the upstream of another. Open tunnels stay open.
func (p *Proxy) retarget(t target) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = t
}

func (p *Proxy) currentTarget() target {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.target
}

// URL returns the address that agents use instead of the API's. It is on the loopback interface.
func (p *Proxy) URL() string { return "http://" + p.host }

// Door returns the path of a Unix socket that leads to the proxy, for boxes without a
// network. The first call opens the socket.
func (p *Proxy) Door() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.door == nil {
		l, err := usersocket.Listen(p.opts.Door)
		if err != nil {
			return "", fmt.Errorf("keyproxy: %w", err)
		}
		p.door = l
		p.serve(l)
	}
	return p.door.Socket(), nil
}

// Grant creates a token for a session. It is valid until revoke is called, which also ends its running requests. The error is always nil.
func (p *Proxy) Grant(session string) (token string, revoke func(), err error) {
	token, id := newToken()
	p.add(id, session)
	return token, func() { p.revoke(id) }, nil
}

// newToken returns a random token and its id.
func newToken() (string, tokenID) {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // it never fails
	token := "sk-parley-" + base64.RawURLEncoding.EncodeToString(secret)
	return token, sha256.Sum256([]byte(token))
}

// add makes a token valid.
func (p *Proxy) add(id tokenID, session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.addLocked(id, session)
}

// addLocked is like add; the caller holds mu.
func (p *Proxy) addLocked(id tokenID, session string) {
	g := &grant{session: session, places: make(chan struct{}, p.opts.MaxRequests)}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	if old := p.grants[id]; old != nil {
		old.cancel()
	}
	p.grants[id] = g
}

// revoke ends a token and its requests. An unknown one is ignored.
func (p *Proxy) revoke(id tokenID) {
	p.mu.Lock()
	g := p.grants[id]
	delete(p.grants, id)
	p.mu.Unlock()
	if g != nil {
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
	p.serving.Wait()
	p.conns.Wait()
	p.tunnels.Wait()
	p.transport.CloseIdleConnections()
	return err
}
