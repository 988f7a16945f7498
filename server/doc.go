// Package server holds sessions of coding agents and serves them to any number of viewers.
//
// A session belongs to an actor: one goroutine that owns its agent, its conversation and its
// log of numbered messages. Viewers read that log. Nothing that a viewer does or fails to do
// ends or delays a session, and nothing of a session is lost when a viewer, an agent or the
// server itself ends at any moment.
//
// # What is decided and what acts
//
// The type core is a fold of facts that stand in the log beside the messages: inputs,
// requests to people, idempotency keys, the state. It has no clock and no I/O; its methods
// decide what follows from an event or a call and return drafts. The actor writes drafts to
// the log, applies them and shows them, in this order. The states and what changes them are
// the table in state.go. The type stream keeps what was streamed of blocks whose whole
// message is not in the log yet.
//
// # Durability
//
// An input, a person's answer, a whole message and the end of a turn are on disk before they
// are acknowledged or shown. Deltas are shown at once and saved at an interval
// (Options.DeltaInterval): after a crash, what was saved of an unfinished answer is kept and
// marked incomplete. Every durable message has a number, contiguous from 1; a delta has the
// number of the message before it and a counter of its own. The fold of a snapshot and what
// follows it is the fold of everything, and deltas add nothing to it once their message is
// whole.
//
// # After a crash
//
// The turn that ran is interrupted, and session.continue goes on with it. A request of the
// agent that is gone has expired; answering it is a conflict. An input that was handed to
// the agent is looked for in the agent's own files; where they are silent its status is
// unknown and a person decides. The queue is held until someone releases it. No agent is
// started by itself.
//
// # Access
//
// Every request is checked for its Host, then its Origin, then its token. Tokens have a
// role: a viewer looks, an operator runs sessions and answers requests, an admin manages
// tokens. A link shows one session to its holder. Nothing is ever allowed because no one
// was there to refuse it.
package server
