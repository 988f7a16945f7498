// Package proc finds, starts, supervises and stops the Claude Code CLI.
//
// A [spawn.Spawner] starts a [spawn.Process]; [Local] starts it as a child of this one. [Start] puts a [Supervisor] around it, which drains
// stderr, delivers stdout to its real end, waits for the exit and, on request, stops the process with all its descendants.
package proc

import "github.com/seed7221b0f9/parley/spawn"

// Local is the default Spawner: a child process of this one, in a new process group (on Windows a job). Its errors are *[StartError].
//
// When the child exits, everything left in its group is killed, and on Linux every process that has the mark of the child in its environment,
// with its descendants. Kill also ends descendants that have left the group (on Linux). A process outside of the group, without a mark (env -i)
// and without a living parent is not found: that requires a supervisor, see [LocalOptions]. When this process dies for any reason, the child is
// killed on Linux and Windows; on other systems it reads the end of its stdin. On Windows the job is attached right after the start: processes
// that the child starts before are not in it. A caller that spawns a process without a Supervisor must call its Wait.
var Local spawn.Spawner = local{}

// LocalOptions configures [Local].
type LocalOptions struct {
	// Supervisor is an executable with package supervise/first in it, the parley command. On Linux the process then runs below a supervisor,
	// which ends all its descendants, even if this process is killed.
	Supervisor string
	// KeepChildren spares descendants outside of the process's group when the process exits. It disables the supervisor.
	KeepChildren bool
}

// Spawner returns [Local] with the options.
func (o LocalOptions) Spawner() spawn.Spawner {
	if o == (LocalOptions{}) {
		return Local
	}
	return local{o}
}

// markVariable is the environment variable that marks a child and its descendants.
const markVariable = "PARLEY_PROCESS"
