package api

import "github.com/seed7221b0f9/parley/agent/event"

// FilesSearchParams look for files by name in the directory of a session, up to a limit.
type FilesSearchParams struct {
	SessionID string `json:"session_id"`
	Query     string `json:"query"`
	Limit     int64  `json:"limit,omitempty"`
}

// FilesSearchResult lists files and directories that match, by their paths in the directory of
// the session.
type FilesSearchResult struct {
	Files []FileInfo `json:"files"`
}

// FileInfo is a file or a directory, named by its path relative to the session's directory,
// with slashes.
type FileInfo struct {
	Path  string `json:"path"`
	IsDir bool   `json:"is_dir,omitempty"`
	Size  int64  `json:"size,omitempty"`
}

// FilesReadParams ask for lines of a file in the directory of a session, or for the whole file.
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

// FilesReadResult is the text of the lines that were read. Truncated is set if there was more
// than the limit.
type FilesReadResult struct {
	Path      string    `json:"path"`
	Text      string    `json:"text"`
	Range     LineRange `json:"range"`
	Truncated bool      `json:"truncated,omitempty"`
}

// ContextBuildParams put references, such as files and lines, into a text in the form that
// package contextref defines.
type ContextBuildParams struct {
	Text     string       `json:"text"`
	Contexts []event.JSON `json:"contexts"`
	Language string       `json:"language,omitempty"` // zh, en
}

// ContextBuildResult is the text with its references, ready to be sent to an agent as a prompt.
type ContextBuildResult struct {
	Text string `json:"text"`
}

// ContextParseParams take the references out of a text again that context.build has put into
// it.
type ContextParseParams struct {
	Text string `json:"text"`
}

// ContextParseResult is a text without its references, and the references themselves in their
// order.
type ContextParseResult struct {
	Text     string       `json:"text"`
	Contexts []event.JSON `json:"contexts"`
}

// ImageUploadParams store an image on the server, in base64, so that prompts of the session can
// refer to it.
type ImageUploadParams struct {
	SessionID string `json:"session_id"`
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"` // base64
}

// ImageUploadResult is the id of an image on the server, by which prompts refer to it, and its
// size.
type ImageUploadResult struct {
	ID   string `json:"id"`
	Size int64  `json:"size"`
}

// SettingsResult lists the settings of the server that clients may know, such as the default
// model and its limits.
type SettingsResult struct {
	DefaultModel           string   `json:"default_model,omitempty"`
	DefaultPermissionMode  string   `json:"default_permission_mode,omitempty"`
	IncludePartialMessages bool     `json:"include_partial_messages"`
	AllowBypassPermissions bool     `json:"allow_bypass_permissions"`
	Directories            []string `json:"directories"`
}

// HealthResult reports the state of the server: whether it takes work, how many sessions and
// agents it has, its version.
type HealthResult struct {
	Status   string `json:"status"` // ok, draining
	Sessions int64  `json:"sessions"`
	Agents   int64  `json:"agents"`
	Version  string `json:"version"`
}

// DrainParams make the server take no new work and end when what runs is done, or after the
// time limit.
type DrainParams struct {
	TimeoutMS int64 `json:"timeout_ms,omitempty"`
}

// TokensCreateParams ask for a new token with a role, a name, and the seconds until it expires.
type TokensCreateParams struct {
	Role      string `json:"role"` // viewer, operator, admin
	Name      string `json:"name,omitempty"`
	ExpiresIn int64  `json:"expires_in_s,omitempty"`
	Tenant    string `json:"tenant,omitempty"` // whom budgets of tenants count it for
}

// TokensCreateResult is a new token. Its secret is shown only this once; the server stores a
// hash of it.
type TokensCreateResult struct {
	ID        string `json:"id"`
	Token     string `json:"token"`
	ExpiresAt string `json:"expires_at,omitempty"`
}

// TokensRevokeParams revoke a token by its id. Requests with it fail from then on.
type TokensRevokeParams struct {
	ID string `json:"id"`
}
