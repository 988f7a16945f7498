// Package proc finds, starts, supervises and stops the Claude Code CLI.
//
// A [spawn.Spawner] starts a [spawn.Process]; [Local] starts it as a child of this one. [Start] puts a [Supervisor]
// around it, which drains stderr, delivers stdout to its real end, watches for the exit and, when asked,
// stops the process together with everything it started.
package proc

import "github.com/seed7221b0f9/parley/spawn"

// Local is the default Spawner: a child process of this one, in a process group (on Windows a job) of its
// own. Its errors are *[StartError].
//
// When the child exits, everything left in its group is killed, and on Linux every process that has the mark
// of the child in its environment, with its descendants. Kill also ends descendants that have left
// the group (on Linux). A process that has left the group, has no mark (env -i) and whose parent has ended
// is not found: that takes a supervisor, see [LocalOptions]. When this process dies, however it dies, the child is killed on Linux and Windows;
// on other systems it notices the end of its stdin. On Windows the job is attached right after the start:
// what the child starts before that is not in it. A caller that spawns a process without a
// Supervisor must call its Wait.
var Local spawn.Spawner = local{}

// LocalOptions change what [Local] does.
type LocalOptions struct {
	// Supervisor is an executable with package supervise/first in it, the parley command. On Linux the process then
	// runs below one, which ends everything that the process has started, also when this process is killed.
	Supervisor string
	// KeepChildren leaves alone what the process has started and what is not in its group, when it exits. There
	// is no supervisor then.
	KeepChildren bool
}

// Spawner returns [Local] with the options.
func (o LocalOptions) Spawner() spawn.Spawner {
	if o == (LocalOptions{}) {
		return Local
	}
	return local{o}
}

// markVariable is the variable of the environment that marks a child and what it has started.
const markVariable = "PARLEY_PROCESS"
