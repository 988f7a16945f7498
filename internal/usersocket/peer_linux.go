package usersocket

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// peer returns the process at the other end of a socket: the one that connected or listens.
var peer = func(conn *net.UnixConn) (*syscall.Ucred, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	var cred *syscall.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil {
		return nil, err
	}
	return cred, credErr
}

// CheckPeer returns an error if the process at the other end belongs to another user.
func CheckPeer(conn *net.UnixConn) error {
	cred, err := peer(conn)
	if err != nil {
		return err
	}
	if own := os.Geteuid(); int(cred.Uid) != own {
		return fmt.Errorf("the other process belongs to user %d and not to %d", cred.Uid, own)
	}
	return nil
}

// PeerPID returns the id of the process at the other end.
func PeerPID(conn *net.UnixConn) (int, error) {
	cred, err := peer(conn)
	if err != nil {
		return 0, err
	}
	return int(cred.Pid), nil
}
