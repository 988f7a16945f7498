//go:build !linux

package proc

// oomCount is not available here.
func oomCount() (n int64, ok bool) { return 0, false }
