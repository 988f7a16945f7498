package join

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/filelock"
)

// SilentFor is the time after which a connection of [Over] is closed if the server sends nothing.
// The server sends a ping every [PingEvery].
const SilentFor = 45 * time.Second

var serverID = regexp.MustCompile(`^[0-9a-f]{16,64}$`)

// OverDir returns the data directory of the host for a server without an address, below the data
// directory of the machine. id, 16 to 64 hexadecimal digits, is chosen by the server.
func OverDir(dataDir, id string) (string, error) {
	if !serverID.MatchString(id) {
		return "", fmt.Errorf("%w: %q is not the id of a server", ErrConfig, id)
	}
	return filepath.Join(dataDir, "joined", "ssh-"+id), nil
}

// Over serves a server that has started this program, over a pair of streams, until a stream or ctx ends. It starts the host of the
// machine, which continues to run with its agents. It ignores Server and Token of the configuration.
func Over(ctx context.Context, c Config, id string, in io.Reader, out io.Writer) (err error) {
	c.Server, c.Token = "http://localhost", "none" // required by the check
	if err := c.check(); err != nil {
		return err
	}
	dir, err := OverDir(c.DataDir, id)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	lock, err := filelock.TryLock(filepath.Join(dir, "join.lock"))
	if errors.Is(err, filelock.ErrLocked) {
		return ErrJoined
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	j := &joiner{Config: c, dir: dir}
	if err := j.startHost(ctx); err != nil {
		return err
	}
	conn := piped(in, out, SilentFor)
	if err := host.Register(ctx, conn, c.Registration); err != nil {
		return errors.Join(err, conn.Close())
	}
	c.OnState(State{Joined: true})
	return host.Relay(ctx, dir, conn, c.Policy, c.Logger)
}

// piped returns a connection over two streams. It ends when in ends or has been silent for the
// given time. A pending read of in may remain at the end, because reads of a process's standard
// input cannot be cancelled.
func piped(in io.Reader, out io.Writer, silent time.Duration) net.Conn {
	ours, theirs := net.Pipe()
	quiet := time.AfterFunc(silent, func() { theirs.Close() })
	go func() {
		defer theirs.Close()
		defer quiet.Stop()
		buf := make([]byte, 64<<10)
		for {
			n, err := in.Read(buf)
			quiet.Reset(silent)
			if n > 0 {
				if _, writeErr := theirs.Write(buf[:n]); writeErr != nil {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	go func() {
		defer theirs.Close()
		_, _ = io.Copy(out, theirs) // the end of either stream ends the connection
	}()
	return ours
}
