// Package parts reduces the events of a session to the parts of a run: the data for a client that
// shows one answer, independent of a protocol. A part is text, thinking, a tool call, its result, a
// request to a person, an error or the end of the turn.
//
// A [Reducer] shows every block once, whether it was streamed, sent complete, or both. Its state
// between two events is a [Place]: an interrupted stream continues at its last place, with exactly
// the parts that the client lacks. The package is pure.
package parts
