// Package ports finds the TCP ports on which the processes of one agent listen, and connects to
// them and to no other.
//
// An agent is started with a mark in its environment ([Variable]), a random text that it has
// alone. Its processes are those whose environment has the mark, with all their descendants:
// also a server that was put in the background, has lost its parent and lives in a session of
// its own. A program that empties the environment of its children and leaves them to init is
// not found.
//
// [Find] lists the ports that can be reached on the loopback interface: those bound to
// 127.0.0.1, to ::1 or to all addresses. [Dial] connects first and looks afterwards who listens
// there, so that a port which changes hands between the two is noticed: the connection is given
// out only if every socket that could have accepted it belongs to the agent. This is what keeps
// a proxy from reaching the server itself, its store, other agents or anything else on the
// machine.
//
// The package reads /proc and works on Linux. Elsewhere both functions return [ErrUnsupported].
package ports
