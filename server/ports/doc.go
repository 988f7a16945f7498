// Package ports finds the TCP ports on which the processes of one agent listen, and connects to
// them and to no other.
//
// An agent is started with a mark in its environment ([Variable]), a unique random text. Its
// processes are those with the mark in their environment, and all their descendants: including a
// background server that has lost its parent and runs in a separate session. A program that empties
// the environment of its children and leaves them to init is not found.
//
// [Find] lists the ports that can be reached on the loopback interface: those bound to 127.0.0.1,
// to ::1 or to all addresses. [Dial] connects first and then determines the owner of the listener,
// so that a port that changes owners in between is detected: it returns the connection only if
// every socket that could have accepted it belongs to the agent. This keeps a proxy from reaching
// the server, its store, other agents or any other process on the machine.
//
// The package reads /proc and works on Linux. Elsewhere both functions return [ErrUnsupported].
package ports
