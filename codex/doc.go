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
// The messages of the server are the notifications of package codex/item. A turn yields its
// notifications, its end last; [Thread.Notifications] yields all notifications of a thread,
// including turns that the server starts and commands that outlive their turn;
// [Client.Notifications] yields all notifications. [Client.Call] makes any request, including those
// that are newer than this package.
//
// # Differences from the wire
//
// The package handles cases that a client of the bare protocol would have to know:
//
//   - An item that is cut off by an interrupt, an error or a retry is never completed on
//     the wire. Here an [item.ItemCut] closes it.
//   - A prompt that is sent while a turn runs would be added to that turn. [Thread.Send]
//     queues it; [Thread.Steer] is for adding.
//   - The output of a command is completed from its final item; see [item.Output].
//   - A subagent is a separate thread with a parent that is unknown at first. Its
//     notifications are held until the parent is known, and then follow those of the parent.
//   - The server requests permission to run a tool of an MCP server in the form of
//     a question to the user. Here it is an [Approval] like any other.
//   - A request is declined if its callback fails, panics or times out. An approval that
//     is open when the server ends is never taken as allowed.
//
// # Processes
//
// The server runs in a separate process group and ends with its [Client]: Close closes its input,
// waits, and then ends everything it has started. After a crash of the server its threads can be
// resumed with another [Client]. The context of [Connect] bounds the start, that of a method bounds
// its call, and that of [Thread.Query] bounds the turn, which is interrupted when the context ends.
// All methods may be called from any goroutine. Callbacks run on separate goroutines, except
// Options.Observe.
package codex
