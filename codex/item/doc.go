// Package item defines the types of the protocol of `codex app-server`: items, notifications and
// requests.
//
// A line of the server is a [Notification], a [Request] or a *[Response]; a line of the client is a
// *[Call] or a *[Response]. [DecodeServer] and [DecodeClient] read them. The contents of a
// conversation are [Item] values: the prompt, the agent's messages, its commands, its patches. The
// prompt of a client is a list of [Input].
//
// Items, notifications, requests and inputs are closed sets of types, each with one for unknown
// values: *[UnknownItem], *[UnknownNotification], *[UnknownRequest], *[UnknownInput]. Those keep
// all of their bytes. Members without a field stay in Raw. Only a line that is not a JSON object is
// an error.
//
// Names follow the wire: the item commandExecution is [CommandExecution], the notification
// item/agentMessage/delta is [AgentMessageDelta], the request item/tool/call is [ToolCallRequest].
// A member is a pointer if null and empty have different meanings; elsewhere null and absent are
// the zero value.
//
// A decoded value is read-only. Its fields are substrings of its line, so a field that is kept
// keeps the whole line in memory, unless it is copied with [strings.Clone]. Encoding a decoded
// value returns the original bytes. The package does no I/O, and values may be read by several
// goroutines.
package item
