// Package claude drives the Claude Code CLI, the agent that the Claude Agent SDK
// runs, from Go.
//
// # One prompt
//
// [Query] runs one prompt in a new session and yields all its messages; [Run] returns only the result. Neither needs any
// options:
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
// [QueryStream] does the same for a stream of prompts.
//
// # A conversation
//
// [Connect] returns a [Client] for many turns: [Client.Query] for one turn after another, [Client.Send] for turns that
// queue, [Client.Messages] for all messages. A turn can be interrupted; the model and the permission mode can change between
// turns; [Client.Control] sends requests that have no method here.
//
// # Messages
//
// A [message.Message] is one line of the CLI's output, decoded. Messages, content blocks, stream events and deltas are
// closed sets of pointer types with a type for unknown values: the output of a newer CLI decodes without errors or loss.
// Names follow the wire: tool_use is a [message.ToolUse], system/init an [message.Init]. Raw returns the whole line byte for
// byte, including members without a field, and [message.Encode] writes a decoded message unchanged.
//
// A decoded message is read-only. Its strings are parts of its line, so a program that keeps one for longer than the message
// should clone it, with [strings.Clone]. Heavy parts, such as a tool's input, are of the type [message.JSON] and decoded on
// demand.
//
// # Tools
//
// The model calls the tools of the CLI, which [Options.Tools], [Options.AllowedTools] and [Options.DisallowedTools] select,
// and those of MCP servers. [Options.MCPServers] defines the servers: programs, addresses or parts of this process. Package
// mcptool makes a server from Go functions. [Options.RequireMCP] waits for servers before the first prompt. Package tool has
// the inputs and results of the CLI's tools as Go types; tool.Decode decodes the input of a [message.ToolUse].
//
// # Hooks
//
// [Options.Hooks] has a list of functions for each event of the CLI: before and after a tool call, at the start and the end
// of a session, before the conversation is compacted, and so on. Package hook has the input and the output of each event. A
// hook can refuse a call, change its input or add to the context. A failing hook refuses the call if its event can refuse,
// unless hook.OnFailure is set.
//
// # Permissions
//
// Rules and [Options.PermissionMode] decide first. [Options.CanUseTool] decides the remaining calls and returns an *[Allow]
// or a *[Deny]. [Options.OnQuestion] answers the agent's questions to the user, [Options.OnPlan] approves its plans,
// [Options.OnElicitation] and [Options.OnUserDialog] serve the other requests. A callback that returns [ErrAnswerLater]
// leaves the request open; [Client.AnswerPermission] answers it later. [Options.Guard] checks every call in every mode and
// can refuse it.
//
// # Stores
//
// The CLI writes each session to a file on its machine. [Options.SessionStore] also copies every entry to a [SessionStore]
// and resumes sessions from it, on any machine. Package claude/claudestore has stores in memory, in directories, in Postgres
// and in S3. [Options.SessionLock] prevents two processes from writing one session. Package transcript reads the session
// files.
//
// # Trace
//
// [Options.Trace] is a set of functions that are called when a CLI starts, a turn begins, a tool ends, a deadline passes,
// and so on, with times and values. They never block a session. Package claude/claudeotel turns them into OpenTelemetry
// spans and metrics. [Client.View] returns the current activity of a session.
//
// # Errors
//
// A failed turn has a [message.Result] with IsError. It also gives an error, a *[ResultError], from [Run] and if the CLI
// exits because of it. An iterator yields at most one error, as its last element. Each type below has a sentinel or fields
// to distinguish the cases with [errors.Is] and [errors.As].
//
// Before the first message:
//
//	ErrNotFound, *CLINotFoundError        the CLI is not installed where it was looked for
//	*OptionError                          the options cannot work
//	*SpawnError                           the process could not be started
//	*HandshakeError                       the CLI did not become ready
//	*EarlyExitError                       it exited before it answered, as another program would
//	*OnFailureError                       hooks that must block would not
//	*MCPNotReadyError                     a server of RequireMCP is not connected
//	ErrNoSession                          the session to resume does not exist
//	ErrSessionBusy, *SessionBusyError     another process writes the session
//
// During a session and at its end:
//
//	*ResultError, *RateLimitError         the turn failed
//	ErrInterrupted                        the turn was interrupted
//	*StructuredOutputError                the result is not a value of the type that RunJSON wants
//	*ExitError                            the CLI exited with a code or by a signal
//	*StalledError                         a deadline passed; see Deadlines
//	*message.DecodeError                  a line is not a message
//	ErrNoResult                           the CLI ended without a result
//	ErrCancelled                          the prompt was withdrawn before it ran
//	ErrClosed                             the client, or its input, was closed
//	ErrUsed, ErrWarmUsed                  an iterator or a warm CLI was used a second time
//
// From requests and stores:
//
//	*ControlError, ErrUnsupported         the CLI refused a control request, or does not know it
//	ErrNotOpen                            the request to answer is no longer open
//	ErrFenced                             another writer has claimed the session in its store
//	ErrNoMemory                           the memory of the CLI cannot be read
//	ErrChildren                           a Registry was closed while its processes run
//
// # Concurrency
//
// All methods are safe for concurrent use. One goroutine reads the CLI's output; it does not wait for a consumer until
// [Options.MaxBuffered] is reached, and never runs the caller's code. The context of [Connect] applies to connecting, that
// of a method to the call, that of Query to the whole run. When a range over Query ends, and when [Client.Close] returns,
// all goroutines and processes of the session have ended, with the exceptions that [Options.Supervisor] describes. Stopping
// begins with the end of the CLI's input, after which the CLI writes its transcript.
//
// # Custom processes and tests
//
// [Options.Spawner] runs the CLI elsewhere, such as in a container; [Options.Transport] replaces the process by another
// connection. Package claude/claudetest has a scripted Messages API, so that tests can run the real CLI without spending
// tokens.
package claude
