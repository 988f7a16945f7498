package keyproxy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/internal/relay"
)

// tunnelTime limits how long a tunnel connects to its host.
const tunnelTime = 30 * time.Second

// errPrivate is the error for a name without an address of the internet.
var errPrivate = errors.New("the host has no public address")

// serveTunnel answers CONNECT: it connects an agent with a host of Options.Allow.
func (p *Proxy) serveTunnel(w http.ResponseWriter, r *http.Request) {
	g, status, why := p.admitTunnel(r)
	if g == nil {
		p.opts.Logger.Warn("the key proxy refused a tunnel", "host", r.URL.Host, "why", why)
		refuse(w, status, why)
		return
	}
	defer func() { <-g.places }()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(g.ctx, cancel)()
	to, err := p.dialHost(ctx, r.URL.Hostname(), r.URL.Port())
	if err != nil {
		p.opts.Logger.Warn("a tunnel failed", "session", g.session, "host", r.URL.Host, "err", err)
		refuse(w, http.StatusBadGateway, "the host cannot be reached")
		return
	}
	defer to.Close()
	p.tunnels.Add(1) // before Hijack takes the connection from those that Close waits for
	defer p.tunnels.Done()
	from, rest, err := http.NewResponseController(w).Hijack()
	if err != nil {
		p.opts.Logger.Warn("a tunnel failed", "session", g.session, "err", err)
		return
	}
	defer from.Close()
	defer context.AfterFunc(g.ctx, func() { from.Close(); to.Close() })()
	if _, err := io.WriteString(from, "HTTP/1.1 200 Connection Established\r\n\r\n"); err == nil && from.SetDeadline(time.Time{}) == nil {
		relay.Join(begun{from, rest.Reader}, to)
	}
}

// begun is a connection with bytes that have been read already.
type begun struct {
	net.Conn
	rest *bufio.Reader
}

func (c begun) Read(b []byte) (int, error) { return c.rest.Read(b) }

// CloseWrite ends the direction to the agent.
func (c begun) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// admitTunnel returns the grant of a request and takes a place, or returns the reason of the rejection.
func (p *Proxy) admitTunnel(r *http.Request) (g *grant, status int, why string) {
	_, token, _ := (&http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}).BasicAuth()
	if g = p.find(token); g == nil {
		return nil, http.StatusProxyAuthRequired, unknownToken
	}
	if allowed, _ := p.allowed(r.URL.Hostname(), r.URL.Port()); !allowed {
		return nil, http.StatusForbidden, "the server does not allow " + r.URL.Host
	}
	return g.take()
}

// allowed reports whether tunnels may reach a host, and whether its addresses may be private.
func (p *Proxy) allowed(name, port string) (allowed, private bool) {
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	for _, h := range p.currentTarget().allow {
		if h.allows(name, port) {
			allowed, private = true, private || h.local()
		}
	}
	return allowed, private
}

// dialHost connects to the first address of a host that accepts. The owner of a name chooses its addresses, so private ones do not count.
func (p *Proxy) dialHost(ctx context.Context, name, port string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, tunnelTime)
	defer cancel()
	all, err := p.lookup(ctx, "ip", name)
	if err != nil {
		return nil, err
	}
	_, private := p.allowed(name, port)
	err = errPrivate
	for _, a := range all {
		if !private && !isPublic(a) {
			continue
		}
		var conn net.Conn
		if conn, err = new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(a.Unmap().String(), port)); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// lookupFunc has the form of net.Resolver.LookupNetIP.
type lookupFunc func(ctx context.Context, network, host string) ([]netip.Addr, error)
