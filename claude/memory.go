package claude

import (
	"context"
	"errors"

	"github.com/seed7221b0f9/parley/internal/proc"
)

// ErrNoMemory is returned when the memory of the CLI cannot be read: it runs elsewhere, it has
// ended, or this system does not report it.
var ErrNoMemory = proc.ErrNoMemory

// MeasureMemory returns the resident memory, in bytes, of the CLI and all its descendants;
// shared pages count for each process. It reads the value from the system, on Linux only, and
// sends no request to the CLI. The error is [ErrNoMemory].
func (c *Client) MeasureMemory() (int64, error) {
	p, ok := c.s.conn.(interface{ pid() int })
	if !ok || !c.s.launch.here() {
		return 0, ErrNoMemory
	}
	return proc.TreeMemory(p.pid())
}

// ping sends a cheap request to the CLI. A refusal counts as an answer.
func (c *Client) ping(ctx context.Context) error {
	err := c.Control(ctx, "mcp_status", nil, nil)
	if errors.As(err, new(*ControlError)) {
		return nil
	}
	return err
}
