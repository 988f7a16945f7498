package eventlog

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/seed7221b0f9/parley/internal/textfile"
)

const (
	// deltaQuota limits the bytes of deltas; the oldest are dropped first.
	deltaQuota = 256 << 20
	// neverSync is the sync interval of stores that do not sync.
	neverSync = 1000 * time.Hour
	// minFree is the free disk space in bytes that is required before a server that found the disk full is restarted.
	minFree = 4 << 20
)

// embedded is a server in this process without a listener. A server that a write error has stopped
// is replaced by another one, to which the store's connection reconnects.
type embedded struct {
	dir  string
	opts *Options
	turn chan struct{} // holds the right to replace the server
	// mending is set while the server is replaced, until the connection has reached the next one.
	mending atomic.Bool

	restarted atomic.Bool // whether it has replaced a server
	// prepare is called before the next server is started, until it succeeds; it may be nil. It belongs to the holder of the turn.
	prepare func() error

	mu     sync.Mutex
	nc     *nats.Conn              // of the store; nil before it is connected
	srv    *server.Server          // nil while no server runs
	sound  context.Context         // ends, with the cause, when the server can no longer write
	broken context.CancelCauseFunc // ends it
}

func newEmbedded(dir string, o *Options) *embedded {
	e := &embedded{dir: dir, opts: o, turn: make(chan struct{}, 1)}
	e.turn <- struct{}{}
	e.reset(nil)
	return e
}

// start starts a server; ctx bounds only the start.
func (e *embedded) start(ctx context.Context) error {
	config := &server.Options{
		ServerName:             "parley",
		DontListen:             true,
		NoSigs:                 true,
		JetStream:              true,
		DisableJetStreamBanner: true,
		StoreDir:               e.dir,
		JetStreamMaxMemory:     64 << 20,
		JetStreamMaxStore:      2*e.opts.Quota + 2*deltaQuota,
		SyncAlways:             !e.opts.UnsafeNoSync,
		SyncInterval:           e.opts.SyncInterval,
	}
	if e.opts.UnsafeNoSync {
		config.SyncInterval = neverSync
	}
	srv, err := server.NewServer(config)
	if err != nil {
		return err
	}
	e.reset(srv)
	srv.SetLoggerV2(serverLogger{e}, false, false, false)
	srv.Start()
	for !srv.ReadyForConnections(10 * time.Millisecond) {
		if err := context.Cause(ctx); err != nil {
			e.stop()
			return fmt.Errorf("eventlog: starting the embedded server: %w", err)
		}
		if !srv.Running() {
			e.stop()
			return errors.New("eventlog: the embedded server stopped while it was starting")
		}
	}
	return nil
}

// reset makes srv the server, without a fault.
func (e *embedded) reset(srv *server.Server) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.srv = srv
	e.sound, e.broken = context.WithCancelCause(context.Background())
}

// stop stops the server and waits for it.
func (e *embedded) stop() {
	e.mu.Lock()
	srv := e.srv
	e.srv = nil
	e.mu.Unlock()
	if srv != nil {
		srv.Shutdown()
		srv.WaitForShutdown()
	}
}

// fault returns a context that ends when the server cannot write.
func (e *embedded) fault() context.Context {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sound
}

// fail marks the server as unable to write.
func (e *embedded) fail(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.broken(fmt.Errorf("%w: the server cannot write: %s", ErrFull, text))
}

// InProcessConn connects to the current server.
func (e *embedded) InProcessConn() (net.Conn, error) {
	e.mu.Lock()
	srv := e.srv
	e.mu.Unlock()
	if srv == nil {
		return nil, errors.New("the embedded server is not running")
	}
	return srv.InProcessConn()
}

// mend replaces a server that could not write, when the disk has room again. Until then it returns the reason.
func (e *embedded) mend(ctx context.Context) error {
	if e.fault().Err() == nil && !e.mending.Load() {
		return nil
	}
	select {
	case <-e.turn:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { e.turn <- struct{}{} }()
	fault := e.fault()
	if fault.Err() == nil {
		return nil // replaced meanwhile
	}
	free, err := diskFree(e.dir)
	if err != nil {
		return err
	}
	if free < max(e.opts.Reserve, minFree) {
		return context.Cause(fault)
	}
	if err := e.replace(ctx); err != nil {
		return err
	}
	e.opts.Logger.Warn("eventlog: the embedded server was started again", "after", context.Cause(fault))
	return nil
}

// salvage replaces the server, and calls prepare while no server runs.
func (e *embedded) salvage(ctx context.Context, prepare func() error) error {
	select {
	case <-e.turn:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { e.turn <- struct{}{} }()
	e.prepare = prepare
	return e.replace(ctx)
}

// replace stops the server and starts another one.
func (e *embedded) replace(ctx context.Context) error {
	e.mending.Store(true)
	defer e.mending.Store(false)
	e.stop()
	e.restarted.Store(true)
	var err error
	if e.prepare != nil {
		err = e.prepare()
	}
	if err == nil {
		e.prepare = nil
		err = e.start(ctx)
	}
	if err != nil {
		e.fail(err.Error())
		return err
	}
	return e.found(ctx)
}

// found waits until the store's connection has reached the current server: earlier requests are
// lost and would never be answered.
func (e *embedded) found(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, e.opts.Timeout)
	defer cancel()
	e.mu.Lock()
	nc, srv := e.nc, e.srv
	e.mu.Unlock()
	if srv == nil {
		return errors.New("the embedded server is not running")
	}
	for id := srv.ID(); nc != nil && (!nc.IsConnected() || nc.ConnectedServerId() != id); {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("eventlog: connecting to the embedded server again: %w", context.Cause(ctx))
		}
	}
	return nil
}

// connect connects to the embedded server, or to the cluster if e is nil.
func connect(e *embedded, o *Options, reconnected func()) (*nats.Conn, error) {
	options := []nats.Option{
		nats.Name("parley eventlog"), nats.MaxReconnects(-1), nats.Timeout(o.Timeout),
		nats.ReconnectHandler(func(*nats.Conn) { reconnected() }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			o.Logger.Warn("eventlog: connection", "err", err)
		}),
	}
	if e != nil {
		nc, err := nats.Connect("", append(options, nats.InProcessServer(e), nats.ReconnectWait(20*time.Millisecond))...)
		e.mu.Lock()
		defer e.mu.Unlock()
		e.nc = nc
		return nc, err
	}
	if o.Credentials != "" {
		options = append(options, nats.UserCredentials(o.Credentials))
	}
	if o.RootCAs != "" {
		options = append(options, nats.ClientTLSConfig(nil, func() (*x509.CertPool, error) { return readCAs(o.RootCAs) }))
	}
	return nats.Connect(o.URL, options...)
}

// readCAs returns the certificates in a PEM file. A connection that is made again reads the file again.
func readCAs(path string) (*x509.CertPool, error) {
	pem, err := textfile.Read(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("eventlog: %s has no certificate", path)
	}
	return pool, nil
}

// serverLogger passes the embedded server's messages on, and drops notices.
type serverLogger struct{ *embedded }

// Noticef drops a notice.
func (l serverLogger) Noticef(string, ...any) {}

// Warnf logs a warning.
func (l serverLogger) Warnf(format string, v ...any) { l.say(slog.LevelWarn, format, v) }

// Errorf logs an error. A stream that could not write stops answering, and only the log reports it.
func (l serverLogger) Errorf(format string, v ...any) {
	l.say(slog.LevelError, format, v)
	if text := fmt.Sprintf(format, v...); strings.Contains(text, "ritical write error") || strings.Contains(text, "JetStream out of") {
		l.fail(text)
	}
}

// Fatalf logs an error; an embedded server does not end the process.
func (l serverLogger) Fatalf(format string, v ...any) { l.say(slog.LevelError, format, v) }

// Debugf drops a debug message.
func (l serverLogger) Debugf(string, ...any) {}

// Tracef drops a trace message.
func (l serverLogger) Tracef(string, ...any) {}

func (l serverLogger) say(level slog.Level, format string, v []any) {
	l.opts.Logger.Log(context.Background(), level, "eventlog: embedded server: "+fmt.Sprintf(format, v...))
}
