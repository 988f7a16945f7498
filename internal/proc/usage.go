package proc

import "time"

// Usage returns the processor time of the process and of the descendants that were waited for, and the largest resident memory of one
// of these processes in bytes, after Done is closed. Both are 0 before, or if they are unknown. A process supervisor counts as one of
// the processes; it waits for all descendants of the process.
func (s *Supervisor) Usage() (cpu time.Duration, maxMemory int64) {
	c := localChild(s.proc)
	if c == nil || !isClosed(s.done) || c.cmd.ProcessState == nil {
		return 0, 0
	}
	state := c.cmd.ProcessState
	return state.UserTime() + state.SystemTime(), maxResident(state)
}
