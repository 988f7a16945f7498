package host

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

// A process of another user is refused.
func TestPeer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sock")
	l, err := listen(path)
	must(t, err)
	defer l.Close()
	conn, err := net.Dial("unix", path)
	must(t, err)
	defer conn.Close()
	served, err := l.Accept()
	must(t, err)
	defer served.Close()
	must(t, samePeer(served))
	before := peerUID
	defer func() { peerUID = before }()
	peerUID = func(*net.UnixConn) (uint32, error) { return uint32(os.Geteuid()) + 1, nil }
	if err := samePeer(served); err == nil {
		t.Error("another user was accepted")
	}
}
