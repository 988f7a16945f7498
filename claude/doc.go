// Package claude drives the Claude Code CLI, the agent behind the Claude Agent
// SDK, from Go.
//
// # One prompt
//
// [Query] runs one prompt in a session of its own and yields every message of
// it; [Run] returns the result alone. Neither needs any options:
//
//	for msg, err := range claude.Query(ctx, "What is in this directory?", nil) {
//		if err != nil {
//			return err
//		}
//		if msg, ok := msg.(*message.Assistant); ok {
//			fmt.Println(msg.Text())
//		}
//	}
//
// [QueryStream] is the same with prompts that come up one by one.
//
// # A conversation
//
// [Connect] returns a [Client] for many turns: [Client.Query] for one turn after
// another, [Client.Send] for turns that queue, [Client.Messages] for everything
// that is said. A turn can be interrupted; the model and the permission mode can
// change on the way; [Client.Control] reaches requests that have no method here.
//
// # Messages
//
// A [message.Message] is one line of the CLI's output, decoded. Messages, content
// blocks, stream events and deltas are closed sets of pointer types with a type
// for what is unknown: a newer CLI never breaks a program and nothing that it
// says is lost. Names follow the wire: tool_use is a [message.ToolUse], system/init
// an [message.Init]. Whatever no field reaches is in Raw, byte for byte, and
// [message.Encode] writes a decoded message as it was read.
//
// A decoded message is read-only. Its strings are parts of its line, so whoever
// keeps one for longer than the message should clone it, with [strings.Clone].
// Heavy parts, such as a tool's input, are of the type [message.JSON] and decoded when
// asked for.
//
// # Errors
//
// A turn that failed is a message: [message.Result] with IsError. It is also an
// error, *[ResultError], where the CLI exits because of it and where [Run]
// returns it. The end of an iterator is its error: there is at most one, and it
// is the last element.
//
//	ErrNotFound, *CLINotFoundError   there is no CLI
//	*OptionError                     the options cannot work
//	*SpawnError                      it could not be started
//	*HandshakeError                  it did not become ready
//	*ExitError                       it ended with a code or by a signal
//	*ResultError, *RateLimitError    its turn failed
//	*ControlError, ErrUnsupported    it refused a control request
//	*StalledError                    a deadline passed; see Deadlines
//	*message.DecodeError                     a line is no message
//	ErrClosed, ErrUsed, ErrCancelled, ErrNoResult
//
// # Concurrency
//
// Every method may be called from any goroutine. One goroutine reads the CLI; it
// never waits for a consumer, up to [Options.MaxBuffered], and never runs the
// caller's code. The context of [Connect] bounds connecting, that of a method
// the call, that of Query the whole run. When a range over Query ends, and when
// [Client.Close] returns, every goroutine and every process of the session is
// gone. Stopping is gentle first: the CLI writes its transcript after the end of
// its input.
//
// # Elsewhere
//
// [Options.Spawner] runs the CLI in another place, [Options.Transport] replaces
// the process by another wire. Package claudetest has a scripted Messages API
// with which the real CLI runs in tests, without a token spent.
package claude
