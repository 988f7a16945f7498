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

// The values that Options has by default, for the fields that are zero.
const (
	DefaultMaxBody     = 64 << 20
	DefaultMaxRequests = 256
	DefaultTimeout     = 5 * time.Minute // a development server may build first
	DefaultAge         = 12 * time.Hour
)

// The bounds that cannot be changed: how long a code works, and how many previews, codes and
// holders of one preview there are.
const (
	CodeAge     = time.Minute
	maxPreviews = 256
	maxCodes    = 1024
	maxVisits   = 64
	maxHeader   = 256 << 10
)

var (
	// ErrFull is returned when every origin is taken. One becomes free when all that have opened
	// its preview have lost the right to it.
	ErrFull = errors.New("preview: every origin for previews is taken")
	// ErrClosed is returned by Open after the proxy was closed.
	ErrClosed = errors.New("preview: the proxy is closed")
)

// Options configures a proxy. Origins and Dial are required; every other zero field has a
// default.
type Options struct {
	Origins Origins
	// Dial connects to a port of a session. It must return an error for a port that does not
	// belong to the session at that moment.
	Dial func(ctx context.Context, session string, port int) (net.Conn, error)
	// Allowed reports whether a holder may still look at a session; nil is always.
	Allowed func(holder, session string) bool
	// MaxBody limits the bytes of a request, MaxRequests the requests of one preview at once.
	MaxBody     int64
	MaxRequests int
	// Timeout is how long the previewed server may take until its answer begins. Age is how long
	// a preview stays open for the one who opened it.
	Timeout, Age time.Duration
	// Logger gets what is refused, without secrets; nil discards it.
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

// visit is the right of a holder to look at a view.
type visit struct {
	holder  string
	expires time.Time
	ctx     context.Context
	cancel  context.CancelFunc
}

// code is what an address that was given out holds.
type code struct {
	host, holder string
	expires      time.Time
}

// New returns a proxy that shows nothing until Open is called. The caller closes it.
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

// Open makes a preview of a port of a session, or uses the one that exists, and returns the
// address at which the holder opens it: once, and within CodeAge.
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

// find returns the view of a port of a session. The lock is held.
func (p *Proxy) find(session string, port int) *view {
	for _, v := range p.byHost {
		if v.session == session && v.port == port {
			return v
		}
	}
	return nil
}

// place returns an origin that is free. The lock is held.
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

// expire drops what has ended: codes, visits, and views that no one can look at. The lock is
// held.
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

// Recheck asks again who may look, and ends the requests and sockets of those who may not. To
// be called when a right was taken away.
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

// drop ends a view with everything that runs in it. The lock is held.
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
