package api

import (
	"encoding/json"

	"github.com/seed7221b0f9/parley/agent/event"
)

// ShareCreateParams requests a link to watch one session, with an optional expiry.
type ShareCreateParams struct {
	SessionID string `json:"session_id"`
	Name      string `json:"name,omitempty"`
	ExpiresIn int64  `json:"expires_in_s,omitempty"`
}

// ShareCreateResult is a new link to a session, with its address and its token, which are shown
// only once.
type ShareCreateResult struct {
	ID        string `json:"id"`
	URL       string `json:"url"`
	Token     string `json:"token"`
	ExpiresAt string `json:"expires_at,omitempty"`
}

// ShareRevokeParams revokes a link to a session by its id. Clients that use it lose their access.
type ShareRevokeParams struct {
	ID string `json:"id"`
}

// TokensListResult lists the valid tokens and links, without their secrets.
type TokensListResult struct {
	Tokens []TokenInfo `json:"tokens"`
}

// TokenInfo describes a token or a link without its secret: its role, its expiry, and the session
// it is limited to.
type TokenInfo struct {
	ID        string `json:"id"`
	Name      string `json:"name,omitempty"`
	Role      string `json:"role"`                 // viewer, operator, admin
	SessionID string `json:"session_id,omitempty"` // if set, it is a link to this session
	CreatedAt string `json:"created_at,omitempty"`
	ExpiresAt string `json:"expires_at,omitempty"`
	UsedAt    string `json:"used_at,omitempty"`
	Device    bool   `json:"device,omitempty"`  // a code of pairing.create let it in
	Current   bool   `json:"current,omitempty"` // the token of the caller
	Tenant    string `json:"tenant,omitempty"`
	AgentOf   string `json:"agent_of,omitempty"` // the session whose agent holds it
}

// AuditListParams requests rows of the audit log, newest first, by session, person or time.
type AuditListParams struct {
	SessionID string `json:"session_id,omitempty"`
	By        string `json:"by,omitempty"`
	Since     string `json:"since,omitempty"`
	Until     string `json:"until,omitempty"`
	Cursor    string `json:"cursor,omitempty"`
	Limit     int64  `json:"limit,omitempty"`
}

// AuditListResult is a page of the audit log, newest rows first, and the cursor of the next page.
type AuditListResult struct {
	Rows   []AuditRow `json:"rows"`
	Cursor string     `json:"cursor,omitempty"` // of the next page; empty on the last
}

// AuditRow is one row of the audit log: the caller, the action, the role and session, and the
// outcome.
type AuditRow struct {
	TS        string     `json:"ts"` // RFC 3339
	By        string     `json:"by"`
	Role      string     `json:"role,omitempty"`
	Method    string     `json:"method"`
	SessionID string     `json:"session_id,omitempty"`
	RequestID string     `json:"request_id,omitempty"`
	Outcome   string     `json:"outcome"` // ok, or the reason of the rejection
	Remote    string     `json:"remote,omitempty"`
	Detail    event.JSON `json:"detail,omitempty"`
}

// WebhooksListResult lists the webhooks of the server, each with its events.
type WebhooksListResult struct {
	Webhooks []Webhook `json:"webhooks"`
}

// Webhook is an address that the server calls for the given events, of one session or of any.
type Webhook struct {
	ID        string   `json:"id,omitempty"`
	URL       string   `json:"url"`
	Events    []string `json:"events"` // needs_answer, turn_done, failed, budget_reached
	SessionID string   `json:"session_id,omitempty"`
	Enabled   bool     `json:"enabled"`
	LastError string   `json:"last_error,omitempty"` // of the last call; empty if it succeeded
	Pending   int64    `json:"pending,omitempty"`    // number of calls that wait for the receiver
}

// UnmarshalJSON decodes a webhook. Enabled defaults to true.
func (w *Webhook) UnmarshalJSON(data []byte) error {
	type plain Webhook
	p := plain{Enabled: true}
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	*w = Webhook(p)
	return nil
}

// WebhooksSetParams adds a webhook, or changes the one with its id. The secret signs the calls; it
// is never returned.
type WebhooksSetParams struct {
	Webhook Webhook `json:"webhook"`
	Secret  string  `json:"secret,omitempty"`
}

// WebhooksSetResult is the webhook after the change. A generated secret is shown once.
type WebhooksSetResult struct {
	Webhook Webhook `json:"webhook"`
	Secret  string  `json:"secret,omitempty"` // if the server generated one, shown once
}

// WebhookRef names a webhook by its id, for methods that need only this.
type WebhookRef struct {
	ID string `json:"id"`
}

// WebhooksTestResult is the outcome of a test call of a webhook: the status of its response, or the
// error.
type WebhooksTestResult struct {
	Status     int64  `json:"status,omitempty"` // of its HTTP response
	DurationMS int64  `json:"duration_ms"`
	Error      string `json:"error,omitempty"`
}

// ProvidersListResult lists the kinds of agents of the server, including those that are not
// available.
type ProvidersListResult struct {
	Providers []ProviderInfo `json:"providers"`
}

// ProviderInfo describes a kind of agent: its name, its version, whether it can be started, and its
// capabilities.
type ProviderInfo struct {
	Name         string       `json:"name"` // claude, codex, sim, acp:NAME
	DisplayName  string       `json:"display_name,omitempty"`
	Version      string       `json:"version,omitempty"`
	Available    bool         `json:"available"`
	Error        string       `json:"error,omitempty"` // the reason why it is not available
	Simulated    bool         `json:"simulated,omitempty"`
	Default      bool         `json:"default,omitempty"`
	Box          *Box         `json:"box,omitempty"`   // the box that a session can ask for; absent if there is none
	Boxed        bool         `json:"boxed,omitempty"` // every session runs in that box
	Capabilities Capabilities `json:"capabilities"`
}
