package claude

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed7221b0f9/parley/claude/message"
)

// ReloadPluginsOptions configures how plugins are read again. The zero value reads them again
// whether or not the session is at work.
type ReloadPluginsOptions struct {
	// HoldOnCacheImpact leaves everything as it is if the list of tools would
	// change, which the prompt cache depends on; the result says what would.
	HoldOnCacheImpact bool `json:"hold_on_cache_impact,omitempty"`
	// RefuseIfBusy makes a session that is at work refuse with [ErrSessionBusy].
	RefuseIfBusy bool `json:"refuse_if_busy,omitempty"`
	// AddPlugins are loaded as well; their paths are absolute.
	AddPlugins []Plugin `json:"add_plugins,omitempty"`
}

// ReloadedPlugins lists what the session has after its plugins were read again: commands,
// agents, plugins and MCP servers.
type ReloadedPlugins struct {
	Commands   []message.SlashCommand `json:"commands"`
	Agents     []AgentInfo            `json:"agents"`
	Plugins    []message.InitPlugin   `json:"plugins"`
	MCPServers []MCPServerStatus      `json:"mcpServers"`
	ErrorCount int64                  `json:"error_count"`
	// Held is true when nothing was done because of CacheImpact, false when that
	// was looked at and there was none, nil when it was not.
	Held        *bool        `json:"held,omitempty"`
	CacheImpact *CacheImpact `json:"cache_impact,omitempty"`

	answer
}

// CacheImpact lists what would change in the list of tools, and so would make the prompt cache
// useless.
type CacheImpact struct {
	MCPServersAdded   []string `json:"mcp_servers_added"`
	MCPServersRemoved []string `json:"mcp_servers_removed"`
	LSPToolChange     string   `json:"lsp_tool_change"` // adds, may-add, removes, may-remove, or "" for no change
}

// ReloadPlugins reads plugins from disk again. The options may be nil. A session
// that is busy is [ErrSessionBusy] with RefuseIfBusy; a plugin that cannot be
// added is a *[ControlError].
func (c *Client) ReloadPlugins(ctx context.Context, opts *ReloadPluginsOptions) (*ReloadedPlugins, error) {
	var fields ReloadPluginsOptions
	if opts != nil {
		fields = *opts
		fields.AddPlugins = slices.Clone(opts.AddPlugins)
		for i := range fields.AddPlugins {
			fields.AddPlugins[i].Type = "local" // the only one
		}
	}
	r, err := ask[ReloadedPlugins](ctx, c, "reload_plugins", fields)
	if refused, ok := errors.AsType[*ControlError](err); ok && refused.Code == "reload_plugins_busy" {
		return nil, fmt.Errorf("%w: %w", ErrSessionBusy, err)
	}
	return r, err
}

// ReloadSkills makes the CLI read its skills from disk again and returns them, in the form of
// slash commands.
func (c *Client) ReloadSkills(ctx context.Context) ([]message.SlashCommand, error) {
	return askMember[[]message.SlashCommand](ctx, c, "reload_skills", "skills", nil)
}

// ReloadOutputStyles makes the CLI read its output styles from disk again and returns the names
// of all that are available.
func (c *Client) ReloadOutputStyles(ctx context.Context) ([]string, error) {
	return askMember[[]string](ctx, c, "reload_output_styles", "available_output_styles", nil)
}

// ListModels asks the CLI what models can be chosen. Those of the start are
// in [Client.ServerInfo].
func (c *Client) ListModels(ctx context.Context) ([]ModelInfo, error) {
	return askMember[[]ModelInfo](ctx, c, "list_models", "models", nil)
}

// BinaryVersion is the version of the CLI and the time at which it was built, as the running
// process reports them.
type BinaryVersion struct {
	Version   string `json:"version"`
	BuildTime string `json:"buildTime"` // as in RFC 3339

	answer
}

// FetchBinaryVersion returns the version of the CLI that runs this session, which can differ
// from the one that is installed now.
func (c *Client) FetchBinaryVersion(ctx context.Context) (*BinaryVersion, error) {
	return ask[BinaryVersion](ctx, c, "get_binary_version", nil)
}
