//go:build !linux

package host

import "net"

// samePeer trusts the rights of the folder that the socket is in: it is open to this user alone.
func samePeer(net.Conn) error { return nil }
