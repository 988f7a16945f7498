package claude

import (
	"context"

	"github.com/seed7221b0f9/parley/internal/control"
)

func (o *Options) hasHooks() bool { return false }

func (s *session) hookCallback(_ context.Context, req control.Request) ([]byte, error) {
	return nil, control.Unsupported(req.Subtype)
}
