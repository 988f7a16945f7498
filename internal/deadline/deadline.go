// Package deadline has the rules for time limits in options, and a wait that ends with its
// context.
package deadline

import (
	"context"
	"time"
)

// With is like context.WithTimeoutCause; a limit of 0 or less means no limit.
func With(ctx context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, d, cause)
}

// Or returns the limit to use: def for 0, and 0 (no limit) for a negative one.
func Or(d, def time.Duration) time.Duration {
	switch {
	case d == 0:
		return def
	case d < 0:
		return 0
	}
	return d
}

// Pause is Wait for a number of milliseconds.
func Pause[N int | float64](ctx context.Context, ms N) bool {
	return Wait(ctx, time.Duration(float64(ms)*float64(time.Millisecond)))
}

// Wait waits for d and returns true, or returns false if ctx ends first.
func Wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
