package server

import (
	"context"

	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/budget"
	"github.com/seed7221b0f9/parley/server/session"
)

// maxBudgets is the maximum number of limits.
const maxBudgets = 1000

// budgetList lists limits: all of them, or with a session those that apply to it.
func budgetList(s *Server, ctx context.Context, c *caller, p api.BudgetListParams) (api.BudgetListResult, error) {
	result := api.BudgetListResult{Budgets: []api.Budget{}}
	standings := s.accounts.all()
	if c.tenant != "" { // the usage of others is hidden from it
		standings = s.accounts.Check(budget.Account{Token: c.account, Tenant: c.tenant})
	}
	if p.SessionID != "" {
		account, err := s.sessions.Account(ctx, p.SessionID)
		if err != nil {
			return result, err
		}
		standings = s.accounts.Check(account)
	}
	for _, st := range standings {
		result.Budgets = append(result.Budgets, session.BudgetOf(st.For(c.tenant)))
	}
	return result, nil
}

func budgetSet(s *Server, ctx context.Context, c *caller, p api.BudgetSetParams) (api.BudgetSetResult, error) {
	b := p.Budget
	l := budget.Limit{ID: b.ID, Scope: b.Scope, Target: b.Target, Period: b.Period, USD: b.LimitUSD, Tokens: b.LimitTokens, Action: b.Action}
	if err := l.Check(); err != nil {
		return api.BudgetSetResult{}, session.Invalid("%v", err)
	}
	_, exists := s.accounts.limit(l.ID)
	switch {
	case isSetting(l.ID):
		return api.BudgetSetResult{}, session.Conflict("the budget %q is one of the server's settings", l.ID)
	case l.ID != "" && !exists:
		return api.BudgetSetResult{}, session.Conflict("budget %q not found", l.ID)
	case !exists && len(s.accounts.all()) >= maxBudgets:
		return api.BudgetSetResult{}, session.LimitReached("there are %d budgets", maxBudgets)
	case l.ID == "":
		if l.ID = "b-" + random.Hex(6); p.Key != "" {
			l.ID = "b-" + hashOf(c.id + "\x00" + p.Key)[:12]
		}
	}
	if err := s.accounts.change(ctx, budget.Row{Time: s.accounts.now(), Limit: &l}); err != nil {
		return api.BudgetSetResult{}, err
	}
	s.sessions.CheckBudgets()
	for _, st := range s.accounts.all() {
		if st.Limit.ID == l.ID {
			return api.BudgetSetResult{Budget: session.BudgetOf(st)}, nil
		}
	}
	return api.BudgetSetResult{}, session.Conflict("the budget was removed meanwhile")
}

func budgetRemove(s *Server, ctx context.Context, _ *caller, p api.BudgetRef) (api.Empty, error) {
	if isSetting(p.ID) {
		return api.Empty{}, session.Conflict("the budget %q is one of the server's settings", p.ID)
	}
	if _, ok := s.accounts.limit(p.ID); !ok {
		return api.Empty{}, session.Conflict("budget %q not found", p.ID)
	}
	if err := s.accounts.change(ctx, budget.Row{Time: s.accounts.now(), Removed: p.ID}); err != nil {
		return api.Empty{}, err
	}
	s.sessions.CheckBudgets()
	return api.Empty{}, nil
}
