package main

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// fault is the effect of a faulty network path on connections.
type fault int

const (
	passes    fault = iota
	cuts            // closes them, and new ones
	delays          // delays all data
	halfOpens       // closes the server's end without telling the machine
	swallows        // reads the data of both ends and discards it
)

var faultNames = map[fault]string{passes: "passes", cuts: "cuts", delays: "delays", halfOpens: "half-opens", swallows: "swallows"}

// delay is the time by which a way with the fault delays holds back data.
const delay = 40 * time.Millisecond

// way is a faulty proxy between a machine and its server.
type way struct {
	net.Listener
	to func() string
	wg sync.WaitGroup

	mu    sync.Mutex
	fault fault
	conns map[*wayConn]bool
}

// wayConn is a connection through a way. A fault is permanent for it, because lost data is never
// sent again.
type wayConn struct {
	machine, server net.Conn // server is nil if it is not connected
	fault           fault
}

func newWay(t *testing.T, to func() string) *way {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &way{Listener: l, to: to, conns: map[*wayConn]bool{}}
	w.wg.Go(w.run)
	t.Cleanup(func() {
		l.Close()
		w.set(cuts)
		w.wg.Wait()
	})
	return w
}

// set sets the fault of existing and new connections. passes affects only new ones.
func (w *way) set(f fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = f
	for c := range w.conns {
		if f != passes || c.fault == delays {
			c.fault = f
		}
		if f == cuts || f == halfOpens {
			c.close(f == cuts)
		}
	}
}

// heal lets new connections pass, and closes the broken ones.
func (w *way) heal() {
	w.set(passes)
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		if c.fault != passes {
			c.close(true)
		}
	}
}

func (c *wayConn) close(both bool) {
	if both {
		c.machine.Close()
	}
	if c.server != nil {
		c.server.Close()
	}
}

func (w *way) run() {
	for {
		machine, err := w.Accept()
		if err != nil {
			return
		}
		w.mu.Lock()
		c := &wayConn{machine: machine, fault: w.fault}
		if c.fault == passes || c.fault == delays {
			if c.server, err = net.Dial("tcp", w.to()); err != nil {
				c.server, c.fault = nil, cuts
			}
		}
		if c.fault == cuts {
			w.mu.Unlock()
			machine.Close()
			continue
		}
		w.conns[c] = true
		w.mu.Unlock()
		w.wg.Go(func() { w.pass(c) })
	}
}

// pass copies both directions until the ends are closed.
func (w *way) pass(c *wayConn) {
	var both sync.WaitGroup
	both.Go(func() { w.copy(c, c.server, c.machine) })
	if c.server != nil {
		both.Go(func() { w.copy(c, c.machine, c.server) })
	}
	both.Wait()
	c.close(true)
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.conns, c)
}

// copy copies one direction, unless the fault stops it.
func (w *way) copy(c *wayConn, to, from net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		w.mu.Lock()
		f := c.fault
		w.mu.Unlock()
		if f == delays {
			<-time.After(delay)
		}
		if n > 0 && (f == passes || f == delays) {
			if _, writeErr := to.Write(buf[:n]); writeErr != nil {
				err = writeErr
			}
		}
		if err == nil {
			continue
		}
		if f == passes || f == delays || err == io.EOF && f == cuts {
			c.close(true)
		}
		return
	}
}
