package claude

// MCPProvenance is an MCP server and where its definition comes from. Trust the
// source, not the name.
type MCPProvenance struct {
	Name   string `json:"name"`
	Source string `json:"source"` // sdk for one of this process; user, project, plugin …
}
