// Package host keeps agents running while the program that controls them comes and goes.
//
// The host is a small process that starts agents, owns their pipes and understands nothing: it never parses a
// message. A program, the owner, connects to it with [Dial] over a socket in the data directory and runs agents
// through the [Link], which is a [spawn.Spawner]. When the owner dies, is upgraded or is stopped, its agents run on;
// the next owner finds them with [Link.Agents] and takes them over with [Link.Attach].
//
// # The sequence of an agent
//
// The host numbers everything that passes between an agent and its owners in one sequence, from 1 without gaps: lines
// that the agent wrote, lines that were written to it, the end of its input and of its output, and its exit. A [Record]
// gets its number when it is complete. Records are kept in files until a checkpoint covers them; see
// [Process.Checkpoint]. An owner that attaches gets every record from the number that it names, then the new ones.
//
// A line to an agent carries an id that the owner made; the host writes a line with an id that it knows no second
// time, and [Process.Input] reports what became of it.
//
// # One owner
//
// Owners are told apart by an epoch, a number that only grows ([NextEpoch]). The host accepts a connection only with a
// higher epoch than all before, and then ends the connection of the owner before; what that one sends late has no effect.
// Epoch 0 is a guest, who can list agents and stop the host.
//
// # Limits and death
//
// When the files of an agent reach their limit the host stops reading, and the agent waits. An agent that has had no owner for
// its orphan timeout is sent the bytes that the owner left for this case and is ended 30 seconds later. If the host is
// killed its agents end with it; [ReadSpool] then returns what they wrote, to the last whole line.
//
// [Start] starts the host of a data directory, detached from the caller. There is one host for each data directory. It
// ends when it is told to, or when it has had no running agent and no owner for a minute. The protocol is described in
// docs/reference/host.md. Hosts exist on Unix systems; elsewhere [Start], [Run] and [Dial] return errors.ErrUnsupported.
package host
