package claude

import (
	"context"

	"github.com/seed7221b0f9/parley/claude/message"
)

// MemoryDialog lists the files and folders with instructions that the session knows, and the
// features of the CLI that write memories.
type MemoryDialog struct {
	Files      []MemoryPlace  `json:"files"`
	Folders    []MemoryPlace  `json:"folders"`
	Memories   []message.JSON `json:"memories"`
	AutoMemory MemoryFeature  `json:"auto_memory"`
	AutoDream  MemoryFeature  `json:"auto_dream"`

	answer
}

// MemoryPlace is a file with instructions, or a folder of such files, as the CLI's dialog about
// memory lists it.
type MemoryPlace struct {
	Kind        string `json:"kind"` // user, project, auto …
	Path        string `json:"path"`
	Label       string `json:"label"`
	Description string `json:"description"`
	Exists      *bool  `json:"exists,omitempty"` // of a file
}

// MemoryFeature is the state of a CLI feature that writes memories automatically, such as auto
// memory.
type MemoryFeature struct {
	Shown      *bool  `json:"shown,omitempty"`
	Enabled    bool   `json:"enabled"`
	Toggleable bool   `json:"toggleable"`
	Status     string `json:"status"`
	Detail     string `json:"detail,omitempty"`
}

// FetchMemoryDialog returns the content of the CLI's dialog about memory: files, folders, and
// the features that write memories automatically.
func (c *Client) FetchMemoryDialog(ctx context.Context) (*MemoryDialog, error) {
	return ask[MemoryDialog](ctx, c, "get_memory_dialog", nil)
}

// SkillInfo is a skill of the user, the project or a plugin, with its size in tokens and
// whether it is in use.
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

// ListSkills returns the skills in the CLI's dialog about skills: all that are not built in.
func (c *Client) ListSkills(ctx context.Context) ([]SkillInfo, error) {
	return askMember[[]SkillInfo](ctx, c, "get_skills_dialog", "skills", nil)
}

// SandboxDialog is the state of the sandbox: whether this machine supports it, whether it is
// enabled, and which values policies and settings fix.
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

// SandboxDependencies lists the missing dependencies of the sandbox on this machine. With
// errors the sandbox does not work; with warnings it does.
type SandboxDependencies struct {
	Errors   []string `json:"errors"`
	Warnings []string `json:"warnings"`
}

// SandboxRestrictions lists the paths and the domains that commands in the sandbox may use, and
// those that they may not.
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

// FetchSandboxDialog returns the content of the CLI's dialog about the sandbox: its state, its
// restrictions, and the missing dependencies.
func (c *Client) FetchSandboxDialog(ctx context.Context) (*SandboxDialog, error) {
	return ask[SandboxDialog](ctx, c, "get_sandbox_dialog", nil)
}

// ChromeDialog is the state of the connection to the user's browser: whether it is allowed,
// installed, connected and on by default.
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

// FetchChromeDialog returns the content of the CLI's dialog about the browser: whether its
// extension is allowed, installed and connected.
func (c *Client) FetchChromeDialog(ctx context.Context) (*ChromeDialog, error) {
	return ask[ChromeDialog](ctx, c, "get_chrome_dialog", nil)
}
