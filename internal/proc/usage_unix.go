//go:build unix

package proc

import (
	"os"
	"runtime"
	"syscall"
)

// maxResident returns the largest resident memory in bytes.
func maxResident(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}
