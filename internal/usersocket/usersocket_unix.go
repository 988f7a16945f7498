//go:build unix

package usersocket

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
)

// maxSocketPath is the longest socket path that every system accepts.
const maxSocketPath = 100

// shorten calls f with a socket path that the system accepts: through a link to its folder, if the path is too long.
func shorten(path string, f func(path string) error) error {
	if len(path) <= maxSocketPath {
		return f(path)
	}
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, temp := range []string{os.TempDir(), "/tmp"} {
		var dir string
		if dir, err = os.MkdirTemp(temp, "parley-"); err != nil { // for this user alone
			continue
		}
		link := filepath.Join(dir, "h")
		if err = os.Symlink(folder, link); err == nil {
			if short := filepath.Join(link, filepath.Base(path)); len(short) <= maxSocketPath {
				return errors.Join(f(short), os.RemoveAll(dir))
			}
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return errors.Join(errors.New("no short path for the socket"), err)
}

// Listen opens a socket. It replaces an existing one: the caller knows that its process has ended.
func Listen(path string) (*net.UnixListener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var l *net.UnixListener
	err := shorten(path, func(short string) (err error) {
		l, err = net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: short})
		return err
	})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // its short path no longer exists then
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Dial connects to a socket, and returns an error if its process belongs to another user.
func Dial(ctx context.Context, path string) (*net.UnixConn, error) {
	var conn *net.UnixConn
	err := shorten(path, func(short string) error {
		c, err := new(net.Dialer).DialContext(ctx, "unix", short)
		if err == nil {
			conn = c.(*net.UnixConn)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := CheckPeer(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}
