//go:build !linux

package proc

// TreeMemory fails with [ErrNoMemory]: memory is read only on Linux.
func TreeMemory(int) (int64, error) { return 0, ErrNoMemory }
