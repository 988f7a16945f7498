package meter

import (
	"syscall"
	"unsafe"
)

const clockMonotonic = 1

// Now returns the system's monotonic clock in nanoseconds. The clock inside a time.Time is the same
// but is not comparable between processes.
func Now() int64 {
	var ts syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		panic("clock_gettime: " + errno.Error())
	}
	return ts.Nano()
}
