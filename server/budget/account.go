package budget

import (
	"errors"
	"slices"
)

// Account lists who is charged: a session, the sessions with agents that started it, the token that made
// the first of them, and the tenant of the token.
type Account struct {
	Session string `json:"session,omitempty"`
	// Parents are the sessions with agents that started this one, outermost first. Its usage counts
	// for their budgets too.
	Parents []string `json:"parents,omitempty"`
	Token   string   `json:"token,omitempty"`
	Tenant  string   `json:"tenant,omitempty"`
}

// MaxDepth is the maximum number of nested sessions, each started by the agent of the previous one.
const MaxDepth = 2

// ErrDepth is returned for a session that would be nested deeper than [MaxDepth].
var ErrDepth = errors.New("budget: agents of sessions that agents have started, twice, start no more")

// Child returns the account of a session that is started by the agent of this account's session.
// Its usage counts for the same budgets. The error is [ErrDepth] beyond [MaxDepth].
func (a Account) Child(session string) (Account, error) {
	if len(a.Parents) >= MaxDepth {
		return Account{}, ErrDepth
	}
	return Account{Session: session, Parents: append(slices.Clone(a.Parents), a.Session), Token: a.Token, Tenant: a.Tenant}, nil
}

// targets returns the ids of the account in a scope.
func (a Account) targets(scope string) []string {
	id := ""
	switch scope {
	case ScopeSession:
		if a.Session == "" {
			return nil
		}
		return append([]string{a.Session}, a.Parents...)
	case ScopeToken:
		id = a.Token
	case ScopeTenant:
		id = a.Tenant
	case ScopeServer:
		return []string{""}
	}
	if id == "" {
		return nil
	}
	return []string{id}
}
