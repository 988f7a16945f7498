package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/takeover"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server"
)

// errReplaced ends a server that another server replaces.
var errReplaced = fmt.Errorf("another server takes over: %w", server.ErrLeave)

// leaveMargin is the time that a server needs to shut down after its turns have ended.
const leaveMargin = 20 * time.Second

// openPort opens the port. With --replace it takes over the port of a running server on the same data directory, and
// returns after that server has shut down.
func (f *Settings) openPort(ctx context.Context, logger *slog.Logger) (*net.TCPListener, *takeover.Predecessor, error) {
	var before *takeover.Predecessor
	if f.replace {
		var err error
		if before, err = takeover.Ask(ctx, f.Data, eventlog.Format, f.Version, logger); err != nil && !errors.Is(err, takeover.ErrNone) {
			return nil, nil, err
		}
	}
	if before == nil {
		port, err := f.listenTCP(ctx)
		return port, nil, err
	}
	port, err := f.portOf(ctx, before.Port)
	if err == nil {
		err = before.Left()
	}
	if err != nil {
		return nil, nil, errors.Join(err, before.Close())
	}
	return port, before, nil
}

// portOf returns the port of the previous server if it is the one of --listen, and otherwise opens
// that.
func (f *Settings) portOf(ctx context.Context, theirs net.Listener) (*net.TCPListener, error) {
	want, err := net.ResolveTCPAddr("tcp", f.listen)
	if err != nil {
		return nil, errors.Join(err, theirs.Close())
	}
	if port, ok := theirs.(*net.TCPListener); ok && (want.Port == 0 || want.String() == port.Addr().String()) {
		return port, nil
	}
	return f.listenTCP(ctx)
}

func (f *Settings) listenTCP(ctx context.Context) (*net.TCPListener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return nil, err
	}
	return l.(*net.TCPListener), nil
}

// openDoor allows another server to replace this one. It calls leave when a server asks. A failure is only logged.
func (r *run) openDoor(leave context.CancelCauseFunc) (shut func()) {
	d, err := takeover.OpenDoor(r.Data, takeover.Offer{Port: r.port, Format: eventlog.Format, Leave: r.DrainTimeout + leaveMargin}, r.logger)
	if err != nil {
		if !errors.Is(err, errors.ErrUnsupported) {
			r.logger.Warn("another server cannot replace this one", "err", err)
		}
		return func() {}
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case r.next = <-d.Asked():
			r.logger.Info("another server takes over", "pid", r.next.PID(), "version", r.next.Version)
			leave(errReplaced)
		case <-stop:
		}
	}()
	return func() {
		close(stop)
		<-done
		if err := d.Close(); err != nil {
			r.logger.Warn("closing the socket for --replace", "err", err)
		}
	}
}

// confirm tells the previous server that this one serves. If the previous server has timed out, it
// continues, and this one ends.
func (r *run) confirm() error {
	if r.before == nil {
		return nil
	}
	before := r.before
	r.before = nil
	if err := before.Serving(); err != nil {
		return fmt.Errorf("the previous server did not wait: %w", err)
	}
	return nil
}

// giveUp makes the previous server continue, because this server failed to start.
func (r *run) giveUp() error {
	if r.before == nil {
		return nil
	}
	return r.before.Close()
}

// handOver waits until the next server serves. If it does not, handOver returns the port with which this server
// starts again.
func (r *run) handOver(ctx context.Context, ended error) (*net.TCPListener, error) {
	port, err := r.next.Confirm(ctx)
	if err == nil {
		fmt.Fprintln(r.out, "Another server has taken over.")
		return nil, ended
	}
	if port == nil {
		return nil, errors.Join(ended, err)
	}
	r.logger.Error("the other server did not take over: this one continues", "err", errors.Join(ended, err))
	return port, nil
}
