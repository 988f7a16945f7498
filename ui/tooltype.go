package ui

import "strings"

// irregularTools are the tools whose wire name is not that of their type.
var irregularTools = map[string]string{
	"ListMcpResourcesTool": "CLAUDE_LIST_MCP_RESOURCES",
	"ReadMcpResourceTool":  "CLAUDE_READ_MCP_RESOURCE",
}

// ToolType names the kind of a tool as front ends choose a card by: CLAUDE_BASH for
// Bash, MCP for the tools of MCP servers, UNKNOWN for a name that is no identifier.
// A tool that is newer than this package has a type too: CLAUDE_ and its name in
// upper case.
func ToolType(name string) string {
	if t, ok := irregularTools[name]; ok {
		return t
	}
	if strings.HasPrefix(name, "mcp__") {
		return "MCP"
	}
	if !isIdentifier(name) {
		return "UNKNOWN"
	}
	return "CLAUDE_" + upperSnake(name)
}

func isIdentifier(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// upperSnake gives WEB_FETCH for WebFetch, LSP for LSP, MCP_TOOL for MCPTool.
func upperSnake(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if isUpper(c) && i > 0 && name[i-1] != '_' {
			before, after := name[i-1], byte(0)
			if i+1 < len(name) {
				after = name[i+1]
			}
			if !isUpper(before) || 'a' <= after && after <= 'z' {
				b.WriteByte('_')
			}
		}
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		b.WriteByte(c)
	}
	return b.String()
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
