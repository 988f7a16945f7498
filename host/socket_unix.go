//go:build unix

package host

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

// listen opens the socket. An existing one belongs to a killed host, because the caller holds the lock.
func listen(path string) (net.Listener, error) {
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
	// Only this user can access the folder, so no other process can connect before.
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func dial(ctx context.Context, path string) (conn net.Conn, err error) {
	err = shorten(path, func(short string) (err error) {
		conn, err = new(net.Dialer).DialContext(ctx, "unix", short)
		return err
	})
	return conn, err
}
