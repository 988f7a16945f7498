package keyproxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/internal/usersocket"
)

// processArgument is the argument with which a program that calls Enter becomes the process of a
// proxy.
const processArgument = "parley-key-proxy"

// readyLine is the line that a process prints when its socket is open.
const readyLine = "ready\n"

// Enter makes this process a proxy, and does not return, if a [Remote] has started it as one. A program calls it first in its main
// function.
func Enter() {
	if len(os.Args) == 3 && os.Args[1] == processArgument {
		os.Exit(enter(os.Args[2]))
	}
}

// enter serves until a signal arrives.
func enter(path string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	err := proc.Hide() // before the process receives the key
	if err == nil {
		err = serveControl(ctx, path, logger, func() error { _, err := os.Stdout.WriteString(readyLine); return err })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "parley key proxy:", err)
		return 1
	}
	return 0
}

// process is a proxy that is controlled through a socket.
type process struct {
	path   string
	logger *slog.Logger

	mu    sync.Mutex
	proxy *Proxy            // nil before the first key
	held  map[net.Conn]bool // open connections
}

// serveControl serves the socket that the file at path names, until ctx ends. It calls ready when
// the socket is open.
func serveControl(ctx context.Context, path string, logger *slog.Logger, ready func() error) error {
	l, err := usersocket.Listen(path)
	if err != nil {
		return err
	}
	s := &process{path: path, logger: logger, held: map[net.Conn]bool{}}
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	var serving sync.WaitGroup
	err = ready()
	for err == nil {
		var conn *net.UnixConn
		if conn, err = l.AcceptUnix(); err == nil {
			serving.Go(func() { s.serve(conn) })
		}
	}
	if ctx.Err() != nil && errors.Is(err, net.ErrClosed) {
		err = nil
	}
	err = errors.Join(err, l.Close(), s.close())
	serving.Wait()
	return err
}

// serve answers the messages of one connection.
func (s *process) serve(conn *net.UnixConn) {
	defer conn.Close()
	if err := usersocket.CheckPeer(conn); err != nil {
		s.logger.Warn("a connection was refused", "err", err)
		return
	}
	if !s.hold(conn, true) {
		return
	}
	defer s.hold(conn, false)
	l := newLine(conn)
	for {
		m, err := l.read()
		if err != nil {
			return
		}
		answer, err := s.answer(m)
		if err != nil {
			answer = message{Error: err.Error()}
		}
		if l.write(answer) != nil {
			return
		}
	}
}

// hold adds or removes a connection. It returns false after close.
func (s *process) hold(conn net.Conn, open bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		return false
	}
	if open {
		s.held[conn] = true
	} else {
		delete(s.held, conn)
	}
	return true
}

func (s *process) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.held {
		_ = conn.Close()
	}
	s.held = nil
	if s.proxy == nil {
		return nil
	}
	return s.proxy.Close()
}

// answer executes a request.
func (s *process) answer(m message) (message, error) {
	p, err := s.open(m)
	switch {
	case err != nil:
		return message{}, err
	case m.Open:
		door, err := p.Door()
		return message{Version: version, URL: p.URL(), Door: door, Grants: p.list()}, err
	case m.Grant != nil:
		id, err := parseID(m.Grant.ID)
		if err != nil {
			return message{}, err
		}
		return message{}, p.addLimited(id, m.Grant.Session)
	}
	for _, text := range m.Revoke {
		id, err := parseID(text)
		if err != nil {
			return message{}, err
		}
		p.revoke(id)
	}
	return message{}, nil
}

// open returns the proxy. The first key starts it, and a later one replaces the key together with its upstream and the
// allowed hosts.
func (s *process) open(m message) (*Proxy, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proxy != nil && m.Key == "" {
		return s.proxy, nil
	}
	opts := Options{Key: m.Key, Upstream: m.Upstream, Allow: m.Allow, Door: s.path + ".door", Logger: s.logger}
	t, err := opts.target()
	if err != nil {
		return nil, err
	}
	if s.proxy == nil {
		s.proxy, err = Listen(opts)
		return s.proxy, err
	}
	s.proxy.retarget(t)
	return s.proxy, nil
}

// list returns the valid tokens.
func (p *Proxy) list() []granted {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []granted
	for id, g := range p.grants {
		all = append(all, granted{id.String(), g.session})
	}
	return all
}

// addLimited is like add, but refuses more than maxGrants tokens.
func (p *Proxy) addLimited(id tokenID, session string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.grants) >= maxGrants || len(session) > maxSession {
		return fmt.Errorf("keyproxy: more than %d tokens, or a session of more than %d bytes", maxGrants, maxSession)
	}
	p.addLocked(id, session)
	return nil
}

// maxSession is the maximum length of a session's name in bytes.
const maxSession = 256
