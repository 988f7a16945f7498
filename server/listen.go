package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// The limits of a connection. Requests and responses have no total timeout, because streams have no
// end; bodies and writes have their own.
const (
	idleTimeout = 2 * time.Minute
	maxHeader   = 64 << 10
)

// Serve serves on a listener until ctx ends, and then drains: see Drain. With a Host, and [ErrLeave] as the cause of
// the end, turns continue in the host and Serve does not wait for them. It handles slow clients and limits the number
// of sockets. The error is nil after a drain.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	hs := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: s.opts.HeaderTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
	}
	s.listening(l.Addr())
	failed := make(chan error, 1)
	go func() {
		failed <- hs.Serve(s.limited(l, s.opts.MaxConnections+64))
	}()
	select {
	case err := <-failed:
		return errors.Join(err, s.Close())
	case <-ctx.Done():
	}
	// Readers see the end of their sessions' work before the listener is closed.
	end := s.Drain
	if s.opts.Host != nil && errors.Is(context.Cause(ctx), ErrLeave) {
		end = s.leave
	}
	err := end(context.WithoutCancel(ctx))
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), session.DrainGrace)
	defer cancel()
	if hs.Shutdown(bound) != nil {
		_ = hs.Close() // open connections are cut
	}
	if e := <-failed; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// limitListener rejects connections beyond a number, in total and per address, so that existing ones
// stay and memory is limited.
type limitListener struct {
	net.Listener
	max   int
	proxy func(remote string) bool // reports addresses that many clients share
	each  places

	mu   sync.Mutex
	open int
}

// limited limits the connections of a listener.
func (s *Server) limited(l net.Listener, max int) net.Listener {
	return &limitListener{Listener: l, max: max, proxy: s.filter.proxy, each: places{max: maxAddressConns}}
}

// Accept returns the next connection that is within the limit.
func (l *limitListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if leave, ok := l.enter(c.RemoteAddr().String()); ok {
			return &limitConn{Conn: c, leave: leave}, nil
		}
		refuse(c)
	}
}

// refusal is the response to a connection above the limit.
var refusal = func() []byte {
	body := `{"error":{"code":-32000,"message":"the server has as many connections as it takes; try again later","data":{"reason":"` + string(api.LimitReached) + `"}}}`
	return fmt.Appendf(nil, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 5\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}()

// refuse writes the reason and closes. The few bytes fit into the buffer of the socket, so that no
// peer can delay others; a TLS peer is closed without a response.
func refuse(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = tcp.Write(refusal) // a peer that does not read it sees the end
	}
	_ = c.Close()
}

// enter reserves a place for a connection. It returns false if all are occupied.
func (l *limitListener) enter(remote string) (leave func(), ok bool) {
	leaveAddress := func() {}
	if host, _, err := net.SplitHostPort(remote); err == nil && !l.proxy(remote) {
		if leaveAddress, ok = l.each.enter(host); !ok {
			return nil, false
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= l.max {
		leaveAddress()
		return nil, false
	}
	l.open++
	return sync.OnceFunc(func() {
		leaveAddress()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.open--
	}), true
}

type limitConn struct {
	net.Conn
	leave func()
}

// Close closes the connection and frees its slot.
func (c *limitConn) Close() error {
	c.leave()
	return c.Conn.Close()
}
