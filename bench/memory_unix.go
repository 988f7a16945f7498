//go:build unix

package main

import (
	"os/exec"
	"runtime"
	"syscall"
)

// peakMemory is the most memory that a command had resident, or the largest of those
// that it started and waited for.
func peakMemory(cmd *exec.Cmd) int64 {
	use, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" { // bytes there, kilobytes elsewhere
		return int64(use.Maxrss)
	}
	return int64(use.Maxrss) << 10
}
