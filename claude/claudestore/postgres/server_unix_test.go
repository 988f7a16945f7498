//go:build !windows

package postgres_test

import (
	"os"
	"os/user"
	"strconv"
	"syscall"
	"testing"
)

// unprivileged gives the directory to a user other than root, because the server refuses
// to run as root.
func unprivileged(t *testing.T, dir string) *syscall.SysProcAttr {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err1 != nil || err2 != nil {
			continue
		}
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	t.Fatal("there is no user to run the server as")
	return nil
}

// interrupt makes the server close its connections and exit.
func interrupt(p *os.Process) { _ = p.Signal(os.Interrupt) }
