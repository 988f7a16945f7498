// Package tool has the built-in tools of the Claude Code CLI: their names, their inputs and
// their results.
//
// [Decode] decodes the input of a call, which can be a block of an answer, the input of a hook
// or a request for permission; [DecodeResultOf] decodes what a tool gave back. Tools that this
// package does not know, such as those of MCP servers, are *[UnknownInput] and *[UnknownResult]
// with their JSON, and [DecodeAs] decodes into a type of the caller's.
package tool
