// Package host keeps agents running while the program that controls them restarts.
//
// The host is a small process that starts agents and owns their pipes. It never parses a message. A program, the owner,
// connects to it with [Dial] over a socket that a file in the data directory names, and runs agents through the [Link], which is a
// [spawn.Spawner]. When the owner dies, is upgraded or is stopped, its agents continue; the next owner finds them with
// [Link.Agents] and takes them over with [Link.Attach].
//
// # The sequence of an agent
//
// The host numbers all records between an agent and its owners in one sequence, from 1 without gaps: lines of the agent, lines
// to the agent, the end of its input and of its output, and its exit. A [Record] gets its number when it is complete. Records
// are kept in files until a checkpoint covers them; see [Process.Checkpoint]. An owner that attaches gets every record from
// the number that it names, then the new ones.
//
// A line to an agent has an id that the owner chose; the host never writes a line with a known id again, and [Process.Input]
// reports the state of the line.
//
// # One owner
//
// An epoch, a number that only grows, identifies an owner ([NextEpoch]). The host accepts a connection only with a higher
// epoch than all earlier ones, and then ends the connection of the previous owner; late messages of that owner have no effect.
// Epoch 0 means a guest, who can list agents and stop the host.
//
// # Limits and death
//
// When the files of an agent reach their limit, the host stops reading, and the agent blocks. An agent without an owner for
// its orphan timeout gets the input that the owner set for this case, and is ended 30 seconds later. If the host is killed,
// its agents end with it; [ReadSpool] then returns their output up to the last complete line.
//
// [Start] starts the host of a data directory, detached from the caller. There is one host for each data directory. It ends on
// request, or after a minute without a running agent and an owner. The protocol is described in docs/reference/host.md. Hosts
// exist on Unix systems; elsewhere [Start], [Run] and [Dial] return errors.ErrUnsupported.
package host
