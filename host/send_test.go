//go:build unix

package host

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
)

// brokenConn is a connection whose peer no longer reads.
type brokenConn struct {
	net.Conn
	broken atomic.Bool
	failed chan struct{} // closed at the first write that fails
}

func (c *brokenConn) Write(b []byte) (int, error) {
	if c.broken.Load() {
		close(c.failed)
		return 0, syscall.EPIPE
	}
	return c.Conn.Write(b)
}

// An answer that the host sent before it closed the connection arrives, although writing another
// request fails.
func TestSend_broken(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	c := &brokenConn{Conn: ours, failed: make(chan struct{})}
	frames := &frameReader{r: theirs}
	respond := func(a answer) {
		frame, err := jsonFrame(frameAnswer, a)
		if err == nil {
			_, err = theirs.Write(frame)
		}
		if err != nil {
			t.Error(err)
		}
	}
	broke := make(chan struct{})
	go func() {
		for i := range 2 { // the handshake, and the first request
			if _, _, err := frames.next(); err != nil {
				t.Error(err)
				return
			}
			if i == 0 {
				respond(answer{ID: 1, Version: Version, Info: &Info{}})
			}
		}
		c.broken.Store(true)
		close(broke)
		<-c.failed
		respond(answer{ID: 2, Agents: []Agent{{Number: 7}}})
		theirs.Close()
	}()
	l, err := newLink(within(t), c, 1)
	must(t, err)
	first := make(chan error, 1)
	go func() {
		agents, err := l.Agents(within(t))
		if err == nil && (len(agents) != 1 || agents[0].Number != 7) {
			err = io.ErrUnexpectedEOF
		}
		first <- err
	}()
	<-broke
	if _, err := l.Agents(within(t)); !errors.Is(err, ErrLinkLost) {
		t.Errorf("a request that cannot be written: %v", err)
	}
	must(t, <-first)
	must(t, l.Close())
}
