package claude

import (
	"context"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
)

// MCPServerStatus is an MCP server of the session with the state of its connection, its
// configuration and its tools.
type MCPServerStatus struct {
	Name       string           `json:"name"`
	Status     string           `json:"status"` // connected, failed, needs-auth, pending, disabled
	ServerInfo *MCPServerInfo   `json:"serverInfo,omitempty"`
	Error      string           `json:"error,omitempty"`
	Config     *MCPServerConfig `json:"config,omitempty"`
	Transport  string           `json:"transport,omitempty"`
	Scope      string           `json:"scope,omitempty"`
	// Source is the source of the definition: sdk for a server of this process, plugin, user,
	// project, dynamic … Base trust on it, not on the name.
	Source string    `json:"source,omitempty"`
	Tools  []MCPTool `json:"tools,omitempty"`
}

// MCPServerInfo is the name and the version that an MCP server reported when the CLI connected
// to it.
type MCPServerInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// MCPServerConfig is the definition of a server; its type may also be sdk or claudeai-proxy.
type MCPServerConfig struct {
	MCPServer

	Name string `json:"name,omitempty"` // of one with type sdk
	ID   string `json:"id,omitempty"`   // of one with type claudeai-proxy
}

// MCPTool is one tool of an MCP server, as the server describes it, with its annotations and
// its metadata.
type MCPTool struct {
	Name        string             `json:"name"`
	Description string             `json:"description,omitempty"`
	Annotations MCPToolAnnotations `json:"annotations,omitzero"`
	Meta        message.JSON       `json:"_meta,omitempty"`
}

// MCPToolAnnotations holds the hints that a server gives about a tool. A member is nil if the
// server gives no hint.
type MCPToolAnnotations struct {
	ReadOnly    *bool `json:"readOnly,omitempty"`
	Destructive *bool `json:"destructive,omitempty"`
	OpenWorld   *bool `json:"openWorld,omitempty"`
}

// ListMCPServers returns the MCP servers of the session with their status, including those that
// are disabled or failed to connect.
func (c *Client) ListMCPServers(ctx context.Context) ([]MCPServerStatus, error) {
	return askMember[[]MCPServerStatus](ctx, c, "mcp_status", "mcpServers", nil)
}

// MCPServersChange is the result of setting the MCP servers: which were added, which were
// removed, and which could not be connected.
type MCPServersChange struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	// Errors maps the servers that could not be connected to the reason. They also count as
	// added.
	Errors map[string]string `json:"errors"`

	answer
}

// dynamicServer always has args, because the CLI fails on a server without them; see the
// recording mcp-control.
type dynamicServer struct {
	MCPServer

	Args []string `json:"args,omitzero"`
	Name string   `json:"name,omitempty"` // of one in this process
}

// SetMCPServers replaces the servers that were added during the session and those of this
// process; an empty map removes them. Other servers of the options and of settings remain. If a
// server does not start, the call succeeds and Errors lists it. A server of this process that
// is passed again under the same name keeps its connection; in-process servers of the options
// that are not passed again are removed.
func (c *Client) SetMCPServers(ctx context.Context, servers map[string]MCPServer) (*MCPServersChange, error) {
	if err := checkServers(servers); err != nil {
		return nil, err
	}
	c.s.mcp.set(servers)
	wire := make(map[string]dynamicServer, len(servers))
	for name, s := range servers {
		if s.Server != nil {
			wire[name] = dynamicServer{MCPServer: MCPServer{Type: "sdk", Timeout: s.Timeout, Tools: s.Tools}, Name: name}
			continue
		}
		d := dynamicServer{MCPServer: s, Args: s.Args}
		if d.Args == nil && d.Command != "" {
			d.Args = []string{}
		}
		wire[name] = d
	}
	return ask[MCPServersChange](ctx, c, "mcp_set_servers", map[string]any{"servers": wire})
}

// ReconnectMCPServer reconnects a server. The error for an unknown or unreachable server is a
// *[ControlError].
func (c *Client) ReconnectMCPServer(ctx context.Context, name string) error {
	return c.Control(ctx, "mcp_reconnect", map[string]string{"serverName": name}, nil)
}

// EnableMCPServer enables a server of the session. If the session has no server of that name,
// the error is a *[ControlError].
func (c *Client) EnableMCPServer(ctx context.Context, name string) error {
	return c.toggleMCPServer(ctx, name, true)
}

// DisableMCPServer disables a server of the session. If the session has no server of that name,
// the error is a *[ControlError].
func (c *Client) DisableMCPServer(ctx context.Context, name string) error {
	return c.toggleMCPServer(ctx, name, false)
}

func (c *Client) toggleMCPServer(ctx context.Context, name string, enabled bool) error {
	return c.Control(ctx, "mcp_toggle", map[string]any{"serverName": name, "enabled": enabled}, nil)
}

// SetMCPPermissionModeOverride sets the permission mode for the tools of one server:
// [message.ModeDefault] asks each time, [message.ModeAuto] asks the classifier, "" ends the
// override. The CLI refuses any other mode. For an unknown server the mode applies as soon as
// the server exists, and the result has a warning.
func (c *Client) SetMCPPermissionModeOverride(ctx context.Context, name string, mode message.PermissionMode) (warning string, err error) {
	fields := struct {
		ServerName string                  `json:"serverName"`
		Mode       *message.PermissionMode `json:"mode"` // absent is refused
	}{name, nil}
	if mode != "" {
		fields.Mode = &mode
	}
	return askMember[string](ctx, c, "set_mcp_permission_mode_override", "warning", fields)
}

// MCPResource is a resource of an MCP server, or one part of it. Either Text or Blob holds the
// contents.
type MCPResource struct {
	URI      string       `json:"uri"`
	MIMEType string       `json:"mimeType,omitempty"`
	Text     string       `json:"text,omitempty"`
	Blob     string       `json:"blob,omitempty"` // in base64
	Meta     message.JSON `json:"_meta,omitempty"`
}

// ReadMCPResource reads a resource for a user interface from a server outside of this process.
// Its address must begin with ui://. The content is untrusted: show it in a sandbox. Any
// failure is a *[ControlError].
func (c *Client) ReadMCPResource(ctx context.Context, server, uri string) ([]MCPResource, error) {
	fields := map[string]string{"serverName": server, "uri": uri}
	return askMember[[]MCPResource](ctx, c, "mcp_read_resource", "contents", fields)
}

// MCPCallOptions configures a direct call of an MCP tool. The zero value runs the tool without
// checking permissions.
type MCPCallOptions struct {
	// CheckPermissions applies the same checks as to a call of the model: rules, mode, hooks
	// and the permission callback. Without it the tool runs unchecked.
	CheckPermissions bool
	// ResultNotForModel returns the content in the form that the server sent.
	ResultNotForModel bool
	// Timeout limits the call, from 1 s to 10 min. Setting it or one of the three fields below
	// makes the call staged.
	Timeout     time.Duration
	ExpiresAt   time.Time
	InputFiles  []MCPCallFile
	OutputFiles []MCPCallFile
}

// MCPCallFile is an input or an output file of a staged call. Staged calls need a session with
// a synced folder.
type MCPCallFile struct {
	Name     string `json:"name"`
	LanePath string `json:"lane_path"`
	IfMatch  string `json:"if_match,omitempty"` // of output files only
}

// MCPCallResult is the result of a tool that was called directly. A tool that failed is a
// result with IsError set.
type MCPCallResult struct {
	// Content is a list of content blocks or a text: in the form for the model, or in the form
	// of MCP with ResultNotForModel.
	Content           message.JSON `json:"content,omitempty"`
	StructuredContent message.JSON `json:"structuredContent,omitempty"`
	IsError           bool         `json:"isError,omitempty"`
	Meta              message.JSON `json:"_meta,omitempty"`
	Staging           *MCPStaging  `json:"staging,omitempty"` // of a staged call

	answer
}

// MCPStaging reports whether the files of a staged call were transferred, and if not, the code
// of the error.
type MCPStaging struct {
	OK         bool           `json:"ok"`
	ErrorCode  string         `json:"error_code,omitempty"`
	Outputs    []message.JSON `json:"outputs,omitempty"`
	InputsUsed []message.JSON `json:"inputs_used,omitempty"`
}

// Text returns the content as text: the content itself if it is a string, or else the texts of
// its blocks joined together.
func (r *MCPCallResult) Text() string {
	switch content := r.Content.Value().(type) {
	case string:
		return content
	case []any:
		var b strings.Builder
		for _, block := range content {
			if block, ok := block.(map[string]any); ok {
				text, _ := block["text"].(string)
				b.WriteString(text)
			}
		}
		return b.String()
	}
	return ""
}

// CallMCP calls a tool of a connected server outside of this process, without the model, which
// does not see the result. tool is its full name, such as mcp__server__tool; arguments must
// encode to a JSON object. arguments and the options may be nil. Without
// [MCPCallOptions.CheckPermissions] there is no permission check. The error for a server that
// is not connected, or a call that was not permitted, is a *[ControlError].
func (c *Client) CallMCP(ctx context.Context, tool string, arguments any, opts *MCPCallOptions) (*MCPCallResult, error) {
	fields := struct {
		Tool              string        `json:"tool"`
		Arguments         any           `json:"arguments,omitempty"`
		ExpiresAt         time.Time     `json:"expires_at,omitzero"`
		TimeoutMS         int64         `json:"timeout_ms,omitempty"`
		ResultNotForModel bool          `json:"result_not_for_model,omitempty"`
		CheckPermissions  bool          `json:"check_permissions,omitempty"`
		InputFiles        []MCPCallFile `json:"input_files,omitempty"`
		OutputFiles       []MCPCallFile `json:"output_files,omitempty"`
	}{Tool: tool, Arguments: arguments}
	if opts != nil {
		fields.ExpiresAt, fields.TimeoutMS = opts.ExpiresAt, opts.Timeout.Milliseconds()
		fields.ResultNotForModel, fields.CheckPermissions = opts.ResultNotForModel, opts.CheckPermissions
		fields.InputFiles, fields.OutputFiles = opts.InputFiles, opts.OutputFiles
	}
	return ask[MCPCallResult](ctx, c, "mcp_call", fields)
}
