package api

import "github.com/seed7221b0f9/parley/agent/event"

// FilesSearchParams searches for files by name in the directory of a session, or without a session in CWD, up to a limit.
type FilesSearchParams struct {
	SessionID string `json:"session_id,omitempty"`
	CWD       string `json:"cwd,omitempty"`
	Query     string `json:"query"`
	Limit     int64  `json:"limit,omitempty"`
	Machine   string `json:"machine,omitempty"` // a machine that has joined; empty is the server's
}

// FilesSearchResult lists matching files and directories, by their paths in the directory of the
// session.
type FilesSearchResult struct {
	Files []FileInfo `json:"files"`
}

// FileInfo is a file or a directory, named by its path relative to the session's directory, with
// slashes.
type FileInfo struct {
	Path  string `json:"path"`
	IsDir bool   `json:"is_dir,omitempty"`
	Size  int64  `json:"size,omitempty"`
}

// FilesReadParams requests lines of a file in the directory of a session, or the whole file.
type FilesReadParams struct {
	SessionID string     `json:"session_id"`
	Path      string     `json:"path"`
	Range     *LineRange `json:"range,omitempty"`
}

// LineRange is a range of lines of a file, counted from 1. Both the first and the last line are
// included.
type LineRange struct {
	Start int64 `json:"start"`
	End   int64 `json:"end"`
}

// FilesReadResult is the text of the lines. Truncated is set if the limit was exceeded.
type FilesReadResult struct {
	Path      string    `json:"path"`
	Text      string    `json:"text"`
	Range     LineRange `json:"range"`
	Truncated bool      `json:"truncated,omitempty"`
}

// ContextBuildParams adds references, such as files and lines, to a text in the form of package
// contextref.
type ContextBuildParams struct {
	Text     string       `json:"text"`
	Contexts []event.JSON `json:"contexts"`
	Language string       `json:"language,omitempty"` // zh, en
}

// ContextBuildResult is the text with its references, ready to send to an agent as a prompt.
type ContextBuildResult struct {
	Text string `json:"text"`
}

// ContextParseParams extracts the references that context.build added to a text.
type ContextParseParams struct {
	Text string `json:"text"`
}

// ContextParseResult is a text without its references, and the references in order.
type ContextParseResult struct {
	Text     string       `json:"text"`
	Contexts []event.JSON `json:"contexts"`
}

// ImageUploadParams stores an image on the server, in base64, so that prompts of the session can
// refer to it.
type ImageUploadParams struct {
	SessionID string `json:"session_id"`
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"` // base64
}

// ImageUploadResult is the id of an image on the server, for references in prompts, and its size.
type ImageUploadResult struct {
	ID   string `json:"id"`
	Size int64  `json:"size"`
}

// SettingsResult lists the settings of the server for clients, such as the default model and its
// limits.
type SettingsResult struct {
	DefaultModel           string   `json:"default_model,omitempty"`
	DefaultPermissionMode  string   `json:"default_permission_mode,omitempty"`
	IncludePartialMessages bool     `json:"include_partial_messages"`
	AllowBypassPermissions bool     `json:"allow_bypass_permissions"`
	Directories            []string `json:"directories"`
}

// HealthResult reports the state of the server: whether it accepts work, the number of sessions and
// agents, its version.
type HealthResult struct {
	Status   string `json:"status"` // ok, draining
	Sessions int64  `json:"sessions"`
	Agents   int64  `json:"agents"`
	Version  string `json:"version"`
}

// DrainParams makes the server reject new work and stop when the running work is done, or after the
// timeout.
type DrainParams struct {
	TimeoutMS int64 `json:"timeout_ms,omitempty"`
}

// TokensCreateParams requests a new token with a role, a name, and the seconds until it expires.
type TokensCreateParams struct {
	Role      string `json:"role"` // viewer, operator, admin
	Name      string `json:"name,omitempty"`
	ExpiresIn int64  `json:"expires_in_s,omitempty"`
	Tenant    string `json:"tenant,omitempty"` // whom budgets of tenants count it for
	// AgentOf is the session whose agent gets the token: sessions that it starts are charged to that session.
	AgentOf string `json:"agent_of,omitempty"`
	Answers bool   `json:"answers,omitempty"` // of an agent: it may answer requests
}

// TokensCreateResult is a new token. Its secret is shown only once; the server stores a hash of it.
type TokensCreateResult struct {
	ID        string `json:"id"`
	Token     string `json:"token"`
	ExpiresAt string `json:"expires_at,omitempty"`
}

// TokensRevokeParams revokes a token by its id. Later requests with it fail.
type TokensRevokeParams struct {
	ID string `json:"id"`
}
