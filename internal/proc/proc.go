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
// When the child exits, everything left in its group is killed. Kill also ends descendants that have left
// the group (on Linux). When this process dies, however it dies, the child is killed on Linux and Windows;
// on other systems it notices the end of its stdin. On Windows the job is attached right after the start:
// what the child starts before that is not in it. A caller that spawns a process without a
// Supervisor must call its Wait.
var Local spawn.Spawner = local{}
