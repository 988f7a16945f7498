package usersocket

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"sync"
)

// RuntimeVariable is the environment variable with the runtime directories of a systemd service, which survive its
// restart; its temporary directory does not.
const RuntimeVariable = "RUNTIME_DIRECTORY"

// Listener is an open socket.
type Listener struct {
	*net.UnixListener
	path, dir string // of the file that names the socket, and the directory of the socket
	closed    sync.Once
	closeErr  error
}

// Socket returns the path of the socket itself.
func (l *Listener) Socket() string { return l.Addr().String() }

// Close closes the socket and removes it and its name. Every call returns after the removal.
func (l *Listener) Close() error {
	l.closed.Do(func() { l.closeErr = errors.Join(l.UnixListener.Close(), remove(l.path), os.RemoveAll(l.dir)) })
	return l.closeErr
}

// remove removes a file if it exists.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
