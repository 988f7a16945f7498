package claude

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed7221b0f9/parley/claude/message"
)

// ReloadPluginsOptions configures how plugins are reloaded. The zero value reloads them even if
// the session is busy.
type ReloadPluginsOptions struct {
	// HoldOnCacheImpact cancels the reload if the list of tools would change, because that
	// invalidates the prompt cache; the result lists the changes.
	HoldOnCacheImpact bool `json:"hold_on_cache_impact,omitempty"`
	// RefuseIfBusy makes the call fail with [ErrSessionBusy] if the session is busy.
	RefuseIfBusy bool `json:"refuse_if_busy,omitempty"`
	// AddPlugins are loaded in addition; their paths must be absolute.
	AddPlugins []Plugin `json:"add_plugins,omitempty"`
}

// ReloadedPlugins lists the contents of the session after the reload: commands, agents, plugins
// and MCP servers.
type ReloadedPlugins struct {
	Commands   []message.SlashCommand `json:"commands"`
	Agents     []AgentInfo            `json:"agents"`
	Plugins    []message.InitPlugin   `json:"plugins"`
	MCPServers []MCPServerStatus      `json:"mcpServers"`
	ErrorCount int64                  `json:"error_count"`
	// Held is true if the reload was cancelled because of CacheImpact, false if the check found
	// no impact, nil if there was no check.
	Held        *bool        `json:"held,omitempty"`
	CacheImpact *CacheImpact `json:"cache_impact,omitempty"`

	answer
}

// CacheImpact lists the changes to the list of tools that would invalidate the prompt cache.
type CacheImpact struct {
	MCPServersAdded   []string `json:"mcp_servers_added"`
	MCPServersRemoved []string `json:"mcp_servers_removed"`
	LSPToolChange     string   `json:"lsp_tool_change"` // adds, may-add, removes, may-remove, or "" for no change
}

// ReloadPlugins reads plugins from disk again. The options may be nil. With RefuseIfBusy the
// error for a busy session is [ErrSessionBusy]; the error for a plugin that cannot be added is
// a *[ControlError].
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

// ListModels asks the CLI for the available models. [Client.ServerInfo] has those at the start.
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
// from the installed version.
func (c *Client) FetchBinaryVersion(ctx context.Context) (*BinaryVersion, error) {
	return ask[BinaryVersion](ctx, c, "get_binary_version", nil)
}
