package api

// Budget is a limit on what may be used, in US dollars or tokens. An absent limit means that there
// is none.
type Budget struct {
	ID          string   `json:"id,omitempty"`
	Scope       string   `json:"scope"`            // session, token, tenant, server
	Target      string   `json:"target,omitempty"` // the id in that scope
	Period      string   `json:"period,omitempty"` // day, month; empty means that it never starts over
	LimitUSD    *float64 `json:"limit_usd,omitempty"`
	LimitTokens *int64   `json:"limit_tokens,omitempty"`
	SpentUSD    *float64 `json:"spent_usd,omitempty"` // absent if the cost is not known
	SpentTokens int64    `json:"spent_tokens,omitempty"`
	ResetsAt    string   `json:"resets_at,omitempty"`
	Action      string   `json:"action,omitempty"` // interrupt, refuse, notify; empty is interrupt
	Level       string   `json:"level,omitempty"`  // ok, warning (from 80 % on), exceeded
	Of          string   `json:"of,omitempty"`     // for a limit that each has: the one that has used most
}

// BudgetListParams ask for all budgets, or for those that hold for a session, with what
// counts for it.
type BudgetListParams struct {
	SessionID string `json:"session_id,omitempty"`
}

// BudgetListResult lists the budgets of the server, each with what has been spent of it so far.
type BudgetListResult struct {
	Budgets []Budget `json:"budgets"`
}

// BudgetSetParams add a budget to those of the server, or change the one that has the same id.
type BudgetSetParams struct {
	Idempotency
	Budget Budget `json:"budget"`
}

// BudgetSetResult is the budget as it is after the change, with the id that the server gave it.
type BudgetSetResult struct {
	Budget Budget `json:"budget"`
}

// BudgetRef names a budget by its id, as the list of budgets has it, for the methods that need
// nothing else.
type BudgetRef struct {
	ID string `json:"id"`
}

// IsolationResult lists what the agent of a session can reach, and the checks by which that was
// found out.
type IsolationResult struct {
	Read       []string         `json:"read"`
	Write      []string         `json:"write"`
	Network    []string         `json:"network"`
	Secrets    []string         `json:"secrets"` // names of those that it could see, never values
	HoldsLogin bool             `json:"holds_login"`
	Sandbox    string           `json:"sandbox,omitempty"`
	Checks     []IsolationCheck `json:"checks"`
}

// IsolationCheck is one thing that was tried to find out what the agent can reach, and its
// outcome.
type IsolationCheck struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"`
}

// PushKeyResult is the public key with which a browser subscribes to push messages, if the
// server sends them.
type PushKeyResult struct {
	Enabled   bool   `json:"enabled"`
	PublicKey string `json:"public_key,omitempty"`
}

// PushSubscribeParams register a browser's push subscription, for all events or for some of
// them.
type PushSubscribeParams struct {
	Endpoint string   `json:"endpoint"`
	Keys     PushKeys `json:"keys"`
	Events   []string `json:"events,omitempty"` // as of webhooks; empty is all
}

// PushKeys are the keys of a browser for which messages are encrypted, as its subscription has
// them, in base64url.
type PushKeys struct {
	P256DH string `json:"p256dh"`
	Auth   string `json:"auth"`
}

// PushUnsubscribeParams remove a browser's push subscription, which its endpoint names. No
// further messages are sent to it.
type PushUnsubscribeParams struct {
	Endpoint string `json:"endpoint"`
}

// PushTestResult is the outcome of a message that was sent to try a subscription: the status of
// the push service, or the error.
type PushTestResult struct {
	Status int64  `json:"status,omitempty"`
	Error  string `json:"error,omitempty"`
}

// ServerStorageResult reports what the data of the server takes.
type ServerStorageResult struct {
	Kinds []StorageKind `json:"kinds"`
}

// StorageKind is one kind of data: logs, uploads, worktrees, spools or archives. Without a limit nothing of it is
// deleted.
type StorageKind struct {
	Name       string `json:"name"`
	Bytes      int64  `json:"bytes"`
	Items      int64  `json:"items"`
	Oldest     string `json:"oldest,omitempty"`      // RFC 3339
	AtLeast    bool   `json:"at_least,omitempty"`    // there is more than was counted
	LimitBytes int64  `json:"limit_bytes,omitempty"` // 0: none
}
