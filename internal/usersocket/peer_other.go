//go:build !linux

package usersocket

import (
	"errors"
	"net"
)

// CheckPeer relies on the mode of the socket.
func CheckPeer(*net.UnixConn) error { return nil }

// PeerPID is not supported.
func PeerPID(*net.UnixConn) (int, error) { return 0, errors.ErrUnsupported }
