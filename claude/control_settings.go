package claude

import (
	"context"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Settings are the settings that are in force.
type Settings struct {
	Effective message.JSON     `json:"effective"` // all of them merged
	Sources   []SettingsSource `json:"sources"`   // the later ones win
	Errors    []SettingsError  `json:"errors,omitempty"`
	Applied   *AppliedSettings `json:"applied,omitempty"`

	answer
}

// SettingsSource is a place that settings come from.
type SettingsSource struct {
	Source   string       `json:"source"` // userSettings, projectSettings, localSettings, flagSettings, policySettings
	Settings message.JSON `json:"settings"`
}

// SettingsError is a mistake in a file of settings, which is skipped as a whole.
type SettingsError struct {
	File    string `json:"file,omitempty"`
	Path    string `json:"path"` // in the file, "" for all of it
	Message string `json:"message"`
}

// AppliedSettings is what the session makes of its settings.
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

// FetchSettings returns the settings that are in force and where they come from.
func (c *Client) FetchSettings(ctx context.Context) (*Settings, error) {
	return ask[Settings](ctx, c, "get_settings", nil)
}

// ApplyFlagSettings changes settings for the rest of the session; they come
// before those of files. settings, a struct or a map, encodes to a JSON object.
// Its keys replace those of earlier calls, each as a whole, and null takes one
// back. A value that would spoil all of them is a *[ControlError] and nothing of
// the call is taken; one that the CLI only ignores is none.
func (c *Client) ApplyFlagSettings(ctx context.Context, settings any) error {
	return c.Control(ctx, "apply_flag_settings", map[string]any{"settings": settings}, nil)
}

// UpdateSettings writes settings to a file and applies them: outputStyle to
// localSettings, effortLevel to userSettings. Any other key is a *[ControlError].
func (c *Client) UpdateSettings(ctx context.Context, source string, settings map[string]string) error {
	if settings == nil {
		settings = map[string]string{}
	}
	return c.Control(ctx, "update_settings", map[string]any{"source": source, "settings": settings}, nil)
}

// HooksListing is what hooks there are in settings and plugins, and here.
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

// HookEventInfo is an event that hooks can have.
type HookEventInfo struct {
	Name            string `json:"name"`
	Summary         string `json:"summary"`
	SupportsMatcher bool   `json:"supportsMatcher"`
	HookCount       int64  `json:"hookCount,omitempty"`
}

// HookInfo is a hook.
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

// EditableHook is a hook as its file has it.
type EditableHook struct {
	Matcher         string       `json:"matcher"`
	Config          message.JSON `json:"config"`
	HeadersRedacted bool         `json:"headersRedacted,omitempty"`
}

// HookPolicy is what the organization allows of hooks.
type HookPolicy struct {
	DisabledByPolicy bool  `json:"disabledByPolicy"`
	ManagedOnly      bool  `json:"managedOnly"`
	PluginOnly       bool  `json:"pluginOnly"`
	AllDisabled      bool  `json:"allDisabled"`
	PolicyHookCount  int64 `json:"policyHookCount"`
	PolicyUnreadable bool  `json:"policyUnreadable,omitempty"`
}

// HookSafeMode is there in safe mode, in which hooks do not run.
type HookSafeMode struct {
	ManagedHooksStillApply bool   `json:"managedHooksStillApply"`
	ExitHint               string `json:"exitHint"`
}

// HookBareMode is there in bare mode, in which hooks do not run.
type HookBareMode struct {
	ExitHint string `json:"exitHint"`
}

// ListHooks returns what hooks there are.
func (c *Client) ListHooks(ctx context.Context) (*HooksListing, error) {
	return ask[HooksListing](ctx, c, "get_hooks_listing", nil)
}

// PermissionRules are the permission rules that are in force.
type PermissionRules struct {
	Rules                []PermissionRuleInfo `json:"rules"`
	WorkspaceDirectories []WorkspaceDirectory `json:"workspaceDirectories"`
	OriginalCWD          string               `json:"originalCwd"`
	// ManagedOnly says that rules of the organization alone count.
	ManagedOnly bool `json:"managedOnly"`
	// Errors are mistakes in files, whose rules are not in the session.
	Errors   []SettingsError `json:"errors,omitempty"`
	Withheld bool            `json:"withheld,omitempty"` // parts were left out

	answer
}

// PermissionRuleInfo is a rule and where it comes from.
type PermissionRuleInfo struct {
	Behavior    string           `json:"behavior"` // allow, deny, ask
	Source      string           `json:"source"`   // userSettings, cliArg, session …
	Rule        string           `json:"rule"`     // as it was written: escape it before showing it
	Description *RuleDescription `json:"description,omitempty"`
	Editability string           `json:"editability"` // persistent, session, readonly
	NotInEffect bool             `json:"notInEffect,omitempty"`
}

// RuleDescription is what a rule means, in words.
type RuleDescription struct {
	Prefix   string `json:"prefix,omitempty"`
	Emphasis string `json:"emphasis,omitempty"`
	Suffix   string `json:"suffix,omitempty"`
}

// WorkspaceDirectory is a directory that tools may work in.
type WorkspaceDirectory struct {
	Path   string `json:"path"`
	Source string `json:"source"`
}

// ListPermissionRules returns the permission rules that are in force, those of the
// session included.
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
