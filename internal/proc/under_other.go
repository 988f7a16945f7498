//go:build !linux

package proc

import (
	"context"

	"github.com/seed7221b0f9/parley/spawn"
)

// link is not used: supervisors are for Linux.
type link struct{ pid int }

func (*link) send(byte) error { return nil }

// startUnder starts the process without a supervisor.
func (c *child) startUnder(ctx context.Context, _ string) error { return c.start(ctx) }

// waitUnder is never called.
func (c *child) waitUnder() (spawn.ExitStatus, error) { return spawn.ExitStatus{}, nil }
