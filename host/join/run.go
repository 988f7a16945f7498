package join

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/filelock"
)

const (
	// Path is the endpoint for machines below the address of a server.
	Path = "/v1/host"
	// Subprotocol is the WebSocket subprotocol of a link. The binary messages are a stream of
	// frames; message boundaries are not significant.
	Subprotocol = "parley-host-1"
)

// Run starts the host of the machine, joins the server, and dials again when the link ends, until ctx ends; it then returns nil. The host
// and its agents continue. A server that refuses the token ends Run with a *[StatusError].
func Run(ctx context.Context, c Config) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	dir, err := HostDir(c.DataDir, c.Server)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	lock, err := filelock.TryLock(filepath.Join(dir, "join.lock"))
	if errors.Is(err, filelock.ErrLocked) {
		return ErrJoined
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	defer transport.CloseIdleConnections()
	j := &joiner{Config: c, dir: dir, servers: newAddresses(dir, c.Server), client: &http.Client{
		Transport: transport,
		// The token is sent only to this server.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if err := j.startHost(ctx); err != nil {
		return err
	}
	return j.run(ctx)
}

// joiner is a machine that joins a server.
type joiner struct {
	Config
	dir     string // of the host
	client  *http.Client
	servers *addresses
}

// startHost starts the host if it is not running. A host without agents ends some time after a
// link.
func (j *joiner) startHost(ctx context.Context) error {
	if err := host.Start(ctx, j.dir, j.Executable, j.HostOptions); err != nil {
		return fmt.Errorf("the host of the agents: %w", err)
	}
	return nil
}

// run joins the server again and again, until ctx ends or the server refuses the token.
func (j *joiner) run(ctx context.Context) error {
	pause := j.times.min
	for {
		lasted, err := j.link(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if status, ok := errors.AsType[*StatusError](err); ok && status.Permanent() && j.servers.configured() {
			return status
		}
		j.servers.failed()
		if lasted >= j.times.max {
			pause = j.times.min
		}
		next := pause/2 + rand.N(pause/2+1)
		if errors.Is(err, host.ErrRefused) || errors.Is(err, host.ErrVersion) {
			next = j.times.refused
		}
		pause = min(2*pause, j.times.max)
		j.Logger.Info("the link to the server has ended", "lasted", lasted, "err", err, "next", next)
		j.OnState(State{Err: err, Next: next})
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(next):
		}
	}
}

// link joins the server once. It returns when the link has ended, with the duration of the link.
func (j *joiner) link(ctx context.Context) (lasted time.Duration, err error) {
	if err := j.startHost(ctx); err != nil {
		return 0, err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	ws, err := j.join(ctx)
	if err != nil {
		return 0, err
	}
	j.OnState(State{Joined: true})
	began := time.Now()
	var watching sync.WaitGroup
	watching.Go(func() { end(j.watch(ctx, ws.ws)) })
	err = host.Relay(ctx, j.dir, ws, j.Policy, j.Logger)
	if silent := context.Cause(ctx); errors.Is(silent, ErrUnresponsive) {
		err = silent
	}
	end(nil)
	watching.Wait()
	return time.Since(began), err
}

// join connects to the server and registers the machine.
func (j *joiner) join(ctx context.Context) (*conn, error) {
	bound, cancel := context.WithTimeout(ctx, j.times.dial)
	defer cancel()
	ws, resp, err := websocket.Dial(bound, j.servers.current()+Path, &websocket.DialOptions{
		HTTPClient: j.client, HTTPHeader: http.Header{"Authorization": {"Bearer " + j.Token}}, Subprotocols: []string{Subprotocol},
	})
	switch {
	case err != nil && resp != nil && resp.StatusCode != http.StatusSwitchingProtocols:
		return nil, statusError(resp)
	case err != nil:
		return nil, err
	}
	if err := j.servers.learn(resp.Header); err != nil {
		j.Logger.Warn("the addresses of the other servers are not kept for the next start", "err", err)
	}
	c := &conn{Conn: websocket.NetConn(ctx, ws, websocket.MessageBinary), ws: ws}
	if ws.Subprotocol() != Subprotocol {
		err = fmt.Errorf("%w: the server does not speak %s", host.ErrVersion, Subprotocol)
	} else {
		err = host.Register(bound, c, j.Registration)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// watch returns ErrUnresponsive if the server does not answer a ping in time. It returns nil when
// ctx or the connection ends.
func (j *joiner) watch(ctx context.Context, ws *websocket.Conn) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(j.times.ping):
		}
		bound, cancel := context.WithTimeout(ctx, j.times.pong)
		err := ws.Ping(bound)
		late := bound.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case late:
			return fmt.Errorf("%w within %v", ErrUnresponsive, j.times.pong)
		case err != nil:
			return nil // the relay returns the reason
		}
	}
}

// conn is the byte stream of a link. Close does not wait for the server.
type conn struct {
	net.Conn
	ws *websocket.Conn
}

func (c *conn) Close() error {
	if err := c.ws.CloseNow(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
