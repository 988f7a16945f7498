// Package supervise is the small process between a program and an agent that it runs, on Linux.
//
// The supervisor is a subreaper: all processes that the agent starts remain its descendants, even in the background,
// in other sessions or with an empty environment. It starts the agent in a new process group, and ends all its
// descendants when the agent has ended, on request, and when the program that started it has ended. It detects the
// latter by the end of the socket between the two, not by a signal that would kill it.
//
// Package first, which the parley command imports, makes an executable its own supervisor: started under the name
// [Name] it becomes one before the packages of the server are initialised. Package proc is the client.
package supervise

// Name is the name, the zeroth argument, under which an executable with package first is a supervisor.
const Name = "parley-supervisor"

// Descriptor is the supervisor's end of the socket.
const Descriptor = 3

// CommandKill, sent to the supervisor, kills all its descendants at once. Any smaller byte is the number of a signal
// for the agent's group.
const CommandKill = 0xff

// The replies of the supervisor, each a line with a number: the agent's process id, or the errno of its start; and at
// the end, when it has no more descendants, the agent's wait status.
const (
	ReplyStarted = "started"
	ReplyFailed  = "failed"
	ReplyEnded   = "ended"
)
