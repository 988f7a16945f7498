package usersocket

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPeer checks that a process connects to a socket of the same user, also by a long path, that
// both identify each other, and that another user is refused.
func TestPeer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, file := range []string{path, l.Socket()} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v (%v), want 0600", file, info.Mode(), err)
		}
	}
	conn, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	served, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	if err := CheckPeer(served); err != nil {
		t.Error(err)
	}
	if pid, err := PeerPID(conn); pid != os.Getpid() || err != nil {
		t.Errorf("PeerPID() = %d, %v, want %d", pid, err, os.Getpid())
	}
	before := peer
	defer func() { peer = before }()
	peer = func(c *net.UnixConn) (*syscall.Ucred, error) {
		cred, err := before(c)
		cred.Uid++
		return cred, err
	}
	if err := CheckPeer(served); err == nil {
		t.Error("another user was accepted")
	}
	if c, err := Dial(t.Context(), path); err == nil {
		c.Close()
		t.Error("Dial has accepted a process of another user")
	}
}
