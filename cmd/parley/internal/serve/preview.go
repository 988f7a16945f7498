package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/server"
	"github.com/seed7221b0f9/parley/server/preview"
)

// shown holds the listeners of previews.
type shown struct {
	listeners []net.Listener
	origins   *preview.Origins // nil without previews
}

// openPreviews opens the ports for previews, unless they are disabled.
func (f *Settings) openPreviews(ctx context.Context) (*shown, error) {
	s := &shown{}
	if !f.preview {
		return s, nil
	}
	host, first, last, err := previewPorts(f.previewListen)
	if err != nil {
		return nil, err
	}
	local := isLoopback(host)
	if !local && f.tlsCert == "" && !f.insecure {
		return nil, term.Usagef("--preview-listen %s is for other machines: it needs --tls-cert and --tls-key, or --insecure behind a proxy with TLS", f.previewListen)
	}
	for port := first; port <= last; port++ {
		l, err := f.openAt(ctx, net.JoinHostPort(host, strconv.Itoa(port)), !local)
		if err != nil {
			s.close()
			return nil, err
		}
		s.listeners = append(s.listeners, l)
	}
	address := f.previewURL
	if address == "" {
		if address, err = f.previewAddress(host, local, s.listeners); err != nil {
			s.close()
			return nil, err
		}
	}
	origins, err := preview.ParseOrigins(address)
	if err != nil {
		s.close()
		return nil, term.Usagef("--preview-url: %v", err)
	}
	s.origins = &origins
	return s, nil
}

// previewPorts parses host:port or host:first-last.
func previewPorts(text string) (host string, first, last int, err error) {
	host, ports, err := net.SplitHostPort(text)
	if err != nil {
		return "", 0, 0, term.Usagef("--preview-listen %s: %v", text, err)
	}
	from, to, ranged := strings.Cut(ports, "-")
	if !ranged {
		to = from
	}
	first, err1 := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	if errors.Join(err1, err2) != nil || first < 0 || last > 65535 || last < first || last-first >= preview.MaxPorts || ranged && first == 0 {
		return "", 0, 0, term.Usagef("--preview-listen %s: the ports are a number, or a range of at most %d", text, preview.MaxPorts)
	}
	return host, first, last, nil
}

// previewAddress returns the default address of the previews for browsers: a host name for each
// on this machine, a port for each elsewhere.
func (f *Settings) previewAddress(host string, local bool, listeners []net.Listener) (string, error) {
	port := listeners[0].Addr().(*net.TCPAddr).Port
	if local {
		return fmt.Sprintf("http://*.localhost:%d", port), nil
	}
	if addr, err := netip.ParseAddr(host); host == "" || err == nil && addr.IsUnspecified() {
		return "", term.Usagef("--preview-listen %s has no name: it needs --preview-url", f.previewListen)
	}
	scheme := "http"
	if f.tlsCert != "" {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, fmt.Sprintf("%d-%d", port, port+len(listeners)-1)), nil
}

// close closes the ports that are not served.
func (s *shown) close() {
	for _, l := range s.listeners {
		_ = l.Close()
	}
}

// serve serves previews, if enabled, until the returned function is called.
func (s *shown) serve(ctx context.Context, srv *server.Server, logger *slog.Logger) (stop func()) {
	if s.origins == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := srv.ServePreview(ctx, s.listeners...); err != nil {
			logger.Error("previews are not served any more", "err", err)
		}
	}()
	logger.Info("previews are shown", "at", s.origins.String())
	return func() {
		cancel()
		<-done
	}
}
