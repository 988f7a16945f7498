// Package relay forwards data between two connections.
package relay

import (
	"io"
	"net"
	"sync"
)

// Join copies data between two connections in both directions and returns when both directions have ended. It passes on the end of one
// direction and continues the other; an error ends both. The caller closes the connections, which also ends Join.
func Join(a, b net.Conn) {
	var back sync.WaitGroup
	back.Go(func() { pass(a, b) })
	pass(b, a)
	back.Wait()
}

// pass copies one direction and forwards its end.
func pass(to, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil {
		from.Close()
		to.Close()
		return
	}
	if c, ok := to.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite() // the other direction shows a broken connection
	}
}
