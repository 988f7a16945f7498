package claude

import (
	"context"
	"errors"

	"github.com/seed7221b0f9/parley/internal/control"
)

func (o *Options) hasPermissionCallbacks() bool { return false }

func (s *session) canUseTool(context.Context, control.Request) ([]byte, error) {
	return nil, errors.New("canUseTool callback is not provided")
}

func (s *session) elicitation(context.Context, control.Request) ([]byte, error) {
	return []byte(`{"action":"decline"}`), nil
}

func (s *session) userDialog(context.Context, control.Request) ([]byte, error) {
	return nil, control.ErrNoAnswer // another host may know the dialog
}
