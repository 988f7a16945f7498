//go:build unix

package transcript

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// running reports whether a process exists and started at start, in the kernel's ticks, because
// pids are reused. It does not check the start where the system does not report it.
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
	// The program name, in parentheses, can contain any character.
	_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	fields := strings.Fields(rest)
	const startField = 19 // counted from the state, the first field after the name
	return len(fields) <= startField || fields[0] != "Z" && fields[startField] == start
}
