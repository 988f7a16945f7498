// Package mcptool makes tools from Go functions. [NewTool] infers the schema of a tool from the
// type of its input, [NewToolServer] puts tools into a server of the MCP SDK, and packages claude
// and codex give them to their agent without another process or a port.
package mcptool
