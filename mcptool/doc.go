// Package mcptool makes tools of Go functions: [NewTool] infers the schema of a tool from the
// type of its input, [NewToolServer] puts tools into a server of the MCP SDK, and an SDK of this
// module serves it to its agent without a process or a port.
package mcptool
