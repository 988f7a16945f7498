package server

import (
	"context"

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/budget"
)

// maxBudgets is how many limits there can be.
const maxBudgets = 1000

// budgetOf is a standing as clients have it.
func budgetOf(s budget.Standing) api.Budget {
	b := api.Budget{ID: s.Limit.ID, Scope: s.Scope, Target: s.Limit.Target, Period: s.Period, LimitUSD: s.USD, LimitTokens: s.Tokens,
		SpentTokens: s.Spent.Tokens, ResetsAt: resetTime(s.Resets), Action: s.Action, Level: []string{"ok", "warning", "exceeded"}[s.Level]}
	if s.Target != s.Limit.Target {
		b.Of = s.Target
	}
	if s.Spent.Unpriced < s.Spent.Tokens || s.Spent.Tokens == 0 {
		b.SpentUSD = &s.Spent.USD
	}
	return b
}

// budgetList lists limits: all of them, or with a session those that hold for it.
func budgetList(s *Server, ctx context.Context, c *caller, p api.BudgetListParams) (api.BudgetListResult, error) {
	result := api.BudgetListResult{Budgets: []api.Budget{}}
	standings := s.ledger.all()
	if c.tenant != "" { // what others have used is not for it to know
		standings = s.ledger.check(budget.Account{Token: c.account, Tenant: c.tenant})
	}
	if p.SessionID != "" {
		err := s.with(ctx, p.SessionID, func(a *actor) error {
			standings = s.ledger.check(a.account())
			return nil
		})
		if err != nil {
			return result, err
		}
	}
	for _, st := range standings {
		result.Budgets = append(result.Budgets, budgetOf(st))
	}
	return result, nil
}

func budgetSet(s *Server, ctx context.Context, _ *caller, p api.BudgetSetParams) (api.BudgetSetResult, error) {
	b := p.Budget
	l := budget.Limit{ID: b.ID, Scope: b.Scope, Target: b.Target, Period: b.Period, USD: b.LimitUSD, Tokens: b.LimitTokens, Action: b.Action}
	if err := l.Check(); err != nil {
		return api.BudgetSetResult{}, invalid("%v", err)
	}
	_, exists := s.ledger.limit(l.ID)
	switch {
	case isSetting(l.ID):
		return api.BudgetSetResult{}, conflict("the budget %q is one of the server's settings", l.ID)
	case l.ID != "" && !exists:
		return api.BudgetSetResult{}, conflict("there is no budget %q", l.ID)
	case len(s.ledger.all()) >= maxBudgets:
		return api.BudgetSetResult{}, limit("there are %d budgets", maxBudgets)
	case l.ID == "":
		if l.ID = "b-" + randomHex(6); p.Key != "" {
			l.ID = "b-" + hashOf(p.Key)[:12]
		}
	}
	if err := s.ledger.add(ctx, budget.Row{Time: s.ledger.now(), Limit: &l}); err != nil {
		return api.BudgetSetResult{}, err
	}
	s.budgetsReached(nil)
	for _, st := range s.ledger.all() {
		if st.Limit.ID == l.ID {
			return api.BudgetSetResult{Budget: budgetOf(st)}, nil
		}
	}
	return api.BudgetSetResult{}, conflict("the budget was removed meanwhile")
}

func budgetRemove(s *Server, ctx context.Context, _ *caller, p api.BudgetRef) (api.Empty, error) {
	if isSetting(p.ID) {
		return api.Empty{}, conflict("the budget %q is one of the server's settings", p.ID)
	}
	if _, ok := s.ledger.limit(p.ID); !ok {
		return api.Empty{}, conflict("there is no budget %q", p.ID)
	}
	return api.Empty{}, s.ledger.add(ctx, budget.Row{Time: s.ledger.now(), Removed: p.ID})
}
