package takeover

import (
	"fmt"
	"os"
	"time"

	"github.com/seed7221b0f9/parley/internal/supervise"
)

// endPoll is the interval of checks for the end of a process.
const endPoll = 5 * time.Millisecond

// awaitEnd waits until a killed process has closed its files, which frees its port and its locks.
// It reports whether that happened in time.
func awaitEnd(p *os.Process, limit time.Duration) bool {
	first, ok := supervise.Read(p.Pid)
	for end := time.Now().Add(limit); ok && !ended(first); time.Sleep(endPoll) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// ended reports whether all threads of a process have ended. Its parent may not have waited for it yet.
func ended(first supervise.Process) bool {
	now, found := supervise.Read(first.PID)
	if !found || now.Started != first.Started {
		return true
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", first.PID))
	return err != nil || now.State == 'Z' && len(threads) <= 1
}
