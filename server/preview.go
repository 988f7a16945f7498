package server

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/ports"
	"github.com/seed7221b0f9/parley/server/preview"
	"github.com/seed7221b0f9/parley/server/session"
)

// previews are the previewed servers of agents.
type previews struct {
	proxy  *preview.Proxy
	secret []byte // of the marks
}

// marksName is the file with the secret from which marks are derived: agents of a host keep their marks when the server starts
// again.
const marksName = "marks"

// marksSize is the length of the secret in hexadecimal digits.
const marksSize = 64

// readMarks reads the secret of the marks, or creates it.
func (s *Server) readMarks() (secret []byte, err error) {
	err = s.readState(marksName, func(data []byte) error {
		if len(data) != marksSize {
			return fmt.Errorf("it has %d bytes, not %d", len(data), marksSize)
		}
		secret = data
		return nil
	})
	if err != nil || secret != nil {
		return secret, err
	}
	secret = []byte(random.Hex(marksSize / 2))
	if err := saveState(filepath.Join(s.opts.Dir, marksName), secret); err != nil {
		s.logger.Warn("ports of agents that run when the server starts again will have no previews", "err", err)
	}
	return secret, nil
}

// openPreviews creates the proxy for previews, if the server has origins for them.
func (s *Server) openPreviews() error {
	if s.opts.Preview == nil {
		return nil
	}
	secret, err := s.readMarks()
	if err != nil {
		return err
	}
	s.previews = &previews{secret: secret}
	s.previews.proxy = preview.New(preview.Options{
		Origins: *s.opts.Preview, MaxBody: s.opts.MaxBody, Logger: s.logger, Now: s.opts.now, Allowed: s.mayPreview,
		Dial: func(ctx context.Context, session string, port int) (net.Conn, error) {
			at, _, err := s.placeOf(ctx, session)
			if err != nil {
				return nil, err
			}
			return at.DialPort(ctx, session, port)
		},
	})
	return nil
}

// closePreviews ends all previews.
func (s *Server) closePreviews() {
	if s.previews != nil {
		s.previews.proxy.Close()
	}
}

// forgetPreviews ends the previews of a deleted session.
func (s *Server) forgetPreviews(session string) {
	if s.previews == nil {
		return
	}
	s.previews.proxy.Forget(session)
}

// recheckPreviews ends the previews of revoked tokens.
func (s *Server) recheckPreviews() {
	if s.previews != nil {
		s.previews.proxy.Recheck()
	}
}

// mayPreview reports whether the holder of a token may see previews of a session.
func (s *Server) mayPreview(holder, session string) bool {
	if s.tokens.holds(holder) < roleOperator {
		return false
	}
	_, err := s.sessions.Lookup(context.Background(), session)
	return err == nil
}

// mark adds a mark to the environment of a session's agent, by which its processes are found. An
// agent with an environment from its provider gets no mark.
func (s *Server) mark(session string, opts *agent.Options) {
	if s.previews == nil || opts.Env == nil {
		return
	}
	opts.Env = append(slices.Clone(opts.Env), ports.Variable+"="+s.markOf(session))
}

// markOf returns the mark of a session on this machine, or "" without previews. Only the session's
// agent knows it.
func (s *Server) markOf(session string) string {
	if s.previews == nil {
		return ""
	}
	h := hmac.New(sha256.New, s.previews.secret)
	h.Write([]byte(session))
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func previewList(s *Server, ctx context.Context, _ *caller, p api.SessionRef) (api.PreviewListResult, error) {
	at, _, err := s.placeOf(ctx, p.SessionID)
	if err != nil {
		return api.PreviewListResult{}, err
	}
	result := api.PreviewListResult{Enabled: s.previews != nil, Ports: []api.PreviewPort{}}
	if s.previews == nil {
		return result, nil
	}
	found, err := at.Ports(ctx, p.SessionID)
	for _, port := range found {
		result.Ports = append(result.Ports, api.PreviewPort{Port: int64(port.Number), Process: port.Process, PID: int64(port.PID)})
	}
	return result, err
}

func previewOpen(s *Server, ctx context.Context, c *caller, p api.PreviewOpenParams) (api.PreviewOpenResult, error) {
	if s.previews == nil {
		return api.PreviewOpenResult{}, session.Fail(api.Unsupported, "this server shows no previews; see --preview")
	}
	at, _, err := s.placeOf(ctx, p.SessionID)
	if err != nil {
		return api.PreviewOpenResult{}, err
	}
	found, err := at.Ports(ctx, p.SessionID)
	if err != nil {
		return api.PreviewOpenResult{}, err
	}
	if !slices.ContainsFunc(found, func(port ports.Port) bool { return int64(port.Number) == p.Port }) {
		return api.PreviewOpenResult{}, session.Conflict("no process of this session listens on port %d", p.Port)
	}
	address, err := s.previews.proxy.Open(c.id, p.SessionID, int(p.Port))
	if errors.Is(err, preview.ErrFull) {
		return api.PreviewOpenResult{}, session.LimitReached("there are as many previews as the server has origins for")
	}
	if err != nil {
		return api.PreviewOpenResult{}, session.Fail(api.Draining, "the server is stopping; try again when it is back")
	}
	return api.PreviewOpenResult{URL: address}, nil
}

// ServePreview serves previews on listeners until ctx ends or the server is closed, and closes
// them. The listeners must belong to the origins in Options.Preview.
func (s *Server) ServePreview(ctx context.Context, listeners ...net.Listener) error {
	if s.previews == nil {
		return errors.New("server: no origins for previews")
	}
	hs := &http.Server{
		Handler: s.bounded(s.previews.proxy), ReadHeaderTimeout: s.opts.HeaderTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { failed <- hs.Serve(s.limited(l, s.opts.MaxConnections)) }()
	}
	var err error
	ended := 0
	select {
	case err = <-failed:
		ended++
	case <-ctx.Done():
	case <-s.ctx.Done():
	}
	_ = hs.Close() // running requests are cut
	for ; ended < len(listeners); ended++ {
		if e := <-failed; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
	}
	return err
}
