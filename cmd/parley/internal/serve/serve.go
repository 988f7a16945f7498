// Package serve runs a server with the settings of parley serve, and checks whether it could run.
package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"

	"go.opentelemetry.io/otel/trace"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/agents"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/remote"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/takeover"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/docs/site"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/textfile"
	"github.com/seed7221b0f9/parley/server"
)

// Check returns an error for settings that would give others access.
func (f *Settings) Check() error {
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil {
		return term.Usagef("--listen %s: %v", f.listen, err)
	}
	if (f.tlsCert == "") != (f.tlsKey == "") {
		return term.Usagef("--tls-cert and --tls-key go together")
	}
	if !isLoopback(host) && f.tlsCert == "" && !f.insecure {
		return term.Usagef("--listen %s is for other machines: it needs --tls-cert and --tls-key, or --insecure behind a proxy with TLS", f.listen)
	}
	return errors.Join(f.checkHost(), f.box.check())
}

// isLoopback reports whether only this machine reaches a host.
func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

func (f *Settings) logger(w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return nil, term.Usagef("--log-level %s: it is debug, info, warn or error", f.logLevel)
	}
	opts := &slog.HandlerOptions{Level: level}
	switch f.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(w, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, opts)), nil
	}
	return nil, term.Usagef("--log-format %s: it is text or json", f.logFormat)
}

// serveGC is the GOGC of a server: collecting half as often costs a small heap some memory, and reduces the load with many streams.
const serveGC = 200

// spaceGC sets the garbage collection target, unless the user has set GOGC.
func spaceGC(lookup func(string) (string, bool)) {
	if _, set := lookup("GOGC"); !set {
		debug.SetGCPercent(serveGC)
	}
}

// errTerminated is the cause of the end of a server that a service manager stops, perhaps to start another one.
var errTerminated = fmt.Errorf("SIGTERM: %w", server.ErrLeave)

// untilSignal returns a context that ends with SIGINT or SIGTERM. A second signal ends the process.
func untilSignal(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGTERM, os.Interrupt)
	go func() {
		select {
		case s := <-caught:
			if s == syscall.SIGTERM {
				cancel(errTerminated)
			}
			cancel(nil)
		case <-ctx.Done():
		}
		signal.Stop(caught)
	}()
	return ctx, func() { cancel(nil) }
}

// Serve serves until a signal arrives or another server replaces it.
func (f *Settings) Serve(ctx context.Context, out io.Writer) error {
	spaceGC(os.LookupEnv)
	var memory sync.WaitGroup
	defer memory.Wait()
	ctx, stop := untilSignal(ctx)
	defer stop()
	memory.Go(func() { giveBack(ctx, quietEvery) })
	logger, err := f.logger(term.StandardError())
	if err != nil {
		return err
	}
	if _, err := f.sshMachines(); err != nil {
		return err
	}
	key, err := f.key()
	if err != nil {
		return err
	}
	secret, err := f.secretKey()
	if err != nil {
		return err
	}
	// Open the port first: a second server fails before it touches any files.
	port, before, err := f.openPort(ctx, logger)
	if err != nil {
		return err
	}
	for {
		r := &run{Settings: f, out: out, logger: logger, key: key, secret: secret, port: port, before: before}
		err := r.serve(ctx)
		if r.next == nil {
			return err
		}
		if port, err = r.handOver(ctx, err); port == nil || ctx.Err() != nil {
			return err
		}
		before = nil
	}
}

// run is one life of a server, from opening the data directory to closing it.
type run struct {
	*Settings
	out    io.Writer
	logger *slog.Logger
	key    string
	secret []byte // of the cluster
	port   *net.TCPListener
	before *takeover.Predecessor // the server that this one replaces, or nil
	next   *takeover.Successor   // the server that replaces this one, or nil
}

// serve serves until ctx ends or a successor asks.
func (r *run) serve(ctx context.Context) (err error) {
	defer r.port.Close()
	defer func() { err = errors.Join(err, r.giveUp()) }()
	l, err := r.secured(r.port)
	if err != nil {
		return err
	}
	signalled, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	traces, endTraces, err := r.tracing(ctx, r.logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, endTraces()) }()
	shown, err := r.openPreviews(ctx)
	if err != nil {
		return err
	}
	defer shown.close()
	store, err := r.store(ctx, r.logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore(store)) }()
	peers, leaveCluster, err := r.joinCluster(ctx, r.secret, l, store, r.logger)
	if err != nil {
		return err
	}
	defer leaveCluster()
	ctx, shutdown := context.WithCancel(signalled)
	defer shutdown()
	agentHost, endHost, err := r.openHost(signalled, r.out, peers, r.logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, endHost(err)) }()
	offered, err := r.offer(ctx, store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, offered.Close()) }()
	opts := r.options(r.logger, store, offered, traces)
	opts.Shutdown, opts.Preview, opts.Host, opts.Cluster = shutdown, shown.origins, agentHost, peers
	opts.APIKey, opts.APIUpstream = r.key, r.apiUpstream
	if err := errors.Join(r.money(&opts), r.storage(&opts), r.telling(&opts), r.checkTenants(), r.boxes(ctx, &opts)); err != nil {
		return err
	}
	s, err := server.New(ctx, opts)
	if err != nil {
		return err
	}
	defer shown.serve(ctx, s, r.logger)()
	defer r.openDoor(leave)()
	return r.serveOn(ctx, s, l, func(base, token, metrics string) {
		greet(r.out, base, token, strings.TrimSpace(offered.Note+"\n"+fullNote(ctx, store)), metrics)
	})
}

// offer returns the agents of the server.
func (r *run) offer(ctx context.Context, store *eventlog.Store) (*agents.Set, error) {
	home := r.home()
	var err error
	if home.Copies, err = r.copies(ctx, "", store); err != nil {
		return nil, err
	}
	return agents.Choose(r.agents, home, r.logger)
}

// fullNote returns a note if the disk is full: then every session is refused.
func fullNote(ctx context.Context, store *eventlog.Store) string {
	if u, err := store.Usage(ctx); err == nil && u.Free == 0 {
		return "The disk has less room than Parley leaves free: nothing can be stored, and sessions are refused until there is room. See parley doctor."
	}
	return ""
}

// serveOn creates the token of a server, prints the greeting and serves. The token is revoked at
// the end, unless another server may follow.
func (r *run) serveOn(ctx context.Context, s *server.Server, l net.Listener, greet func(base, token, metrics string)) error {
	token, err := s.PrintedToken(l.Addr())
	if err != nil {
		return errors.Join(err, s.Close())
	}
	base := r.address(l)
	defer remember(r.Data, base+"/#token="+token, r.logger)()
	metrics, stopMetrics, err := r.serveMetrics(ctx, s)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	defer stopMetrics()
	unlink, err := r.linkMachines(ctx, s)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	defer unlink()
	greet(base, token, metrics)
	if err := r.confirm(); err != nil {
		return errors.Join(err, s.Close())
	}
	err = s.Serve(ctx, l)
	if !errors.Is(context.Cause(ctx), server.ErrLeave) {
		err = errors.Join(err, s.EndPrinted())
	}
	return err
}

// openAt opens a port, with TLS if secure is set and there is a certificate.
func (f *Settings) openAt(ctx context.Context, address string, secure bool) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil || !secure {
		return l, err
	}
	tls, err := f.secured(l)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return tls, nil
}

// secured adds TLS to a port if there is a certificate.
func (f *Settings) secured(l net.Listener) (net.Listener, error) {
	if f.tlsCert == "" {
		return l, nil
	}
	cert, certErr := textfile.Read(f.tlsCert)
	key, err := textfile.Read(f.tlsKey)
	if err = errors.Join(certErr, err); err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, err
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}), nil
}

func (f *Settings) store(ctx context.Context, logger *slog.Logger) (*eventlog.Store, error) {
	if err := os.MkdirAll(f.Data, 0o700); err != nil {
		return nil, err
	}
	return eventlog.Open(ctx, f.storeOptions(logger))
}

// storeOptions returns the options of the store.
func (f *Settings) storeOptions(logger *slog.Logger) *eventlog.Options {
	opts := &eventlog.Options{Logger: logger, Quota: f.quotaMB << 20}
	if f.nats != "" {
		opts.URL, opts.Credentials, opts.RootCAs, opts.Replicas = f.nats, f.natsCredentials, f.natsCA, f.natsReplicas
	} else {
		opts.Dir = filepath.Join(f.Data, remote.LogDir)
	}
	return opts
}

// options returns the server's options.
func (f *Settings) options(logger *slog.Logger, store *eventlog.Store, offered *agents.Set, traces trace.TracerProvider) server.Options {
	traceAgents(offered.Providers, traces)
	return server.Options{
		TracerProvider: traces, Tenant: f.tenants(offered, store, logger, traces),
		Docs: site.Handler("/docs/"), Providers: offered.Providers, Simulated: offered.Simulated, Store: store, Dir: filepath.Join(f.Data, remote.ServerDir), Version: f.Version, Directories: f.dirs,
		DefaultModel: f.model, DefaultMode: f.mode, AllowBypass: f.allowBypass, Env: server.AgentEnv(os.Environ(), f.passEnv),
		AllowedHosts: f.allowedHosts, AllowedOrigins: f.allowedOrigins, TrustedProxies: f.proxies, TrustGit: f.trustGit, SecureCookies: f.tlsCert != "",
		MaxConnections: f.maxConnections, MaxAgents: f.maxAgents, MaxSessions: f.maxSessions, IdleTimeout: f.idleTimeout, DrainTimeout: f.DrainTimeout,
		Stall: server.Stall{Notify: f.stallNotify, Interrupt: f.stallInterrupt, Kill: f.stallKill}, Logger: logger,
	}
}

// address returns the address of the server for clients.
func (f *Settings) address(l net.Listener) string {
	scheme := "http"
	if f.tlsCert != "" {
		scheme = "https"
	}
	addr := l.Addr().String()
	if ap, err := netip.ParseAddrPort(addr); err == nil && ap.Addr().IsUnspecified() {
		addr = fmt.Sprintf("localhost:%d", ap.Port())
	}
	return scheme + "://" + addr
}

// greet prints the address and commands that can be copied.
func greet(out io.Writer, base, token, note, metrics string) {
	if note != "" {
		fmt.Fprintf(out, "%s\n\n", note)
	}
	if metrics != "" {
		fmt.Fprintf(out, "Metrics are at http://%s/metrics.\n\n", metrics)
	}
	fmt.Fprintf(out, `Parley serves on %[1]s. Open the page:

  %[1]s/#token=%[2]s

or call it:

  export PARLEY_TOKEN=%[2]s
  call() { curl -sS -H "Authorization: Bearer $PARLEY_TOKEN" -H 'Content-Type: application/json' -d "$2" "%[1]s/v1/$1"; }
  SESSION=$(call session.connect '{}' | sed 's/.*"session_id":"\([^"]*\)".*/\1/')
  call session.query "{\"session_id\":\"$SESSION\",\"text\":\"say hello\"}"
  curl -sS -H "Authorization: Bearer $PARLEY_TOKEN" "%[1]s/v1/sessions/$SESSION/events?wait=5"

`, base, token)
}

// remember stores the address of the server for other commands of the same user. A failure is only logged.
func remember(data, address string, logger *slog.Logger) (forget func()) {
	forget, err := remote.Remember(data, address)
	if err != nil {
		logger.Warn("other commands will not find the server by themselves", "err", err)
		return func() {}
	}
	return forget
}
