// Package supervise is the small process between a program and an agent that it runs, on Linux.
//
// The supervisor is a subreaper: whatever the agent starts stays below it, in the background, in a session of
// its own, with an empty environment. It starts the agent in a process group of its own, owns nothing else,
// and ends everything below it when the agent has ended, when it is told to, and when the program that
// started it is gone. It learns of that by the end of the socket between the two, not by a signal that would kill it.
//
// Package first, which the parley command imports, makes an executable its own supervisor: started under
// the name [Name] it becomes one before the packages of the server are initialised. Package proc talks to it.
package supervise

// Name is the name, the zeroth argument, under which an executable with package first is a supervisor.
const Name = "parley-supervisor"

// Descriptor is the supervisor's end of the socket.
const Descriptor = 3

// CommandKill, sent to the supervisor, ends everything at once. Any smaller byte is the number of a signal for
// the agent's group.
const CommandKill = 0xff

// What the supervisor sends, each as a line with a number: the agent's process id, or the errno of its
// start; and at the end, when nothing is left below, the agent's wait status.
const (
	ReplyStarted = "started"
	ReplyFailed  = "failed"
	ReplyEnded   = "ended"
)
