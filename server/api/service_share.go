package api

import (
	"encoding/json"

	"github.com/seed7221b0f9/parley/agent/event"
)

// ShareCreateParams ask for a link that lets its holder watch one session, for a limited time
// if one is given.
type ShareCreateParams struct {
	SessionID string `json:"session_id"`
	Name      string `json:"name,omitempty"`
	ExpiresIn int64  `json:"expires_in_s,omitempty"`
}

// ShareCreateResult is a new link to a session, with its address and its token, which are shown
// only this once.
type ShareCreateResult struct {
	ID        string `json:"id"`
	URL       string `json:"url"`
	Token     string `json:"token"`
	ExpiresAt string `json:"expires_at,omitempty"`
}

// ShareRevokeParams revoke a link to a session by its id. Clients that use it lose their
// access.
type ShareRevokeParams struct {
	ID string `json:"id"`
}

// TokensListResult lists the tokens and links that are valid at the moment, without their
// secrets.
type TokensListResult struct {
	Tokens []TokenInfo `json:"tokens"`
}

// TokenInfo describes a token or a link without its secret: its role, its expiry, and the
// session it is limited to.
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

// AuditListParams ask for rows of the audit log, the newest first, by session, person or time.
type AuditListParams struct {
	SessionID string `json:"session_id,omitempty"`
	By        string `json:"by,omitempty"`
	Since     string `json:"since,omitempty"`
	Until     string `json:"until,omitempty"`
	Cursor    string `json:"cursor,omitempty"`
	Limit     int64  `json:"limit,omitempty"`
}

// AuditListResult is a page of the audit log, the newest rows first, and the cursor of the next
// page.
type AuditListResult struct {
	Rows   []AuditRow `json:"rows"`
	Cursor string     `json:"cursor,omitempty"` // of the next page; empty on the last
}

// AuditRow is one row of the audit log: who did what, in which role and session, and how it
// came out.
type AuditRow struct {
	TS        string     `json:"ts"` // RFC 3339
	By        string     `json:"by"`
	Role      string     `json:"role,omitempty"`
	Method    string     `json:"method"`
	SessionID string     `json:"session_id,omitempty"`
	RequestID string     `json:"request_id,omitempty"`
	Outcome   string     `json:"outcome"` // ok, or the reason of the refusal
	Remote    string     `json:"remote,omitempty"`
	Detail    event.JSON `json:"detail,omitempty"`
}

// WebhooksListResult lists the webhooks of the server, each with the events for which it is
// called.
type WebhooksListResult struct {
	Webhooks []Webhook `json:"webhooks"`
}

// Webhook is an address that the server calls when one of the given events happens, in one
// session or in any.
type Webhook struct {
	ID        string   `json:"id,omitempty"`
	URL       string   `json:"url"`
	Events    []string `json:"events"` // needs_answer, turn_done, failed, budget_reached
	SessionID string   `json:"session_id,omitempty"`
	Enabled   bool     `json:"enabled"`
	LastError string   `json:"last_error,omitempty"` // of the last call; empty where it was taken
	Pending   int64    `json:"pending,omitempty"`    // calls that wait for the receiver
}

// UnmarshalJSON decodes a webhook. One that does not tell whether it is enabled is.
func (w *Webhook) UnmarshalJSON(data []byte) error {
	type plain Webhook
	p := plain{Enabled: true}
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	*w = Webhook(p)
	return nil
}

// WebhooksSetParams add a webhook, or change the one with its id. The secret signs the
// calls; it is never given out again.
type WebhooksSetParams struct {
	Webhook Webhook `json:"webhook"`
	Secret  string  `json:"secret,omitempty"`
}

// WebhooksSetResult is the webhook as it is after the change. A secret that the server made is
// shown once.
type WebhooksSetResult struct {
	Webhook Webhook `json:"webhook"`
	Secret  string  `json:"secret,omitempty"` // where the server made one, shown once
}

// WebhookRef names a webhook by its id, as the list of webhooks has it, for the methods that
// need nothing else.
type WebhookRef struct {
	ID string `json:"id"`
}

// WebhooksTestResult is the outcome of a call that was made to test a webhook: the status of
// its answer, or the error.
type WebhooksTestResult struct {
	Status     int64  `json:"status,omitempty"` // of its HTTP answer
	DurationMS int64  `json:"duration_ms"`
	Error      string `json:"error,omitempty"`
}

// ProvidersListResult lists the kinds of agents that the server knows, including those that are
// not available.
type ProvidersListResult struct {
	Providers []ProviderInfo `json:"providers"`
}

// ProviderInfo describes a kind of agent: its name, its version, whether it can be started, and
// what it can do.
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
