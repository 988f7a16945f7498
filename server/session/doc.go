// Package session holds the sessions of a server: their logs, their conversations and the agents
// that run for them.
//
// Each session in memory has one goroutine, its actor, that owns all of its state. A core decides
// the consequences of an event and returns drafts; the actor writes them to the log, shows them to
// the viewers and only then acts on them. The state of a session is a fold of its log, so that
// after a crash of the server it is restored by reading the log. See [Sessions].
//
// The package has no HTTP: package server has the transports, the tokens and the table of methods,
// and configures the sessions by [Options].
package session
