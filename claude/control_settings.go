package claude

import (
	"context"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Settings holds the current settings: merged, by source, and as the session applies them.
// Errors lists invalid files.
type Settings struct {
	Effective message.JSON     `json:"effective"` // all of them merged
	Sources   []SettingsSource `json:"sources"`   // the later ones win
	Errors    []SettingsError  `json:"errors,omitempty"`
	Applied   *AppliedSettings `json:"applied,omitempty"`

	answer
}

// SettingsSource is one place that settings come from, such as the user's file, with the
// settings found in it.
type SettingsSource struct {
	Source   string       `json:"source"` // userSettings, projectSettings, localSettings, flagSettings, policySettings
	Settings message.JSON `json:"settings"`
}

// SettingsError is a mistake in a settings file. The CLI ignores the whole file.
type SettingsError struct {
	File    string `json:"file,omitempty"`
	Path    string `json:"path"` // path in the file; "" for the whole file
	Message string `json:"message"`
}

// AppliedSettings holds the values that the session derives from its settings, such as the
// model and the effort that it uses.
type AppliedSettings struct {
	Model                               string       `json:"model"`
	Effort                              string       `json:"effort"` // "" is the model's own
	Advisor                             message.JSON `json:"advisor"`
	Ultracode                           bool         `json:"ultracode,omitempty"`
	UltracodeRequested                  bool         `json:"ultracodeRequested,omitempty"`
	UltracodeAvailable                  bool         `json:"ultracodeAvailable,omitempty"`
	UltrathinkAvailable                 bool         `json:"ultrathinkAvailable,omitempty"`
	OutsideFileToolReadsBlocked         bool         `json:"outsideFileToolReadsBlocked,omitempty"`
	OutsideFileToolWritesBlocked        bool         `json:"outsideFileToolWritesBlocked,omitempty"`
	OutsideBlocksCountLaunchFoldersOnly bool         `json:"outsideBlocksCountLaunchFoldersOnly,omitempty"`
	LaunchEnvLeftOwnFilesInPlace        bool         `json:"launchEnvLeftOwnFilesInPlace,omitempty"`
}

// FetchSettings returns the current settings, merged and by source.
func (c *Client) FetchSettings(ctx context.Context) (*Settings, error) {
	return ask[Settings](ctx, c, "get_settings", nil)
}

// ApplyFlagSettings changes settings for the rest of the session; they take precedence over
// those of files. settings, a struct or a map, must encode to a JSON object. Its keys replace
// those of earlier calls, each as a whole, and null removes one. If a value would invalidate
// all settings, the call has no effect and the error is a *[ControlError]; a value that the CLI
// only ignores is not an error.
func (c *Client) ApplyFlagSettings(ctx context.Context, settings any) error {
	return c.Control(ctx, "apply_flag_settings", map[string]any{"settings": settings}, nil)
}

// UpdateSettings writes settings to a file and applies them: outputStyle to localSettings,
// effortLevel to userSettings. The error for any other key is a *[ControlError].
func (c *Client) UpdateSettings(ctx context.Context, source string, settings map[string]string) error {
	if settings == nil {
		settings = map[string]string{}
	}
	return c.Control(ctx, "update_settings", map[string]any{"source": source, "settings": settings}, nil)
}

// HooksListing lists the hooks of settings, plugins and this process, the events that can have
// hooks, and the policy about them.
type HooksListing struct {
	Events       []HookEventInfo `json:"events"` // those with hooks
	Hooks        []HookInfo      `json:"hooks"`
	EventCatalog []HookEventInfo `json:"eventCatalog"` // all that the CLI has
	Policy       HookPolicy      `json:"policy"`
	SafeMode     *HookSafeMode   `json:"safeMode,omitempty"`
	BareMode     *HookBareMode   `json:"bareMode,omitempty"`
	Errors       []SettingsError `json:"errors,omitempty"`

	answer
}

// HookEventInfo is an event that can have hooks, with a summary for people and the number of
// its hooks.
type HookEventInfo struct {
	Name            string `json:"name"`
	Summary         string `json:"summary"`
	SupportsMatcher bool   `json:"supportsMatcher"`
	HookCount       int64  `json:"hookCount,omitempty"`
}

// HookInfo is one hook that is configured in the session: its event and matcher, its type, and
// the source that it comes from.
type HookInfo struct {
	Event            string        `json:"event"`
	Matcher          string        `json:"matcher"`
	Source           string        `json:"source"` // userSettings, sessionHook, pluginHook …
	SourceLabel      string        `json:"sourceLabel"`
	PluginName       string        `json:"pluginName,omitempty"`
	Type             string        `json:"type"` // command, prompt, agent, http, mcp_tool …
	DisplayText      string        `json:"displayText"`
	CommandText      string        `json:"commandText"`
	ContentLabel     string        `json:"contentLabel"`
	Condition        string        `json:"condition,omitempty"`
	Timeout          float64       `json:"timeout,omitempty"` // in seconds
	StatusMessage    string        `json:"statusMessage,omitempty"`
	RunsOnce         bool          `json:"runsOnce,omitempty"`
	RunsInBackground bool          `json:"runsInBackground,omitempty"`
	Disabled         bool          `json:"disabled,omitempty"`
	Editable         *EditableHook `json:"editable,omitempty"`
}

// EditableHook is a hook in the form that its settings file has, for a program that edits it.
// Secret headers may be removed.
type EditableHook struct {
	Matcher         string       `json:"matcher"`
	Config          message.JSON `json:"config"`
	HeadersRedacted bool         `json:"headersRedacted,omitempty"`
}

// HookPolicy describes which hooks the organization allows: none, its own, or those of plugins.
// It also counts the hooks of the policy.
type HookPolicy struct {
	DisabledByPolicy bool  `json:"disabledByPolicy"`
	ManagedOnly      bool  `json:"managedOnly"`
	PluginOnly       bool  `json:"pluginOnly"`
	AllDisabled      bool  `json:"allDisabled"`
	PolicyHookCount  int64 `json:"policyHookCount"`
	PolicyUnreadable bool  `json:"policyUnreadable,omitempty"`
}

// HookSafeMode is set when the CLI runs in safe mode, which disables hooks, except possibly
// those of the organization.
type HookSafeMode struct {
	ManagedHooksStillApply bool   `json:"managedHooksStillApply"`
	ExitHint               string `json:"exitHint"`
}

// HookBareMode is set when the CLI runs in bare mode, which disables hooks. ExitHint is a text
// for people.
type HookBareMode struct {
	ExitHint string `json:"exitHint"`
}

// ListHooks returns the hooks that are configured, including those of this process, the events
// that the CLI has, and the policy.
func (c *Client) ListHooks(ctx context.Context) (*HooksListing, error) {
	return ask[HooksListing](ctx, c, "get_hooks_listing", nil)
}

// PermissionRules lists the permission rules that are in force and the directories that tools
// may work in, each with its source.
type PermissionRules struct {
	Rules                []PermissionRuleInfo `json:"rules"`
	WorkspaceDirectories []WorkspaceDirectory `json:"workspaceDirectories"`
	OriginalCWD          string               `json:"originalCwd"`
	// ManagedOnly reports that only rules of the organization count.
	ManagedOnly bool `json:"managedOnly"`
	// Errors are mistakes in settings files. The rules of these files are ignored.
	Errors   []SettingsError `json:"errors,omitempty"`
	Withheld bool            `json:"withheld,omitempty"` // parts are omitted

	answer
}

// PermissionRuleInfo is one permission rule: its text, its decision, its source, and whether it
// can be edited.
type PermissionRuleInfo struct {
	Behavior    string           `json:"behavior"` // allow, deny, ask
	Source      string           `json:"source"`   // userSettings, cliArg, session …
	Rule        string           `json:"rule"`     // unescaped: escape it for display
	Description *RuleDescription `json:"description,omitempty"`
	Editability string           `json:"editability"` // persistent, session, readonly
	NotInEffect bool             `json:"notInEffect,omitempty"`
}

// RuleDescription explains a permission rule to people, in three pieces of text of which the
// middle one is emphasized.
type RuleDescription struct {
	Prefix   string `json:"prefix,omitempty"`
	Emphasis string `json:"emphasis,omitempty"`
	Suffix   string `json:"suffix,omitempty"`
}

// WorkspaceDirectory is a directory that tools may use in addition to the working directory,
// and the source that allows it.
type WorkspaceDirectory struct {
	Path   string `json:"path"`
	Source string `json:"source"`
}

// ListPermissionRules returns the permission rules that are in force, including those that were
// added for this session only.
func (c *Client) ListPermissionRules(ctx context.Context) (*PermissionRules, error) {
	text, err := askMember[message.JSON](ctx, c, "list_permission_rules", "state", nil)
	if err != nil {
		return nil, err
	}
	rules := &PermissionRules{answer: answer{text}}
	if text == "" {
		return rules, nil
	}
	return rules, jsonwire.Unmarshal(string(text), rules)
}
