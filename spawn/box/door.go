package box

import (
	"net"
	"sync"

	"github.com/seed7221b0f9/parley/internal/relay"
)

// Door forwards the connections of a listener.
type Door struct {
	l     net.Listener
	dial  func() (net.Conn, error)
	wg    sync.WaitGroup
	mu    sync.Mutex
	conns map[net.Conn]bool // nil after Close
}

// OpenDoor connects each connection of l with one that dial opens, until Close.
func OpenDoor(l net.Listener, dial func() (net.Conn, error)) *Door {
	d := &Door{l: l, dial: dial, conns: map[net.Conn]bool{}}
	d.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			d.wg.Go(func() { d.connect(c) })
		}
	})
	return d
}

// Close closes the listener and all connections, and returns when they have ended.
func (d *Door) Close() error {
	err := d.l.Close()
	d.mu.Lock()
	for c := range d.conns {
		c.Close()
	}
	d.conns = nil
	d.mu.Unlock()
	d.wg.Wait()
	return err
}

// hold registers a connection for Close. It returns false after Close.
func (d *Door) hold(c net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conns == nil {
		c.Close()
		return false
	}
	d.conns[c] = true
	return true
}

func (d *Door) drop(c net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.conns, c)
	c.Close()
}

// connect forwards one connection.
func (d *Door) connect(from net.Conn) {
	if !d.hold(from) {
		return
	}
	defer d.drop(from)
	to, err := d.dial()
	if err != nil || !d.hold(to) {
		return
	}
	defer d.drop(to)
	relay.Join(from, to)
}
