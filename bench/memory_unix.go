//go:build unix

package main

import (
	"os/exec"
	"runtime"
	"syscall"
)

// peakMemory returns the peak resident memory of a command, or of the largest child that it waited
// for.
func peakMemory(cmd *exec.Cmd) int64 {
	use, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" { // bytes on darwin, kilobytes elsewhere
		return int64(use.Maxrss)
	}
	return int64(use.Maxrss) << 10
}
