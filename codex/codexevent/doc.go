// Package codexevent makes UI events from what `codex app-server` and its client say.
//
// A [Converter] follows one thread and its subagents. It is given the lines of both
// directions in their order, because the server does not say everything: that an approval
// is over comes from the server, how it was answered only from the client; that turns were
// taken out, and which. A caller that drives Codex through an SDK gives it notifications,
// requests and answers one by one.
//
// The converter is pure. Each start has its stop: an item that the server leaves open is
// closed at the end of its turn and marked incomplete. The output of a command is completed
// from the finished item. What a subagent says is held back until its parent is known. What
// has no place in a conversation, such as the state of remote control, is left out by name;
// what is not known is a *[event.Unknown] with its bytes.
package codexevent
