package server

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// backup streams all logs and snapshots to an admin while the server continues. An interrupted
// stream is not a backup: its end is part of the format.
func (s *Server) backup(w http.ResponseWriter, r *http.Request) error {
	c, err := s.identify(r)
	if err != nil {
		return err
	}
	if c.role < roleAdmin || c.session != "" || c.tenant != "" {
		return session.Fail(api.AuthFailed, "a backup needs the role admin")
	}
	st, ok := s.store.(interface {
		Backup(ctx context.Context, w io.Writer) error
	})
	if !ok {
		return session.Fail(api.Unsupported, "the store has no backup")
	}
	if err := s.auditRow(c, "backup", nil, nil); err != nil {
		return err
	}
	ctx, release := s.tokens.hold(r.Context(), c.principal)
	defer release()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := &deadlineWriter{w, http.NewResponseController(w), s.opts.WriteTimeout}
	if err := st.Backup(ctx, out); err != nil {
		s.logger.Error("a backup broke off", "err", err)
		panic(http.ErrAbortHandler) // the client sees that it is incomplete
	}
	return nil
}

// deadlineWriter gives each write a time limit.
type deadlineWriter struct {
	w       io.Writer
	rc      *http.ResponseController
	timeout time.Duration
}

// Write writes within the time limit.
func (d *deadlineWriter) Write(p []byte) (int, error) {
	_ = d.rc.SetWriteDeadline(time.Now().Add(d.timeout)) // writers of tests do not support it
	return d.w.Write(p)
}
