// Package codexevent converts the messages between `codex app-server` and its client to UI events.
//
// A [Converter] follows one thread and its subagents. It needs the lines of both directions in
// order, because the server does not repeat everything: the server reports the end of an approval,
// but only the client's line has the answer; the server reports a revert, but not the turns. A
// caller that drives Codex through an SDK passes notifications, requests and answers one by one.
//
// The converter is pure. Each start has its stop: an item that the server leaves open is closed at
// the end of its turn and marked incomplete. The output of a command is completed from the finished
// item. Messages of a subagent are held until its parent is known. Messages that do not belong to a
// conversation, such as the state of remote control, are omitted by name; unknown messages become
// an *[event.Unknown] with their bytes.
package codexevent
