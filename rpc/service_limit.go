package rpc

// Budget is a limit on what may be used. A limit that is absent is none.
type Budget struct {
	ID          string   `json:"id,omitempty"`
	Scope       string   `json:"scope"`            // session, token, tenant, server
	Target      string   `json:"target,omitempty"` // the id in that scope
	Period      string   `json:"period,omitempty"` // day, month; empty is for good
	LimitUSD    *float64 `json:"limit_usd,omitempty"`
	LimitTokens *int64   `json:"limit_tokens,omitempty"`
	SpentUSD    *float64 `json:"spent_usd,omitempty"` // absent where the cost is not known
	SpentTokens int64    `json:"spent_tokens,omitempty"`
	ResetsAt    string   `json:"resets_at,omitempty"`
	Action      string   `json:"action,omitempty"` // interrupt, refuse, notify; empty is interrupt
	Level       string   `json:"level,omitempty"`  // ok, warning (from 80 % on), exceeded
	Of          string   `json:"of,omitempty"`     // of a limit for each: who has used most of it
}

// BudgetListParams ask for all budgets, or for those that hold for a session, with what
// counts for it.
type BudgetListParams struct {
	SessionID string `json:"session_id,omitempty"`
}

// BudgetListResult is the budgets with what is spent of them.
type BudgetListResult struct {
	Budgets []Budget `json:"budgets"`
}

// BudgetSetParams add a budget, or change the one with its id.
type BudgetSetParams struct {
	Idempotency
	Budget Budget `json:"budget"`
}

// BudgetSetResult is the budget as it is now.
type BudgetSetResult struct {
	Budget Budget `json:"budget"`
}

// BudgetRef names a budget.
type BudgetRef struct {
	ID string `json:"id"`
}

// IsolationResult is what the agent of a session can reach, as it was checked.
type IsolationResult struct {
	Read       []string         `json:"read"`
	Write      []string         `json:"write"`
	Network    []string         `json:"network"`
	Secrets    []string         `json:"secrets"` // names of those that it could see, never values
	HoldsLogin bool             `json:"holds_login"`
	Sandbox    string           `json:"sandbox,omitempty"`
	Checks     []IsolationCheck `json:"checks"`
}

// IsolationCheck is one thing that was tried.
type IsolationCheck struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"`
}

// PushKeyResult is the key that a browser subscribes with.
type PushKeyResult struct {
	Enabled   bool   `json:"enabled"`
	PublicKey string `json:"public_key,omitempty"`
}

// PushSubscribeParams register a browser's push subscription.
type PushSubscribeParams struct {
	Endpoint string   `json:"endpoint"`
	P256DH   string   `json:"p256dh"`
	Auth     string   `json:"auth"`
	Events   []string `json:"events,omitempty"`
}

// PushUnsubscribeParams take a subscription away.
type PushUnsubscribeParams struct {
	Endpoint string `json:"endpoint"`
}
