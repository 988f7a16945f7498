// Package tool has the built-in tools of the Claude Code CLI: their names, their inputs and
// their results.
//
// [Decode] decodes the input of a call, which can be a block of an answer, the input of a hook or
// a request for permission; [DecodeResultOf] decodes the output of a tool. The input of a tool
// that this package does not know, such as one of an MCP server, is an *[UnknownInput] with its
// JSON, and its result an *[MCPResult], a *[ContentResult] or an *[UnknownResult]. [DecodeAs]
// decodes an input into a type of the caller.
package tool
