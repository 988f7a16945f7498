package serve

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/internal/supervise"
	"github.com/seed7221b0f9/parley/server"
)

// telling adds the receivers of notifications to the options.
func (f *Settings) telling(opts *server.Options) error {
	for _, text := range f.webhookNetworks {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return term.Usagef("--webhook-network %s: it is not a network such as 10.0.0.0/8", text)
		}
		opts.WebhookNetworks = append(opts.WebhookNetworks, p)
	}
	if f.hookCommand != "" && !filepath.IsAbs(f.hookCommand) {
		return term.Usagef("--hook-command %s: it is not an absolute path", f.hookCommand)
	}
	opts.HookCommand, opts.Supervisor = f.hookCommand, supervise.Self()
	if f.pushContact != "" && !strings.HasPrefix(f.pushContact, "mailto:") && !strings.HasPrefix(f.pushContact, "https://") {
		return term.Usagef("--push-contact %s: it does not begin with mailto: or https://", f.pushContact)
	}
	opts.Push, opts.PushContact = f.push, f.pushContact
	return nil
}

// serveMetrics serves the metrics on a separate address, if set, and returns it.
func (f *Settings) serveMetrics(ctx context.Context, s *server.Server) (at string, stop func(), err error) {
	if f.metricsListen == "" {
		return "", func() {}, nil
	}
	host, _, err := net.SplitHostPort(f.metricsListen)
	if err != nil {
		return "", nil, term.Usagef("--metrics-listen %s: %v", f.metricsListen, err)
	}
	if !isLoopback(host) && !f.insecure {
		return "", nil, term.Usagef("--metrics-listen %s is for other machines and has no token: it needs --insecure", f.metricsListen)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.metricsListen)
	if err != nil {
		return "", nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.MetricsHandler())
	hs := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute, MaxHeaderBytes: 64 << 10}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = hs.Serve(l) // ends with http.ErrServerClosed
	}()
	return l.Addr().String(), func() {
		_ = hs.Close() // aborts running requests
		<-done
	}, nil
}
