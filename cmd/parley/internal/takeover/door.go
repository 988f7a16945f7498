package takeover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/internal/usersocket"
)

// Offer describes a server to its successor.
type Offer struct {
	Port   *net.TCPListener
	Format int           // of the logs that it writes
	Leave  time.Duration // the longest time that it takes to end
}

// Door is the socket on which a running server accepts a successor. Only the holder of the data directory's lock may
// open it.
type Door struct {
	offer  Offer
	logger *slog.Logger
	l      *usersocket.Listener
	asked  chan *Successor
	done   sync.WaitGroup
}

// OpenDoor opens the door of a data directory.
func OpenDoor(dir string, o Offer, logger *slog.Logger) (*Door, error) {
	d := &Door{offer: o, logger: logger, asked: make(chan *Successor, 1)}
	var err error
	if d.l, err = usersocket.Listen(filepath.Join(dir, socketName)); err != nil {
		return nil, err
	}
	d.done.Go(d.serve)
	return d, nil
}

// Asked returns a channel that gets the one successor. The server must end then, and call Confirm.
func (d *Door) Asked() <-chan *Successor { return d.asked }

// Close closes the door. It disconnects a successor that was not received from Asked.
func (d *Door) Close() error {
	err := d.l.Close()
	d.done.Wait()
	select {
	case s := <-d.asked:
		return errors.Join(err, s.close(), s.port.Close())
	default:
		return err
	}
}

// serve answers one process at a time, and refuses all after one was accepted.
func (d *Door) serve() {
	taken := ""
	for {
		conn, err := d.l.AcceptUnix()
		if err != nil {
			return
		}
		s, err := d.answer(conn, taken)
		if err == nil {
			d.asked <- s
			taken = "another process takes over already"
			continue
		}
		d.logger.Warn("a process that asked to replace this server was refused", "err", err)
		_ = conn.Close()
	}
}

// answer reads a request and sends the port, or the reason of a refusal: refusal, if it is not empty.
func (d *Door) answer(conn *net.UnixConn, refusal string) (*Successor, error) {
	if err := usersocket.CheckPeer(conn); err != nil {
		return nil, err
	}
	p := newPeer(conn)
	request, err := p.read(time.Now().Add(askTime))
	if err != nil {
		return nil, err
	}
	if refusal = cmp.Or(refusal, request.check(d.offer.Format)); refusal != "" {
		return nil, errors.Join(&RefusedError{refusal}, p.write(message{Error: refusal}))
	}
	port, err := d.offer.Port.File()
	if err != nil {
		return nil, err
	}
	if err := sendFile(conn, message{Protocol: protocol, Leave: d.offer.Leave}.line(), port); err != nil {
		return nil, errors.Join(err, port.Close())
	}
	return &Successor{peer: p, port: port, Version: request.Version}, nil
}

// Successor is a process that replaces this server.
type Successor struct {
	*peer
	Version string
	port    *os.File // stays open, so that this server can continue
}

// Confirm reports to the successor that this server has left, and waits until the successor serves. If it does not within readyTime it
// is ended, and Confirm returns the port for this server to continue with, and the reason.
func (s *Successor) Confirm(ctx context.Context) (port *net.TCPListener, err error) {
	defer s.close()
	defer s.port.Close()
	defer context.AfterFunc(ctx, func() { _ = s.conn.Close() })()
	err = s.write(message{Left: true})
	if err == nil {
		var m message
		if m, err = s.read(time.Now().Add(readyTime)); err == nil && m.Serving {
			return nil, nil
		}
	}
	err = fmt.Errorf("takeover: the other server did not start: %w", errors.Join(err, s.endAfter(err)))
	l, listenErr := net.FileListener(s.port)
	if listenErr != nil {
		return nil, errors.Join(err, listenErr)
	}
	return l.(*net.TCPListener), err
}
