// Package mcpserver gives the sessions of a server to MCP clients as tools: list, start, send, wait,
// read and interrupt sessions, read diffs, list and answer requests.
//
// A tool calls methods of the service as one caller: the server makes them in its process
// (/mcp), parley mcp over HTTP. So roles, directories, budgets and the audit log hold for each call.
package mcpserver
