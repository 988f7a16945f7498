package event

import "strings"

// irregularTools maps tools to wire names that are not derived from their type.
var irregularTools = map[string]string{
	"ListMcpResourcesTool": "CLAUDE_LIST_MCP_RESOURCES",
	"ReadMcpResourceTool":  "CLAUDE_READ_MCP_RESOURCE",
}

// ToolType returns the type of a tool with which front ends choose a card: CLAUDE_BASH for Bash of
// the provider claude, the prefixes CODEX_ and ACP_ for tools of these providers, MCP for tools of
// MCP servers, and UNKNOWN for a name that is not an identifier. The simulated agent has Claude's
// tools. A tool that is newer than this package gets the prefix of its provider and its name in
// upper case.
func ToolType(provider, name string) string {
	if strings.HasPrefix(name, "mcp__") {
		return "MCP"
	}
	if !isIdentifier(name) {
		return "UNKNOWN"
	}
	prefix := toolPrefix(provider)
	if t, ok := irregularTools[name]; ok && prefix == claudeTools {
		return t
	}
	return prefix + UpperSnake(name)
}

// claudeTools is the prefix of the types of Claude's tools.
const claudeTools = "CLAUDE_"

// toolPrefix returns the prefix of the types of a provider's tools.
func toolPrefix(provider string) string {
	name, _, _ := strings.Cut(provider, ":")
	if name == "" || name == "sim" || !isIdentifier(name) {
		return claudeTools
	}
	return UpperSnake(name) + "_"
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

// UpperSnake returns a name in upper case with underscores between its words: WEB_FETCH for
// WebFetch, LSP for LSP, MCP_TOOL for MCPTool.
func UpperSnake(name string) string {
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
