package usersocket

import (
	"context"
	"errors"
	"net"
)

// Listen is not supported on Windows.
func Listen(string) (*Listener, error) { return nil, errors.ErrUnsupported }

// Dial is not supported on Windows.
func Dial(context.Context, string) (*net.UnixConn, error) { return nil, errors.ErrUnsupported }
