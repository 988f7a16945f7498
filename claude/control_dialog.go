package claude

import (
	"context"

	"github.com/seed7221b0f9/parley/claude/message"
)

// MemoryDialog is what the session knows of files with instructions.
type MemoryDialog struct {
	Files      []MemoryPlace  `json:"files"`
	Folders    []MemoryPlace  `json:"folders"`
	Memories   []message.JSON `json:"memories"`
	AutoMemory MemoryFeature  `json:"auto_memory"`
	AutoDream  MemoryFeature  `json:"auto_dream"`

	answer
}

// MemoryPlace is a file with instructions, or a folder of such.
type MemoryPlace struct {
	Kind        string `json:"kind"` // user, project, auto …
	Path        string `json:"path"`
	Label       string `json:"label"`
	Description string `json:"description"`
	Exists      *bool  `json:"exists,omitempty"` // of a file
}

// MemoryFeature is something that the CLI does with memories by itself.
type MemoryFeature struct {
	Shown      *bool  `json:"shown,omitempty"`
	Enabled    bool   `json:"enabled"`
	Toggleable bool   `json:"toggleable"`
	Status     string `json:"status"`
	Detail     string `json:"detail,omitempty"`
}

// FetchMemoryDialog returns what the CLI's dialog about memory shows.
func (c *Client) FetchMemoryDialog(ctx context.Context) (*MemoryDialog, error) {
	return ask[MemoryDialog](ctx, c, "get_memory_dialog", nil)
}

// SkillInfo is a skill of the user, the project or a plugin.
type SkillInfo struct {
	Name        string       `json:"name"`
	DisplayName string       `json:"display_name"`
	Description string       `json:"description"`
	Source      string       `json:"source"`
	Tokens      int64        `json:"tokens"`
	State       string       `json:"state"`
	Advertised  bool         `json:"advertised"`
	Handles     message.JSON `json:"handles,omitempty"`
}

// ListSkills returns what the CLI's dialog about skills shows: those that are
// not built in.
func (c *Client) ListSkills(ctx context.Context) ([]SkillInfo, error) {
	return askMember[[]SkillInfo](ctx, c, "get_skills_dialog", "skills", nil)
}

// SandboxDialog is how the sandbox stands.
type SandboxDialog struct {
	Supported           bool                `json:"supported"`
	Locked              bool                `json:"locked"`
	OverridesLocked     bool                `json:"overrides_locked"`
	PolicyOrigins       []message.JSON      `json:"policy_origins"`
	Enabled             bool                `json:"enabled"`
	EnabledInSettings   bool                `json:"enabled_in_settings"`
	Mode                string              `json:"mode"`
	AutoAllowAvailable  bool                `json:"auto_allow_available"`
	NoSandboxAllowed    bool                `json:"no_sandbox_allowed"`
	UnsandboxedFallback bool                `json:"unsandboxed_fallback"`
	Dependencies        SandboxDependencies `json:"dependencies"`
	ExcludedCommands    []string            `json:"excluded_commands"`
	Restrictions        SandboxRestrictions `json:"restrictions"`

	answer
}

// SandboxDependencies is what the sandbox misses on the machine.
type SandboxDependencies struct {
	Errors   []string `json:"errors"`
	Warnings []string `json:"warnings"`
}

// SandboxRestrictions is what the sandbox lets through.
type SandboxRestrictions struct {
	FSDenyRead            []string `json:"fs_deny_read"`
	FSAllowRead           []string `json:"fs_allow_read"`
	FSAllowWrite          []string `json:"fs_allow_write"`
	FSDenyWrite           []string `json:"fs_deny_write"`
	NetworkAllowedDomains []string `json:"network_allowed_domains"`
	NetworkDeniedDomains  []string `json:"network_denied_domains"`
	NetworkManaged        bool     `json:"network_managed"`
	UnixSockets           []string `json:"unix_sockets"`
	AllowAllUnixSockets   bool     `json:"allow_all_unix_sockets"`
	IgnoredGlobPatterns   []string `json:"ignored_glob_patterns"`
}

// FetchSandboxDialog returns what the CLI's dialog about the sandbox shows.
func (c *Client) FetchSandboxDialog(ctx context.Context) (*SandboxDialog, error) {
	return ask[SandboxDialog](ctx, c, "get_sandbox_dialog", nil)
}

// ChromeDialog is how the browser of the user is connected.
type ChromeDialog struct {
	Allowed          bool              `json:"allowed"`
	Subscriber       bool              `json:"subscriber"`
	WSL              bool              `json:"wsl"`
	Installed        bool              `json:"installed"`
	Connected        bool              `json:"connected"`
	EnabledByDefault bool              `json:"enabled_by_default"`
	AtStartup        bool              `json:"at_startup"`
	URLs             map[string]string `json:"urls"`

	answer
}

// FetchChromeDialog returns what the CLI's dialog about the browser shows.
func (c *Client) FetchChromeDialog(ctx context.Context) (*ChromeDialog, error) {
	return ask[ChromeDialog](ctx, c, "get_chrome_dialog", nil)
}
