package proc

import "time"

// Usage returns the processor time of the process and of what it started and waited for, and the largest resident memory
// of one of these processes in bytes, when Done is closed. Both are 0 before, and where they are not known. A process supervisor counts
// as one of the processes: what it has waited for is all that the process has left.
func (s *Supervisor) Usage() (cpu time.Duration, maxMemory int64) {
	c := localChild(s.proc)
	if c == nil || !isClosed(s.done) || c.cmd.ProcessState == nil {
		return 0, 0
	}
	state := c.cmd.ProcessState
	return state.UserTime() + state.SystemTime(), maxResident(state)
}
