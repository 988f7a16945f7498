// Package claude drives the Claude Code CLI, the agent that the Claude Agent SDK
// runs, from Go.
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
// A decoded message is read-only. Its strings are parts of its line, so a program that keeps
// one for longer than the message should clone it, with [strings.Clone]. Heavy parts, such as a
// tool's input, are of the type [message.JSON] and decoded when asked for.
//
// # Tools
//
// The model calls the tools of the CLI, which [Options.Tools], [Options.AllowedTools] and
// [Options.DisallowedTools] select, and those of MCP servers. [Options.MCPServers] names
// the servers, whether they are programs, addresses or parts of this process: package mcptool
// makes a server from Go functions. [Options.RequireMCP] waits for servers before the first
// prompt. Package tool has the inputs and results of the CLI's tools as Go types;
// tool.Decode makes a value of one from a [message.ToolUse].
//
// # Hooks
//
// [Options.Hooks] has a list of functions for each event of the CLI: before and after a tool
// call, at the start and the end of a session, before the conversation is compacted, and so on.
// Package hook has the input and the output of each event. A hook can refuse a call, change its
// input or add to the context. A hook that fails refuses the call where its event can refuse,
// unless hook.OnFailure changes that.
//
// # Permissions
//
// Rules and [Options.PermissionMode] decide first. [Options.CanUseTool] is asked about what
// they leave open and returns an *[Allow] or a *[Deny]. [Options.OnQuestion] answers the agent's
// questions to the user, [Options.OnPlan] approves its plans, [Options.OnElicitation] and
// [Options.OnUserDialog] serve the other requests. A callback that returns [ErrAnswerLater]
// leaves the request open; [Client.AnswerPermission] answers it from elsewhere. [Options.Guard]
// sees every call in every mode and can refuse it.
//
// # Stores
//
// The CLI writes each session to a file of its machine. [Options.SessionStore] copies every
// entry to a [SessionStore] as well, and resumes sessions from it on machines that have never
// seen them. Package claude/claudestore has stores in memory, in directories, in Postgres and in S3.
// [Options.SessionLock] keeps two processes from writing one session. Package transcript reads
// the files themselves.
//
// # Trace
//
// [Options.Trace] is a set of functions that are called when a CLI starts, a turn begins, a tool
// ends, a deadline passes, and so on, with times and values. They never hold up a session.
// Package claude/claudeotel makes OpenTelemetry spans and metrics of them. [Client.View] returns what a
// session is doing at the moment.
//
// # Errors
//
// A turn that failed is a message: [message.Result] with IsError. It is also an
// error, *[ResultError], where the CLI exits because of it and where [Run]
// returns it. The end of an iterator is its error: there is at most one, and it
// is the last element. Each type below has a sentinel or fields that tell the cases apart, for
// [errors.Is] and [errors.As].
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
// Every method may be called from any goroutine. One goroutine reads the CLI; it
// never waits for a consumer, up to [Options.MaxBuffered], and never runs the
// caller's code. The context of [Connect] bounds connecting, that of a method
// the call, that of Query the whole run. When a range over Query ends, and when
// [Client.Close] returns, every goroutine and every process of the session is
// gone, except for what [Options.Supervisor] tells. Stopping is gentle first: the CLI writes its transcript after the end of
// its input.
//
// # Elsewhere
//
// [Options.Spawner] runs the CLI in another place, [Options.Transport] replaces
// the process by another wire. Package claude/claudetest has a scripted Messages API
// with which the real CLI runs in tests, without a token spent.
package claude
