// Package server holds sessions of coding agents and serves them to any number of viewers.
//
// A session belongs to an actor: one goroutine that owns its agent, its conversation and its log of
// numbered messages. Viewers read that log. A viewer can neither end nor delay a session, and no
// acknowledged part of a session is lost when a viewer, an agent or the server ends at any moment.
//
// # Decisions and actions
//
// The type core is a fold of facts that are stored in the log with the messages: inputs, requests
// to people, idempotency keys, the state. It has no clock and no I/O; its methods decide the
// consequences of an event or a call and return drafts. The actor writes drafts to the log, applies
// them and shows them, in this order. The table in state.go lists the states and their transitions.
// The type stream holds the streamed text of blocks until their complete message is in the log.
//
// # Durability
//
// An input, a person's answer, a complete message and the end of a turn are on disk before they are
// acknowledged or shown. Deltas are shown at once and saved at an interval (Options.DeltaInterval):
// after a crash, the saved part of an unfinished answer is kept and marked incomplete. Every
// durable message has a number, contiguous from 1; a delta has the number of the message before it
// and a counter. The fold of a snapshot and the later messages equals the fold of everything, and
// deltas have no effect on it once their message is complete.
//
// # After a crash
//
// The running turn is interrupted, and session.continue continues it. The requests of the old agent
// have expired; answering them is a conflict. An input that was passed to the agent is searched in
// the agent's files; if they do not show it, its status is unknown and a person decides. The queue
// is held until a person releases it. No agent is started automatically.
//
// # Access
//
// Every request is checked for its Host, then its Origin, then its token. Tokens have a role: a
// viewer looks, an operator runs sessions and answers requests, an admin manages tokens. A link
// shows one session to its holder. The absence of a person never allows a request.
package server
