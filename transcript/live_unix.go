//go:build unix

package transcript

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// running reports whether a process exists, and is the one that began at start, in
// the kernel's ticks: pids are used again. Where the system does not tell, it is.
func running(pid int, start string) bool {
	if pid <= 0 {
		return false
	}
	if err := syscall.Kill(pid, 0); err != nil && !errors.Is(err, syscall.EPERM) {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil || start == "" {
		return true
	}
	// The name of the program, in brackets, can hold anything.
	_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	fields := strings.Fields(rest)
	const startField = 19 // counted from the state, which is the first after the name
	return len(fields) <= startField || fields[0] != "Z" && fields[startField] == start
}
