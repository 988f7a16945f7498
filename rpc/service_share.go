package rpc

import "github.com/seed7221b0f9/parley/ui"

// ShareCreateParams ask for a link that lets its holder watch one session.
type ShareCreateParams struct {
	SessionID string `json:"session_id"`
	Name      string `json:"name,omitempty"`
	ExpiresIn int64  `json:"expires_in_s,omitempty"`
}

// ShareCreateResult is a link, shown once.
type ShareCreateResult struct {
	ID        string `json:"id"`
	URL       string `json:"url"`
	Token     string `json:"token"`
	ExpiresAt string `json:"expires_at,omitempty"`
}

// ShareRevokeParams take a link back.
type ShareRevokeParams struct {
	ID string `json:"id"`
}

// TokensListResult is the tokens and links that are valid, without their secrets.
type TokensListResult struct {
	Tokens []TokenInfo `json:"tokens"`
}

// TokenInfo is a token without its secret.
type TokenInfo struct {
	ID        string `json:"id"`
	Name      string `json:"name,omitempty"`
	Role      string `json:"role"`                 // viewer, operator, admin
	SessionID string `json:"session_id,omitempty"` // set: it is a link to this session
	CreatedAt string `json:"created_at,omitempty"`
	ExpiresAt string `json:"expires_at,omitempty"`
	UsedAt    string `json:"used_at,omitempty"`
	Tenant    string `json:"tenant,omitempty"`
}

// AuditListParams ask for rows of the audit log, the newest first.
type AuditListParams struct {
	SessionID string `json:"session_id,omitempty"`
	By        string `json:"by,omitempty"`
	Since     string `json:"since,omitempty"`
	Until     string `json:"until,omitempty"`
	Cursor    string `json:"cursor,omitempty"`
	Limit     int64  `json:"limit,omitempty"`
}

// AuditListResult is a page of the audit log.
type AuditListResult struct {
	Rows   []AuditRow `json:"rows"`
	Cursor string     `json:"cursor,omitempty"` // of the next page; empty on the last
}

// AuditRow is one decision: who did what, and how it came out.
type AuditRow struct {
	TS        string  `json:"ts"` // RFC 3339
	By        string  `json:"by"`
	Role      string  `json:"role,omitempty"`
	Method    string  `json:"method"`
	SessionID string  `json:"session_id,omitempty"`
	RequestID string  `json:"request_id,omitempty"`
	Outcome   string  `json:"outcome"` // ok, or the reason of the refusal
	Remote    string  `json:"remote,omitempty"`
	Detail    ui.JSON `json:"detail,omitempty"`
}

// WebhooksListResult is the webhooks.
type WebhooksListResult struct {
	Webhooks []Webhook `json:"webhooks"`
}

// Webhook is an address that is called when something happens.
type Webhook struct {
	ID        string   `json:"id,omitempty"`
	URL       string   `json:"url"`
	Events    []string `json:"events"` // needs_answer, turn_done, failed, budget_reached
	SessionID string   `json:"session_id,omitempty"`
	Enabled   bool     `json:"enabled"`
	LastError string   `json:"last_error,omitempty"` // of the last call; empty where it was taken
	Pending   int64    `json:"pending,omitempty"`    // calls that wait for the receiver
}

// WebhooksSetParams add a webhook, or change the one with its id. The secret signs the
// calls; it is never given out again.
type WebhooksSetParams struct {
	Webhook Webhook `json:"webhook"`
	Secret  string  `json:"secret,omitempty"`
}

// WebhooksSetResult is the webhook as it is now.
type WebhooksSetResult struct {
	Webhook Webhook `json:"webhook"`
	Secret  string  `json:"secret,omitempty"` // where the server made one, shown once
}

// WebhookRef names a webhook.
type WebhookRef struct {
	ID string `json:"id"`
}

// WebhooksTestResult says how the receiver took a call that was made for a test.
type WebhooksTestResult struct {
	Status     int64  `json:"status,omitempty"` // of its HTTP answer
	DurationMS int64  `json:"duration_ms"`
	Error      string `json:"error,omitempty"`
}

// ProvidersListResult is the agents that the server can start.
type ProvidersListResult struct {
	Providers []ProviderInfo `json:"providers"`
}

// ProviderInfo is a kind of agent.
type ProviderInfo struct {
	Name         string       `json:"name"` // claude, codex, sim, acp:NAME
	DisplayName  string       `json:"display_name,omitempty"`
	Version      string       `json:"version,omitempty"`
	Available    bool         `json:"available"`
	Error        string       `json:"error,omitempty"` // why it is not available
	Simulated    bool         `json:"simulated,omitempty"`
	Default      bool         `json:"default,omitempty"`
	Capabilities Capabilities `json:"capabilities"`
}
