package proc

import (
	"bytes"
	"os"
	"strconv"

	"github.com/seed7221b0f9/parley/internal/supervise"
)

// TreeMemory returns the resident memory, in bytes, of a process, its group and all their
// descendants. Shared pages count for each process. The error is [ErrNoMemory].
func TreeMemory(pid int) (int64, error) {
	if _, ok := supervise.Read(pid); pid <= 0 || !ok {
		return 0, ErrNoMemory
	}
	var sum int64
	for _, e := range supervise.Below(supervise.Tree(pid), map[int]bool{}, supervise.Table()) {
		sum += residentMemory(e.PID)
	}
	return sum, nil
}

// residentMemory returns 0 for a process that has ended.
func residentMemory(pid int) int64 {
	statm, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	f := bytes.Fields(statm)
	if len(f) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(f[1]), 10, 64)
	return pages * int64(os.Getpagesize())
}
