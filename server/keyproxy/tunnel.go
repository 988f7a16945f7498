package keyproxy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/internal/relay"
)

// tunnelTime is the time limit for connecting to the host of a tunnel.
const tunnelTime = 30 * time.Second

// errPrivate is returned for a name without a public address.
var errPrivate = errors.New("the host has no public address")

// serveTunnel answers CONNECT: it connects an agent with a host of Options.Allow.
func (p *Proxy) serveTunnel(w http.ResponseWriter, r *http.Request) {
	g, to, status, why := p.admitTunnel(r)
	if g == nil {
		p.opts.Logger.Warn("the key proxy refused a tunnel", "host", r.URL.Host, "why", why)
		refuse(w, status, why)
		return
	}
	defer func() { <-g.places }()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(g.ctx, cancel)()
	conn, err := p.dialHost(ctx, to)
	if err != nil {
		p.opts.Logger.Warn("a tunnel failed", "session", g.session, "host", r.URL.Host, "err", err)
		refuse(w, http.StatusBadGateway, "the host cannot be reached")
		return
	}
	defer conn.Close()
	p.tunnels.Add(1) // before Hijack removes the connection from those that Close waits for
	defer p.tunnels.Done()
	from, rest, err := http.NewResponseController(w).Hijack()
	if err != nil {
		p.opts.Logger.Warn("a tunnel failed", "session", g.session, "err", err)
		return
	}
	defer from.Close()
	defer context.AfterFunc(g.ctx, func() { from.Close(); conn.Close() })()
	if _, err := io.WriteString(from, "HTTP/1.1 200 Connection Established\r\n\r\n"); err == nil && from.SetDeadline(time.Time{}) == nil {
		relay.Join(begun{from, rest.Reader}, conn)
	}
}

// begun is a connection with data that has been read already.
type begun struct {
	net.Conn
	rest *bufio.Reader
}

func (c begun) Read(b []byte) (int, error) { return c.rest.Read(b) }

// CloseWrite closes the direction to the agent.
func (c begun) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// destination is the host of a tunnel, with the patterns that allow it.
type destination struct {
	name, port string
	by         []pattern
}

// reaches reports whether a tunnel may use an address of the host.
func (d destination) reaches(a netip.Addr) bool {
	return slices.ContainsFunc(d.by, func(h pattern) bool { return h.reaches(a) })
}

// admitTunnel returns the grant of a request and its destination and reserves a place, or returns the reason of the
// rejection.
func (p *Proxy) admitTunnel(r *http.Request) (g *grant, to destination, status int, why string) {
	_, token, _ := (&http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}).BasicAuth()
	if g = p.find(token); g == nil {
		return nil, to, http.StatusProxyAuthRequired, unknownToken
	}
	if to = p.destination(r.URL.Hostname(), r.URL.Port()); to.by == nil {
		return nil, to, http.StatusForbidden, "the server does not allow " + r.URL.Host
	}
	g, status, why = g.take()
	return g, to, status, why
}

// destination returns the destination of a tunnel. Its list of patterns is empty if tunnels may not
// reach the host.
func (p *Proxy) destination(host, port string) (to destination) {
	name, err := hostName(host)
	if err != nil {
		return to
	}
	to.name, to.port = name, port
	for _, h := range p.currentTarget().allow {
		if h.allows(name, port) {
			to.by = append(to.by, h)
		}
	}
	return to
}

// dialHost connects to the first address of a host that the tunnel may use and that accepts. The name is resolved once.
func (p *Proxy) dialHost(ctx context.Context, to destination) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, tunnelTime)
	defer cancel()
	all, err := p.lookup(ctx, "ip", to.name)
	if err != nil {
		return nil, err
	}
	err = errPrivate
	for _, a := range all {
		if !to.reaches(a) {
			continue
		}
		var conn net.Conn
		if conn, err = new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(a.Unmap().String(), to.port)); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// lookupFunc has the form of net.Resolver.LookupNetIP.
type lookupFunc func(ctx context.Context, network, host string) ([]netip.Addr, error)
