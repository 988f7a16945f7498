package claude

import (
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/seed7221b0f9/parley/claude/message"
)

// MCPServer is an MCP server: a command, an address, or, with Server, one that runs in this
// process. For a server in this process only Server, Tools, Timeout and AlwaysLoad may be set.
type MCPServer struct {
	// Server is a server of the MCP SDK; see [mcptool.NewToolServer]. Several clients may use
	// it at once. A panic in one of its handlers becomes an error of the call.
	Server     *mcp.Server       `json:"-"`
	Type       string            `json:"type,omitempty"` // stdio, the default, http or sse; a URL needs one
	Command    string            `json:"command,omitempty"`
	Args       []string          `json:"args,omitempty"`
	Env        map[string]string `json:"env,omitempty"`
	URL        string            `json:"url,omitempty"`
	Headers    map[string]string `json:"headers,omitempty"`
	Tools      []MCPToolPolicy   `json:"tools,omitempty"`
	Timeout    int               `json:"timeout,omitempty"` // of a call, in ms; values below 1000 are ignored
	AlwaysLoad bool              `json:"alwaysLoad,omitempty"`
}

// MCPToolPolicy sets the permission for one tool of an MCP server, and the maximum that the
// organization allows.
type MCPToolPolicy struct {
	Name             string `json:"name"`
	PermissionPolicy string `json:"permission_policy,omitempty"`  // always_allow, always_ask, always_deny
	OrgMaxPermission string `json:"org_max_permission,omitempty"` // allow, ask, blocked
}

// AgentDefinition defines a subagent that the model can start: when to use it, its prompt, its
// tools and its model.
type AgentDefinition struct {
	Description            string                 `json:"description"`
	Prompt                 string                 `json:"prompt"`
	Tools                  []string               `json:"tools,omitzero"` // nil means all, empty means none
	DisallowedTools        []string               `json:"disallowedTools,omitempty"`
	Model                  string                 `json:"model,omitempty"`
	MCPServers             []message.JSON         `json:"mcpServers,omitempty"`
	Skills                 []string               `json:"skills,omitempty"`
	InitialPrompt          string                 `json:"initialPrompt,omitempty"`
	MaxTurns               int                    `json:"maxTurns,omitempty"`
	AutoCompactWindow      int                    `json:"autoCompactWindow,omitempty"`
	Background             *bool                  `json:"background,omitempty"`
	OmitClaudeMd           bool                   `json:"omitClaudeMd,omitempty"`
	Memory                 string                 `json:"memory,omitempty"` // user, project, local
	Effort                 message.JSON           `json:"effort,omitempty"` // a level as a JSON string, or a number
	PermissionMode         message.PermissionMode `json:"permissionMode,omitempty"`
	Observer               string                 `json:"observer,omitempty"`
	ObserverMessage        string                 `json:"observerMessage,omitempty"`
	CriticalSystemReminder string                 `json:"criticalSystemReminder_EXPERIMENTAL,omitempty"`
}

// Plugin is a plugin in a local directory, which the CLI loads for this session only. Path is
// the directory's path.
type Plugin struct {
	Type             string `json:"type"` // local, the only type; "" means local
	Path             string `json:"path"`
	SkipMCPDiscovery bool   `json:"skipMcpDiscovery,omitempty"`
}

// PluginDelivery selects how the plugins of the options reach the CLI: as flags of its command
// line or with initialize.
type PluginDelivery string

// PluginsByInitialize passes the plugins in the initialize request. The zero value of
// PluginDelivery passes them as flags.
const PluginsByInitialize PluginDelivery = "initialize"
