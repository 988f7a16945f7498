// Package codex drives the Codex agent through `codex app-server`.
//
// [Connect] starts one server and returns a [Client]. The client starts, resumes and forks
// threads; a [Thread] is one conversation, and any number of them run in one server. A
// prompt is a [Turn]:
//
//	client, err := codex.Connect(ctx, nil)
//	thread, err := client.StartThread(ctx, &codex.ThreadOptions{CWD: dir})
//	for n, err := range thread.Query(ctx, "Fix the tests") {
//		...
//	}
//
// What the server says are the notifications of package codex/item. A turn yields its own,
// its end last; [Thread.Notifications] yields everything of a thread, also turns that the
// server starts by itself and commands that outlive their turn; [Client.Notifications]
// yields everything. [Client.Call] makes any request, also one that is newer than this
// package.
//
// # What the wire does wrong
//
// The package takes care of what a client of the bare protocol would have to know:
//
//   - An item that is cut off by an interrupt, an error or a retry is never completed on
//     the wire. Here an [item.ItemCut] closes it.
//   - A prompt that is sent while a turn runs would be added to that turn. [Thread.Send]
//     queues it; [Thread.Steer] is for adding.
//   - The output of a command is completed from its final item; see [item.Output].
//   - A subagent is a thread of its own whose parent is not known at first. Its
//     notifications are held back until it is, and then come with those of the parent.
//   - The server asks for permission to run a tool of an MCP server as if it asked the user
//     a question. Here it is an [Approval] like any other.
//   - A request whose callback fails, panics or runs out of time is declined. An approval that
//     is open when the server ends is never taken as allowed.
//
// # Processes
//
// The server runs in a process group of its own and ends with its [Client]: Close closes
// its input, waits, and then ends everything it has started. When the server has ended by
// itself, its threads can be resumed with another [Client]. The context of [Connect] bounds the
// start, that of a method bounds its call, and that of [Thread.Query] bounds the turn, which is
// interrupted when the context ends. All methods may be called from any goroutine. Callbacks run
// on goroutines of their own, except Options.Observe.
package codex
