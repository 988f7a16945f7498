//go:build unix

package meter

import (
	"syscall"
	"time"
)

// CPU returns the processor time, user and system, of this process, without its children.
func CPU() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		panic("getrusage: " + err.Error())
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
