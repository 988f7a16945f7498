package tool

import "github.com/seed7221b0f9/parley/claude/message"

// MCPResult is the result of a tool of an MCP server that returned more than content blocks, such
// as structured content, metadata or links. Without those the result is a *[ContentResult].
type MCPResult struct {
	Content           message.Content        `json:"content,omitzero"` // with structured content: its JSON as a string
	StructuredContent message.JSON           `json:"structuredContent,omitempty"`
	Meta              message.JSON           `json:"_meta,omitempty"`
	ResourceLinks     []message.ResourceLink `json:"resourceLinks,omitempty"`
}

// ListMCPResourcesInput is the input of ListMcpResourcesTool: the server to list, or all servers.
type ListMCPResourcesInput struct {
	Server string `json:"server,omitempty"` // "": all of them
}

// ListMCPResourcesResult is the result of ListMcpResourcesTool, which is an array of the
// resources of one server or of all.
type ListMCPResourcesResult []ListedResource

// ListedResource is a resource in a list of an MCP server, with its address and type but without
// contents.
type ListedResource struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	MIMEType    string `json:"mimeType,omitempty"`
	Description string `json:"description,omitempty"`
	Server      string `json:"server,omitempty"` // not inside a directory
}

// ReadMCPResourceInput is the input of ReadMcpResourceTool: the server, and the address of the
// resource to read from it.
type ReadMCPResourceInput struct {
	Server string `json:"server"`
	URI    string `json:"uri"`
}

// ReadMCPResourceResult is the result of ReadMcpResourceTool: the contents of the resource in
// one or more parts, or the error.
type ReadMCPResourceResult struct {
	Contents []ResourceContents `json:"contents"`
	Error    string             `json:"error,omitempty"`
}

// ResourceContents is one part of a resource: text, or the path of the file to which the CLI
// saved its bytes.
type ResourceContents struct {
	URI         string `json:"uri"`
	MIMEType    string `json:"mimeType,omitempty"`
	Text        string `json:"text,omitempty"`
	BlobSavedTo string `json:"blobSavedTo,omitempty"`
}

// ReadMCPResourceDirInput is the input of ReadMcpResourceDirTool: the server, and the address
// of the directory to list.
type ReadMCPResourceDirInput struct {
	Server string `json:"server"`
	URI    string `json:"uri"`
}

// ReadMCPResourceDirResult is the result of ReadMcpResourceDirTool: the resources in the
// directory, or the error.
type ReadMCPResourceDirResult struct {
	Resources []ListedResource `json:"resources"`
	Error     string           `json:"error,omitempty"`
}

// RefreshMCPToolsInput is the input of RefreshMcpTools: the server to refresh, or all.
type RefreshMCPToolsInput struct {
	Server string `json:"server,omitempty"` // "": all of them
}

// RefreshMCPToolsResult is the result of RefreshMcpTools, which is an array with an entry for
// each refreshed server.
type RefreshMCPToolsResult []RefreshedServer

// RefreshedServer is an MCP server with the tools that the refresh added and removed.
type RefreshedServer struct {
	Server    string   `json:"server"`
	Status    string   `json:"status"` // refreshed, error, not_connected
	ToolCount *int64   `json:"toolCount,omitempty"`
	Added     []string `json:"added,omitempty"`
	Removed   []string `json:"removed,omitempty"`
	Error     string   `json:"error,omitempty"`
}
