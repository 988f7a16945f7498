// Package mcptool creates tools from Go functions. [NewTool] infers the schema of a tool from the
// type of its input, [NewToolServer] adds tools to a server of the MCP SDK, and packages claude and
// codex offer them to their agent without another process or a port.
package mcptool
