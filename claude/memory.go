package claude

import (
	"context"
	"errors"

	"github.com/seed7221b0f9/parley/internal/proc"
)

// ErrNoMemory is returned when the memory of the CLI cannot be read: it runs elsewhere, it has
// ended, or this system has no such count.
var ErrNoMemory = proc.ErrNoMemory

// MeasureMemory returns the resident memory, in bytes, of the CLI and of everything that it
// has started; pages that they share count for each. It is read from the system,
// on Linux alone, and asks nothing of the CLI. The error is [ErrNoMemory].
func (c *Client) MeasureMemory() (int64, error) {
	p, ok := c.s.conn.(interface{ pid() int })
	if !ok || !c.s.launch.here() {
		return 0, ErrNoMemory
	}
	return proc.TreeMemory(p.pid())
}

// ping asks the CLI for something that costs it little. A refusal is an answer
// too.
func (c *Client) ping(ctx context.Context) error {
	err := c.Control(ctx, "mcp_status", nil, nil)
	if errors.As(err, new(*ControlError)) {
		return nil
	}
	return err
}
