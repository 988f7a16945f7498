package api

// Budget is a limit of usage, in US dollars or tokens. An absent value means no limit.
type Budget struct {
	ID          string   `json:"id,omitempty"`
	Scope       string   `json:"scope"`            // session, token, tenant, server
	Target      string   `json:"target,omitempty"` // the id in that scope
	Period      string   `json:"period,omitempty"` // day, month; empty means that it never resets
	LimitUSD    *float64 `json:"limit_usd,omitempty"`
	LimitTokens *int64   `json:"limit_tokens,omitempty"`
	SpentUSD    *float64 `json:"spent_usd,omitempty"` // absent if the cost is unknown
	SpentTokens int64    `json:"spent_tokens,omitempty"`
	ResetsAt    string   `json:"resets_at,omitempty"`
	Action      string   `json:"action,omitempty"` // interrupt, refuse, notify; empty is interrupt
	Level       string   `json:"level,omitempty"`  // ok, warning (from 80 % on), exceeded
	Of          string   `json:"of,omitempty"`     // for a limit that applies to each: the one with the highest usage
}

// BudgetListParams requests all budgets, or those that apply to a session, with the usage that
// counts for it.
type BudgetListParams struct {
	SessionID string `json:"session_id,omitempty"`
}

// BudgetListResult lists the budgets of the server, each with its usage so far.
type BudgetListResult struct {
	Budgets []Budget `json:"budgets"`
}

// BudgetSetParams adds a budget, or changes the one with the same id.
type BudgetSetParams struct {
	Idempotency
	Budget Budget `json:"budget"`
}

// BudgetSetResult is the budget after the change, with its id.
type BudgetSetResult struct {
	Budget Budget `json:"budget"`
}

// BudgetRef names a budget by its id, for methods that need only this.
type BudgetRef struct {
	ID string `json:"id"`
}

// IsolationResult lists the files and hosts that the agent of a session can reach, and the checks
// that determined this.
type IsolationResult struct {
	Read       []string         `json:"read"`
	Write      []string         `json:"write"`
	Network    []string         `json:"network"`
	Secrets    []string         `json:"secrets"` // names of visible secrets, never values
	HoldsLogin bool             `json:"holds_login"`
	Sandbox    string           `json:"sandbox,omitempty"`
	Checks     []IsolationCheck `json:"checks"`
}

// IsolationCheck is one check of the agent's limits, and its outcome.
type IsolationCheck struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"`
}

// PushKeyResult is the public key with which a browser subscribes to push messages, if the server
// sends them.
type PushKeyResult struct {
	Enabled   bool   `json:"enabled"`
	PublicKey string `json:"public_key,omitempty"`
}

// PushSubscribeParams registers a browser's push subscription, for all events or some.
type PushSubscribeParams struct {
	Endpoint string   `json:"endpoint"`
	Keys     PushKeys `json:"keys"`
	Events   []string `json:"events,omitempty"` // as for webhooks; empty is all
	Allow    bool     `json:"allow,omitempty"`  // a notice may offer to allow a command that fits into it; needs the role operator
}

// PushState describes the subscription of the caller's browser, if it has one.
type PushState struct {
	Subscribed bool     `json:"subscribed"`
	Events     []string `json:"events,omitempty"`
	Allow      bool     `json:"allow,omitempty"`
}

// PushAnswerParams answers the request of a notice with the nonce of its message. A nonce is valid once,
// for the token of the subscription.
type PushAnswerParams struct {
	Nonce    string `json:"nonce"`
	Behavior string `json:"behavior"` // allow, deny
}

// PairingCreateParams requests a code that lets one device in, with the role and name of its token.
type PairingCreateParams struct {
	Role string `json:"role"` // viewer, operator, admin, host
	Name string `json:"name"`
}

// PairingCreateResult is a code for one device. POST /v1/pair exchanges it once for a cookie; the page
// takes it from #pair=CODE of its address. A machine, with the role host, gets a token.
type PairingCreateResult struct {
	ID        string   `json:"id"` // of the token that the device gets
	Code      string   `json:"code"`
	ExpiresAt string   `json:"expires_at"`
	Loopback  bool     `json:"loopback"`  // the server listens on loopback only: no other device can reach it directly
	Addresses []string `json:"addresses"` // addresses of the page for other machines, as far as the server knows them
}

// PairingRef names a code by its id, for methods that need only this.
type PairingRef struct {
	ID string `json:"id"`
}

// PushKeys are the keys of a browser for encrypted messages, from its subscription, in base64url.
type PushKeys struct {
	P256DH string `json:"p256dh"`
	Auth   string `json:"auth"`
}

// PushUnsubscribeParams removes the push subscription with this endpoint. No further messages are
// sent to it.
type PushUnsubscribeParams struct {
	Endpoint string `json:"endpoint"`
}

// PushTestResult is the outcome of a test message to a subscription: the status of the push
// service, or the error.
type PushTestResult struct {
	Status int64  `json:"status,omitempty"`
	Error  string `json:"error,omitempty"`
}

// ServerStorageResult reports the size of the server's data.
type ServerStorageResult struct {
	Kinds []StorageKind `json:"kinds"`
}

// StorageKind is one kind of data: logs, uploads, worktrees, spools or archives. Without a limit no data of the
// kind is deleted.
type StorageKind struct {
	Name       string `json:"name"`
	Bytes      int64  `json:"bytes"`
	Items      int64  `json:"items"`
	Oldest     string `json:"oldest,omitempty"`      // RFC 3339
	AtLeast    bool   `json:"at_least,omitempty"`    // the actual size is larger
	LimitBytes int64  `json:"limit_bytes,omitempty"` // 0 for no limit
}
