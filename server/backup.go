package server

import (
	"context"
	"io"
	"net/http"

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// backup streams all logs and snapshots to an admin while the server continues. An interrupted
// stream is not a backup: its end is part of the format.
func (s *Server) backup(w http.ResponseWriter, r *http.Request, _ *caller, _ *method) error {
	st, ok := s.store.(interface {
		Backup(ctx context.Context, w io.Writer) error
	})
	if !ok {
		return session.Fail(api.Unsupported, "the store has no backup")
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "no-store")
	if err := st.Backup(r.Context(), w); err != nil {
		s.logger.Error("a backup broke off", "err", err)
		panic(http.ErrAbortHandler) // so that the client detects the incomplete stream
	}
	return nil
}
