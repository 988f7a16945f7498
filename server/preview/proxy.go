package preview

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"net"
	"net/http/httputil"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/internal/random"
)

// The defaults of Options.
const (
	DefaultMaxBody     = 64 << 20
	DefaultMaxRequests = 256
	DefaultTimeout     = 5 * time.Minute // a development server may build first
	DefaultAge         = 12 * time.Hour
)

// The fixed limits: the lifetime of a code, and the number of previews, codes and holders of one
// preview.
const (
	CodeAge     = time.Minute
	maxPreviews = 256
	maxCodes    = 1024
	maxVisits   = 64
	maxHeader   = 256 << 10
)

var (
	// ErrFull is returned when every origin is in use. One becomes free when all holders of its
	// preview have lost access.
	ErrFull = errors.New("preview: no origin for previews is free")
	// ErrClosed is returned by Open after the proxy was closed.
	ErrClosed = errors.New("preview: the proxy is closed")
)

// Options configures a proxy. Origins and Dial are required; every other zero field has a
// default.
type Options struct {
	Origins Origins
	// Dial connects to a port of a session. It must return an error for a port that does not
	// currently belong to the session.
	Dial func(ctx context.Context, session string, port int) (net.Conn, error)
	// Allowed reports whether a holder may still see a session; nil means always.
	Allowed func(holder, session string) bool
	// MaxBody limits the bytes of a request, MaxRequests the concurrent requests of one preview.
	MaxBody     int64
	MaxRequests int
	// Timeout is the time limit for the previewed server to start its response. Age is the lifetime
	// of a preview for its holder.
	Timeout, Age time.Duration
	// Logger receives rejections, without secrets; nil discards them.
	Logger *slog.Logger
	// Now is the clock; nil is that of the system.
	Now func() time.Time
}

// Proxy serves previews. It is an http.Handler, and its methods may be called from any
// goroutine.
type Proxy struct {
	opts  Options
	proxy *httputil.ReverseProxy

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
	byHost  map[string]*view
	codes   map[[sha256.Size]byte]code
}

// view is one preview: a port of a session at an origin.
type view struct {
	id, host, session string
	port              int
	places            chan struct{}
	visits            map[[sha256.Size]byte]*visit // by the hash of the cookie
}

// visit is the access of a holder to a view.
type visit struct {
	holder  string
	expires time.Time
	ctx     context.Context
	cancel  context.CancelFunc
}

// code is the data of an address that was returned by Open.
type code struct {
	host, holder string
	expires      time.Time
}

// New returns a proxy without previews; Open adds them. The caller must close it.
func New(opts Options) *Proxy {
	if opts.MaxBody == 0 {
		opts.MaxBody = DefaultMaxBody
	}
	if opts.MaxRequests == 0 {
		opts.MaxRequests = DefaultMaxRequests
	}
	if opts.Timeout == 0 {
		opts.Timeout = DefaultTimeout
	}
	if opts.Age == 0 {
		opts.Age = DefaultAge
	}
	if opts.Allowed == nil {
		opts.Allowed = func(string, string) bool { return true }
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	p := &Proxy{opts: opts, byHost: map[string]*view{}, codes: map[[sha256.Size]byte]code{}}
	p.proxy = p.newReverse()
	return p
}

// secret returns a random text and its hash.
func secret() (string, [sha256.Size]byte) {
	b := make([]byte, 24)
	_, _ = rand.Read(b) // it never fails
	text := base64.RawURLEncoding.EncodeToString(b)
	return text, sha256.Sum256([]byte(text))
}

// Open creates a preview of a port of a session, or uses the existing one, and returns the address
// at which the holder opens it: once, and within CodeAge.
func (p *Proxy) Open(holder, session string, port int) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return "", ErrClosed
	}
	p.expire()
	v := p.find(session, port)
	if v == nil {
		host, id, ok := p.place()
		if !ok {
			return "", ErrFull
		}
		v = &view{id: id, host: host, session: session, port: port, places: make(chan struct{}, p.opts.MaxRequests), visits: map[[sha256.Size]byte]*visit{}}
		p.byHost[host] = v
	}
	if len(p.codes) >= maxCodes {
		return "", ErrFull
	}
	text, hash := secret()
	p.codes[hash] = code{v.host, holder, p.opts.Now().Add(CodeAge)}
	return p.opts.Origins.scheme + "://" + v.host + entry + text, nil
}

// find returns the view of a port of a session. The caller holds the lock.
func (p *Proxy) find(session string, port int) *view {
	for _, v := range p.byHost {
		if v.session == session && v.port == port {
			return v
		}
	}
	return nil
}

// place returns a free origin. The caller holds the lock.
func (p *Proxy) place() (host, id string, ok bool) {
	id = random.Hex(8)
	if o := p.opts.Origins; o.named {
		return o.hostPort("p"+id, 0), id, len(p.byHost) < maxPreviews
	}
	for i := range p.opts.Origins.size() {
		host = p.opts.Origins.hostPort("", i)
		if p.byHost[host] == nil {
			return host, id, true
		}
	}
	return "", "", false
}

// expire drops expired codes, visits, and views without a visitor. The caller holds the lock.
func (p *Proxy) expire() {
	now := p.opts.Now()
	wanted := map[string]bool{}
	for hash, c := range p.codes {
		if !now.Before(c.expires) {
			delete(p.codes, hash)
			continue
		}
		wanted[c.host] = true
	}
	for host, v := range p.byHost {
		for hash, x := range v.visits {
			if !now.Before(x.expires) || !p.opts.Allowed(x.holder, v.session) {
				x.cancel()
				delete(v.visits, hash)
			}
		}
		if len(v.visits) == 0 && !wanted[host] {
			delete(p.byHost, host)
		}
	}
}

// Recheck checks the access again, and ends the requests and sockets of those who lost it. It must
// be called when access was revoked.
func (p *Proxy) Recheck() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expire()
}

// Forget ends all previews of a session.
func (p *Proxy) Forget(session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for host, v := range p.byHost {
		if v.session == session {
			p.drop(host, v)
		}
	}
}

// drop ends a view with all its requests. The caller holds the lock.
func (p *Proxy) drop(host string, v *view) {
	for _, x := range v.visits {
		x.cancel()
	}
	delete(p.byHost, host)
	for hash, c := range p.codes {
		if c.host == host {
			delete(p.codes, hash)
		}
	}
}

// Close ends all previews and waits until their requests have ended.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	for host, v := range p.byHost {
		p.drop(host, v)
	}
	p.mu.Unlock()
	p.running.Wait()
}
