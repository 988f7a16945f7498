package proc

import "time"

// usage returns what the child has used, after Wait. For one below a supervisor it is what the supervisor has, with
// all that it has waited for.
func (c *child) usage() (cpu time.Duration, maxMemory int64) {
	state := c.cmd.ProcessState
	if state == nil {
		return 0, 0
	}
	return state.UserTime() + state.SystemTime(), maxResident(state)
}
