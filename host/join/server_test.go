//go:build unix

package join

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/relay"
)

// testServer is a server for machines, behind a network with faults.
type testServer struct {
	*httptest.Server
	*network
	check  func(host.Registration) error
	status atomic.Int64 // status of the response; 0 opens a link
	epoch  atomic.Uint64
	tells  atomic.Pointer[[]string] // addresses in ServersHeader
	links  chan *host.Link
	seen   chan host.Registration
}

func newServer(t testing.TB) *testServer {
	s := &testServer{links: make(chan *host.Link, 10), seen: make(chan host.Registration, 10), check: func(host.Registration) error { return nil }}
	s.Server = httptest.NewServer(s)
	s.network = newNetwork(t, s.Listener.Addr().String())
	t.Cleanup(func() {
		s.network.close()
		s.Server.Close()
	})
	return s
}

func (s *testServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status := int(s.status.Load())
	if r.URL.Path != Path || r.Header.Get("Authorization") != "Bearer secret" {
		status = http.StatusUnauthorized
	}
	if status != 0 {
		w.Header().Set("Location", "http://"+s.to+Path)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"error":{"code":-1,"message":"the token was revoked"}}`))
		return
	}
	if told := s.tells.Load(); told != nil {
		for _, address := range *told {
			w.Header().Add(ServersHeader, address)
		}
	}
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{Subprotocol}})
	if err != nil {
		return
	}
	defer ws.CloseNow()
	conn := websocket.NetConn(context.Background(), ws, websocket.MessageBinary)
	registered, err := host.AcceptRegistration(r.Context(), conn, s.check)
	if err != nil {
		return
	}
	s.seen <- registered
	l, err := host.NewLink(context.Background(), conn, s.epoch.Add(1))
	if err != nil {
		return
	}
	s.links <- l
	<-l.Done()
}

// network is a proxy whose connections can be cut, or can stop transferring data.
type network struct {
	listener net.Listener
	to       string
	serving  sync.WaitGroup

	mu     sync.Mutex
	ended  bool
	silent bool
	conns  map[net.Conn]bool
	held   sync.Cond // waits while silent
}

func newNetwork(t testing.TB, to string) *network {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	n := &network{listener: l, to: to, conns: map[net.Conn]bool{}}
	n.held.L = &n.mu
	n.serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n.serving.Go(func() { n.carry(c) })
		}
	})
	return n
}

// address returns the address of the server behind the network.
func (n *network) address() string { return "http://" + n.listener.Addr().String() }

// carry connects a client with the server.
func (n *network) carry(c net.Conn) {
	defer c.Close()
	up, err := net.Dial("tcp", n.to)
	if err != nil {
		return
	}
	defer up.Close()
	if n.add(c, up) {
		relay.Join(carried{c.(*net.TCPConn), n}, carried{up.(*net.TCPConn), n})
	}
}

func (n *network) add(conns ...net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range conns {
		n.conns[c] = true
	}
	return !n.ended
}

// cut closes all connections.
func (n *network) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.conns {
		c.Close()
		delete(n.conns, c)
	}
}

// swallow makes all connections stop or resume transferring data.
func (n *network) swallow(on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.silent = on
	n.held.Broadcast()
}

func (n *network) close() {
	n.mu.Lock()
	n.ended = true
	n.mu.Unlock()
	n.swallow(false)
	n.listener.Close()
	n.cut()
	n.serving.Wait()
}

// carried is a connection of a network.
type carried struct {
	*net.TCPConn
	n *network
}

var errGone = errors.New("the connection is gone")

// ReadFrom hides the method of the TCP connection, which would bypass Write.
func (c carried) ReadFrom(r io.Reader) (int64, error) { return io.Copy(struct{ io.Writer }{c}, r) }

// WriteTo hides the method of the TCP connection too.
func (c carried) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{c.TCPConn})
}

func (c carried) Write(b []byte) (int, error) {
	c.n.mu.Lock()
	for c.n.silent {
		c.n.held.Wait()
	}
	there := c.n.conns[c.TCPConn]
	c.n.mu.Unlock()
	if !there {
		return 0, errGone
	}
	return c.TCPConn.Write(b)
}
