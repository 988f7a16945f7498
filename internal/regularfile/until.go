package regularfile

import (
	"context"
	"io"
)

// Until is r until ctx ends; the error is then the cause of that. A file may be as long as its
// writer likes, and need no room on the disk for that.
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
