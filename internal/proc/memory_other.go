//go:build !linux

package proc

// TreeMemory fails with [ErrNoMemory]: memory is read on Linux alone.
func TreeMemory(int) (int64, error) { return 0, ErrNoMemory }
