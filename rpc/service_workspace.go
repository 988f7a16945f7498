package rpc

import "github.com/seed7221b0f9/parley/ui"

// FilesSearchParams look for files by name.
type FilesSearchParams struct {
	SessionID string `json:"session_id"`
	Query     string `json:"query"`
	Limit     int64  `json:"limit,omitempty"`
}

// FilesSearchResult are files.
type FilesSearchResult struct {
	Files []FileInfo `json:"files"`
}

// FileInfo is a file or a directory, by its path in the session's directory.
type FileInfo struct {
	Path  string `json:"path"`
	IsDir bool   `json:"is_dir,omitempty"`
	Size  int64  `json:"size,omitempty"`
}

// FilesReadParams ask for lines of a file.
type FilesReadParams struct {
	SessionID string     `json:"session_id"`
	Path      string     `json:"path"`
	Range     *LineRange `json:"range,omitempty"`
}

// LineRange are lines, counted from 1, both ends in it.
type LineRange struct {
	Start int64 `json:"start"`
	End   int64 `json:"end"`
}

// FilesReadResult are lines of a file.
type FilesReadResult struct {
	Path      string    `json:"path"`
	Text      string    `json:"text"`
	Range     LineRange `json:"range"`
	Truncated bool      `json:"truncated,omitempty"`
}

// ContextBuildParams put contexts into a text.
type ContextBuildParams struct {
	Text     string    `json:"text"`
	Contexts []ui.JSON `json:"contexts"`
	Language string    `json:"language,omitempty"` // zh, en
}

// ContextBuildResult is a text with its contexts.
type ContextBuildResult struct {
	Text string `json:"text"`
}

// ContextParseParams take contexts out of a text.
type ContextParseParams struct {
	Text string `json:"text"`
}

// ContextParseResult is a text and its contexts.
type ContextParseResult struct {
	Text     string    `json:"text"`
	Contexts []ui.JSON `json:"contexts"`
}

// ImageUploadParams bring an image to the server.
type ImageUploadParams struct {
	SessionID string `json:"session_id"`
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"` // base64
}

// ImageUploadResult names an image on the server.
type ImageUploadResult struct {
	ID   string `json:"id"`
	Size int64  `json:"size"`
}

// SettingsResult are the server's settings that clients may know.
type SettingsResult struct {
	DefaultModel           string   `json:"default_model,omitempty"`
	DefaultPermissionMode  string   `json:"default_permission_mode,omitempty"`
	IncludePartialMessages bool     `json:"include_partial_messages"`
	AllowBypassPermissions bool     `json:"allow_bypass_permissions"`
	Directories            []string `json:"directories"`
}

// HealthResult says how the server is.
type HealthResult struct {
	Status   string `json:"status"` // ok, draining
	Sessions int64  `json:"sessions"`
	Agents   int64  `json:"agents"`
	Version  string `json:"version"`
}

// DrainParams make the server take no more work, and end.
type DrainParams struct {
	TimeoutMS int64 `json:"timeout_ms,omitempty"`
}

// TokensCreateParams ask for a token.
type TokensCreateParams struct {
	Role      string `json:"role"` // viewer, operator, admin
	Name      string `json:"name,omitempty"`
	ExpiresIn int64  `json:"expires_in_s,omitempty"`
	Tenant    string `json:"tenant,omitempty"` // whom budgets of tenants count it for
}

// TokensCreateResult is a token, shown once.
type TokensCreateResult struct {
	ID        string `json:"id"`
	Token     string `json:"token"`
	ExpiresAt string `json:"expires_at,omitempty"`
}

// TokensRevokeParams take a token back.
type TokensRevokeParams struct {
	ID string `json:"id"`
}
