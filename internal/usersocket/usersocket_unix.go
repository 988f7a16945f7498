//go:build unix

package usersocket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

const (
	// maxSocketPath is the longest socket path that every system accepts.
	maxSocketPath = 100
	// dirPrefix begins the name of the directory of a socket.
	dirPrefix = "parley-"
	// maxName limits the size of a file that names a socket.
	maxName = 4096
)

// name is the content of the file that names a socket.
type name struct {
	Socket string `json:"socket"`
	Folder string `json:"folder"` // identifies the folder of the file, see folderID
}

// Listen opens a socket and writes its name to path. It replaces an existing one: the caller knows that its process has ended.
func Listen(path string) (*Listener, error) {
	if err := removeStale(path); err != nil {
		return nil, err
	}
	folder, err := folderID(path)
	if err != nil {
		return nil, err
	}
	dir, err := makeDir()
	if err != nil {
		return nil, err
	}
	l := &Listener{path: path, dir: dir}
	socket := filepath.Join(dir, "s")
	if l.UnixListener, err = net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: socket}); err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	if err := errors.Join(os.Chmod(socket, 0o600), write(path, name{Socket: socket, Folder: folder})); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Dial connects to the socket that the file at path names, and returns an error if its process belongs to another user. A file that is
// missing or was copied from another folder is [fs.ErrNotExist].
func Dial(ctx context.Context, path string) (*net.UnixConn, error) {
	n, err := read(path)
	if err != nil {
		return nil, err
	}
	c, err := new(net.Dialer).DialContext(ctx, "unix", n.Socket)
	if err != nil {
		return nil, err
	}
	conn := c.(*net.UnixConn)
	if err := CheckPeer(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// write replaces the file at path atomically, so that Dial never reads a part of it.
func write(path string, n name) error {
	content, err := json.Marshal(n)
	if err == nil {
		err = os.WriteFile(path+".new", content, 0o600)
	}
	if err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// read returns the name in a file of the same folder.
func read(path string) (name, error) {
	content, err := regularfile.ReadNoFollow(path, maxName)
	if err != nil {
		return name{}, err
	}
	var n name
	if err := json.Unmarshal(content, &n); err != nil {
		return name{}, fmt.Errorf("%s names no socket: %w", path, err)
	}
	folder, err := folderID(path)
	if err != nil {
		return name{}, err
	}
	if n.Folder != folder {
		return name{}, fmt.Errorf("%s was copied from another folder: %w", path, fs.ErrNotExist)
	}
	return n, nil
}

// removeStale removes the socket of a process that was killed, and its name.
func removeStale(path string) error {
	if n, err := read(path); err == nil {
		dir := filepath.Dir(n.Socket)
		info, err := os.Lstat(n.Socket)
		if err == nil && info.Mode().Type() == fs.ModeSocket && strings.HasPrefix(filepath.Base(dir), dirPrefix) {
			_ = os.Remove(n.Socket)
			_ = os.Remove(dir)
		}
	}
	return remove(path)
}

// makeDir creates a directory with a path that is short enough for a socket.
func makeDir() (string, error) {
	var failed error
	for _, temp := range append(filepath.SplitList(os.Getenv(RuntimeVariable)), os.TempDir(), "/tmp") {
		dir, err := os.MkdirTemp(temp, dirPrefix) // for this user alone
		if err == nil {
			dir, err = filepath.Abs(dir)
		}
		if err == nil && len(dir)+len("/s") <= maxSocketPath {
			return dir, nil
		}
		if err == nil {
			err = errors.Join(fmt.Errorf("%s is too long for a socket", dir), os.Remove(dir))
		}
		failed = errors.Join(failed, err)
	}
	return "", failed
}

// folderID identifies the folder of a path. A copy of the folder has another id; a renamed folder
// keeps its id.
func folderID(path string) (string, error) {
	info, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	stat := info.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("%d:%d", stat.Dev, stat.Ino), nil
}
