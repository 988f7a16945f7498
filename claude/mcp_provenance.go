package claude

// MCPProvenance says which MCP server a tool belongs to and where that server
// was configured.
type MCPProvenance struct {
	Name   string `json:"name"`
	Source string `json:"source"`
}
