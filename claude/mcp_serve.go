package claude

import (
	"context"

	"github.com/seed7221b0f9/parley/internal/control"
)

func (o *Options) hasToolServers() bool { return false }

func (s *session) mcpMessage(_ context.Context, req control.Request) ([]byte, error) {
	return nil, control.Unsupported(req.Subtype)
}
