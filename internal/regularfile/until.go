package regularfile

import (
	"context"
	"io"
)

// Until returns a reader of r that fails with the cause of ctx when ctx ends. A sparse file
// can be very long without using disk space.
func Until(ctx context.Context, r io.Reader) io.Reader { return until{ctx, r} }

type until struct {
	ctx context.Context
	io.Reader
}

func (u until) Read(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.Reader.Read(p)
}
