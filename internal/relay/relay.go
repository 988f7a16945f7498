// Package relay forwards data between two connections.
package relay

import (
	"io"
	"net"
	"sync"
)

// Join copies the data of each connection to the other one, and returns when both directions have
// ended. When one direction ends, its end is forwarded and the other direction continues; an error
// ends both. The caller closes the connections, which also ends Join.
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
