package takeover

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"path/filepath"
	"syscall"
	"time"

	"github.com/seed7221b0f9/parley/internal/usersocket"
)

// ErrNone is returned by Ask if no server runs, or if it had to be ended.
var ErrNone = errors.New("takeover: no server runs")

// Predecessor is a running server that this process replaces.
type Predecessor struct {
	*peer
	Port   net.Listener
	leave  time.Duration
	logger *slog.Logger
}

// Ask asks the server of a data directory to hand over. format is the log format of this process. Ask ends a server
// that does not answer.
func Ask(ctx context.Context, dir string, format int, version string, logger *slog.Logger) (*Predecessor, error) {
	conn, err := usersocket.Dial(ctx, filepath.Join(dir, socketName))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, errors.ErrUnsupported) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	p := &Predecessor{peer: newPeer(conn), logger: logger}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if err := p.ask(format, version); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// ask sends the request and reads the answer with the port.
func (p *Predecessor) ask(format int, version string) error {
	if err := p.conn.SetDeadline(time.Now().Add(askTime)); err != nil {
		return err
	}
	if err := p.write(message{Protocol: protocol, Format: format, Version: version}); err != nil {
		return p.instead(err)
	}
	line, port, err := receiveFile(p.conn, maxLine)
	if err != nil {
		return p.instead(err)
	}
	defer port.Close()
	answer, err := parse(line)
	if err != nil {
		return err
	}
	p.leave = answer.Leave
	if port == nil {
		return errors.New("takeover: the running server has sent no port")
	}
	p.Port, err = net.FileListener(port)
	return err
}

// instead ends a server that has not completed its step in time, and then returns ErrNone.
func (p *Predecessor) instead(cause error) error {
	p.logger.Warn("the running server has not handed over and is ended", "pid", p.PID(), "err", cause)
	if err := p.endAfter(cause); err != nil {
		return errors.Join(cause, err)
	}
	return ErrNone
}

// Left waits until the server has left the data directory. It ends a server that does not leave in time.
func (p *Predecessor) Left() error {
	if m, err := p.read(time.Now().Add(p.leave + askTime)); err != nil || !m.Left {
		if err := p.instead(err); !errors.Is(err, ErrNone) {
			return err
		}
	}
	return nil
}

// Serving confirms that this process serves, and ends the handover.
func (p *Predecessor) Serving() error { return errors.Join(p.write(message{Serving: true}), p.close()) }

// Close gives up: the server continues.
func (p *Predecessor) Close() error { return p.close() }
