package host

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// peerUID returns the user of the process at the other end.
var peerUID = func(conn *net.UnixConn) (uint32, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *syscall.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil {
		return 0, err
	}
	if credErr != nil {
		return 0, credErr
	}
	return cred.Uid, nil
}

// samePeer returns an error for a process of another user.
func samePeer(conn net.Conn) error {
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return fmt.Errorf("%T is no Unix socket", conn)
	}
	uid, err := peerUID(unix)
	if err != nil {
		return err
	}
	if own := os.Geteuid(); int(uid) != own {
		return fmt.Errorf("the other process belongs to user %d and not to %d", uid, own)
	}
	return nil
}
