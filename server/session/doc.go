// Package session holds the sessions of a server: their logs, their conversations and the agents
// that run for them.
//
// Each session in memory has one goroutine, its actor, that owns all of its state. A core decides
// what follows from an event and returns drafts; the actor writes them to the log, shows them to
// the viewers and only then acts on them. What a session knows is a fold of its log, so that a
// session whose server died is loaded and brought in order by reading it. See [Sessions].
//
// The package has no HTTP: package server has the transports, the tokens and the table of methods,
// and gives sessions what they need by [Options].
package session
