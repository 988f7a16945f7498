package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/budget"
)

// The codes of notices about budgets.
const (
	noticeBudgetNear     = "budget_warning"
	noticeBudgetReached  = "budget_exceeded"
	noticeBudgetUnpriced = "budget_unpriced"
	noticeBudgetWaits    = "budget_waiting"
)

// tally collects an agent's usage reports until the actor's loop takes them.
type tally struct {
	ready chan struct{} // has an element when there is a report
	mu    sync.Mutex
	used  []agent.Used
}

func newTally() *tally { return &tally{ready: make(chan struct{}, 1)} }

// add is called by the agent and never blocks.
func (t *tally) add(u agent.Used) {
	t.mu.Lock()
	t.used = append(t.used, u)
	t.mu.Unlock()
	select {
	case t.ready <- struct{}{}:
	default:
	}
}

func (t *tally) take() []agent.Used {
	t.mu.Lock()
	defer t.mu.Unlock()
	used := t.used
	t.used = nil
	return used
}

// spending is the usage of a loaded session, and its budgets. It belongs to the loop.
type spending struct {
	*life
	tally        *tally
	metered      bool                    // the agent reports the usage of each answer
	turn         turnUsage               // for an agent that reports only the usage of turns
	told         map[string]budget.Level // levels reported to viewers, by limit and period
	unpriced     bool                    // a missing price was reported
	interrupting bool
	handed       string // the limits that the agent got at its start

	reserved budget.Verdict // whether a turn has a reservation, waits for one, or neither
	before   budget.Amount  // the usage at the time of the reservation
}

// turnUsage is the last usage report of a turn.
type turnUsage struct {
	turn string
	used agent.Used
}

// account returns the account of the session.
func (p *spending) account() budget.Account {
	return budget.Account{Session: p.id, Parents: p.core.Opened.Parents, Token: p.core.Opened.Token, Tenant: p.core.Opened.Tenant}
}

// Account returns the account of a session.
func (s *Sessions) Account(ctx context.Context, id string) (acc budget.Account, err error) {
	err = s.with(ctx, id, func(a *actor) error { acc = a.spending.account(); return nil })
	return acc, err
}

// CheckBudgets makes every session check its limits, because they have changed.
func (s *Sessions) CheckBudgets() { s.budgetsReached(nil) }

// countUsed counts the usage that the agent has reported, and acts if a limit is reached. It drafts
// notices. It counts each answer separately, so that the warning of a limit precedes the notice
// that the limit is reached, even if the loop is late.
func (p *spending) countUsed() {
	for _, u := range p.tally.take() {
		p.metered = true
		p.spend(u)
	}
}

func (p *spending) spend(u agent.Used) {
	row := p.srv.opts.Accounts.Used(p.account(), u)
	p.srv.opts.Metrics.Used(p.core.Provider, u, row.USD)
	p.sayUnpriced(row, u.Model)
	p.storeSpent(func(ctx context.Context) error { return p.srv.opts.Accounts.Add(ctx, row) })
}

// storeSpent writes to the ledger and then checks the limits.
func (p *spending) storeSpent(store func(ctx context.Context) error) {
	ctx, cancel := p.bounded()
	defer cancel()
	if err := store(ctx); err != nil {
		p.logger.Error("the ledger could not be stored; the next usage retries", "err", err)
	}
	p.noteDearest()
	if p.watchBudgets() {
		p.srv.budgetsReached(p)
	}
}

// sayUnpriced reports once that a limit in dollars does not include all usage.
func (p *spending) sayUnpriced(row budget.Row, model string) {
	if row.Unpriced == 0 || p.unpriced {
		return
	}
	for _, s := range p.srv.opts.Accounts.Check(p.account()) {
		if s.USD != nil {
			p.unpriced = true
			p.draft(draft{event: &event.Notice{Header: p.core.header(""), Severity: event.NoticeWarning, Code: noticeBudgetUnpriced,
				Text: fmt.Sprintf("The price of %s is not known: a budget in dollars counts it when the agent reports the cost of the turn.", model)}})
			return
		}
	}
}

// observe counts the figures in events: those of turns, if the agent reports no more, and the
// totals at their end. An agent that reports the usage of each answer does so before the event, so
// that no usage is counted twice.
func (p *spending) observe(ev event.Event) {
	p.countUsed()
	switch ev := ev.(type) {
	case *event.Usage:
		if p.metered || ev.CostUSD != nil || ev.ParentToolUseID != "" {
			return
		}
		now := turnUsage{ev.TurnID, agent.Used{Model: ev.Model, Tokens: agent.Tokens{Input: value(ev.InputTokens), Output: value(ev.OutputTokens),
			CacheRead: value(ev.CacheReadInputTokens), CacheWrite5m: value(ev.CacheCreationInputTokens)}}}
		if u := now.since(p.turn); u.Total() > 0 {
			p.spend(u)
		}
		p.turn = now
	case *event.ResultMessage:
		total, ok := reportedTotal(ev)
		if !ok {
			return
		}
		fresh := p.core.Opened.Params.ResumeSessionID == ""
		p.storeSpent(func(ctx context.Context) error {
			row, err := p.srv.opts.Accounts.Reported(ctx, p.account(), total, fresh)
			p.srv.opts.Metrics.Reconciled(p.core.Provider, row.USD)
			return err
		})
	}
}

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// since returns the usage after an earlier figure of the same turn.
func (t turnUsage) since(before turnUsage) agent.Used {
	u := t.used
	if t.turn == before.turn {
		u.Input, u.Output = max(u.Input-before.used.Input, 0), max(u.Output-before.used.Output, 0)
		u.CacheRead, u.CacheWrite5m = max(u.CacheRead-before.used.CacheRead, 0), max(u.CacheWrite5m-before.used.CacheWrite5m, 0)
	}
	return u
}

// reportedTotal returns the session's total usage according to the agent; false unless it reports
// both money and tokens.
func reportedTotal(ev *event.ResultMessage) (budget.Amount, bool) {
	var models map[string]struct {
		Input      int64 `json:"inputTokens"`
		Output     int64 `json:"outputTokens"`
		CacheRead  int64 `json:"cacheReadInputTokens"`
		CacheWrite int64 `json:"cacheCreationInputTokens"`
	}
	if ev.TotalCostUSD == nil || ev.ModelUsage == "" || ev.ModelUsage.Decode(&models) != nil || len(models) == 0 {
		return budget.Amount{}, false
	}
	total := budget.Amount{USD: *ev.TotalCostUSD}
	for _, m := range models {
		total.Tokens += m.Input + m.Output + m.CacheRead + m.CacheWrite
	}
	return total, true
}

// watchBudgets reports limits that are near or reached to viewers and stops turns beyond one. It
// reports whether a possibly shared limit was reached.
func (p *spending) watchBudgets() bool {
	var stop, shared bool
	for _, s := range p.srv.opts.Accounts.Check(p.account()) {
		stop = stop || s.Interrupts()
		shared = shared || s.Interrupts() && s.Target != p.id
		p.tellBudget(s)
	}
	if stop {
		p.stopSpending()
	}
	return shared
}

// tellBudget reports a new level of a limit to viewers, once per level.
func (p *spending) tellBudget(s budget.Standing) {
	if s.Level <= p.told[s.Key()] {
		return
	}
	if p.told == nil {
		p.told = map[string]budget.Level{}
	}
	p.told[s.Key()] = s.Level
	s = s.For(p.account().Tenant)
	n := &event.Notice{Header: p.core.header(""), Severity: event.NoticeWarning, Code: noticeBudgetNear, Text: s.String() + " " + s.Consequence(), Data: event.Encoded(BudgetOf(s))}
	if s.Level == budget.Reached {
		n.Severity, n.Code = event.NoticeError, noticeBudgetReached
		n.Text = s.String() + " " + strings.NewReplacer("At the limit running", "Running").Replace(s.Consequence())
	}
	p.draft(draft{event: n})
}

// stopSpending interrupts the turn, or ends an agent with background tasks. Then the queue waits
// for a person.
func (p *spending) stopSpending() {
	p.draft(p.core.hold()...)
	switch {
	case p.agent == nil || p.agent.reason != "" || p.interrupting:
	case !p.core.State.busy():
		if p.tasksRun() {
			p.stop(onEvict)
		}
	default:
		p.interrupting = true
		p.interrupt(func(session agent.Session, err error) {
			p.interrupting = false
			if err != nil && p.agent != nil && p.agent.session == session {
				p.logger.Warn("a turn beyond its budget was not interrupted; ending its agent", "err", err)
				p.stop(onDied)
			}
		})
	}
}

// overBudget returns the reason why no turn may start, or nil.
func (p *spending) overBudget() error {
	for _, s := range p.srv.opts.Accounts.Check(p.account()) {
		if s.Stops() {
			return Fail(api.BudgetExceeded, "%s", s.For(p.account().Tenant).String())
		}
	}
	return nil
}

// noReservation is the state of a session without a turn.
const noReservation = budget.Refuse

// reserve reserves the possible cost of the next turn. It reports a wait to viewers once.
func (p *spending) reserve() budget.Verdict {
	if p.reserved == budget.Begin {
		return budget.Begin
	}
	v := p.srv.opts.Accounts.Reserve(p.account(), p.core.Dearest)
	if v == budget.Begin {
		p.before = p.srv.opts.Accounts.Spent(p.id)
	}
	if v == budget.Wait && p.reserved != budget.Wait {
		p.draft(draft{event: &event.Notice{Header: p.core.header(""), Severity: event.NoticeInfo, Code: noticeBudgetWaits,
			Text: "The prompt waits: turns that run now may use the rest of the budget. It is sent when one of them ends."}})
		_ = p.write() // kept and retried by tick
	}
	p.reserved = v
	return v
}

// release ends the reservation of an ended turn, or the wait for one.
func (p *spending) release() {
	if p.reserved == noReservation {
		return
	}
	p.noteDearest()
	p.reserved = noReservation
	p.srv.wake(p.srv.opts.Accounts.Release(p.id))
}

// inherit takes over the reservation of an earlier owner of the session if its turn still runs, and
// releases it otherwise.
func (p *spending) inherit() {
	if p.core.State.busy() {
		p.reserve()
		return
	}
	p.srv.wake(p.srv.opts.Accounts.Release(p.id))
}

// noteDearest records the usage of the turn if it is the highest so far. The next record stores it, so that the session reserves as
// much after a restart.
func (p *spending) noteDearest() {
	if p.reserved != budget.Begin {
		return
	}
	spent := p.srv.opts.Accounts.Spent(p.id)
	dearest := budget.Amount{USD: max(p.core.Dearest.USD, spent.USD-p.before.USD), Tokens: max(p.core.Dearest.Tokens, spent.Tokens-p.before.Tokens)}
	if dearest != p.core.Dearest {
		p.core.Dearest, p.carrying().Dearest = dearest, &dearest
	}
}

// wake continues sessions that waited for the budget.
func (s *Sessions) wake(ids []string) {
	if len(ids) == 0 {
		return
	}
	for _, a := range s.loaded() {
		if slices.Contains(ids, a.id) {
			s.wg.Go(func() { a.post(a.sendNext) })
		}
	}
}

// WakeWaiting makes the sessions that wait for a budget try again.
func (s *Sessions) WakeWaiting() {
	s.eachActor(func(a *actor) {
		if a.spending.reserved == budget.Wait {
			a.sendNext()
		}
	})
}

// budgetsReached makes other sessions check their limits, because one may be shared.
func (s *Sessions) budgetsReached(by *spending) {
	s.eachActor(func(a *actor) {
		if a.spending != by {
			a.spending.watchBudgets()
			_ = a.write() // kept and retried by tick
			if a.spending.reserved == budget.Wait {
				a.sendNext() // another limit may apply now
			}
		}
	})
}

// eachActor runs f in the loop of each loaded session. It does not wait.
func (s *Sessions) eachActor(f func(a *actor)) {
	for _, a := range s.loaded() {
		s.wg.Go(func() { a.post(func() { f(a) }) })
	}
}

// minAgentBudget is the minimum budget of an agent; some treat 0 as no limit.
const minAgentBudget = 1e-6

// agentBudget returns the limit in dollars for the agent, so that it stops even if it does not
// report the usage of its subagents; and the limits from which it is derived.
func (p *spending) agentBudget(own *float64) (*float64, string) {
	var handed strings.Builder
	spent := p.srv.opts.Accounts.Spent(p.id).USD
	for _, s := range p.srv.opts.Accounts.Check(p.account()) {
		left, ok := s.Left()
		if !ok || s.Action != budget.ActionInterrupt || p.core.Opened.Params.ResumeSessionID != "" {
			continue
		}
		fmt.Fprintf(&handed, "%s=%v ", s.Key(), *s.USD)
		if most := max(spent+left, minAgentBudget); own == nil || most < *own {
			own = &most
		}
	}
	return own, handed.String()
}

// budgetChanged reports whether the agent was started with outdated limits, so that it must be
// restarted before it works.
func (p *spending) budgetChanged() bool {
	_, now := p.agentBudget(nil)
	return p.handed != now
}

// resetTime formats the time of a limit for clients.
func resetTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return Timestamp(t)
}

// BudgetOf converts a standing for clients.
func BudgetOf(s budget.Standing) api.Budget {
	b := api.Budget{ID: s.Limit.ID, Scope: s.Scope, Target: s.Limit.Target, Period: s.Period, LimitUSD: s.USD, LimitTokens: s.Tokens,
		SpentTokens: s.Spent.Tokens, ResetsAt: resetTime(s.Resets), Action: s.Action, Level: []string{"ok", "warning", "exceeded"}[s.Level]}
	if s.Target != s.Limit.Target {
		b.Of = s.Target
	}
	if !s.Hidden && (s.Spent.Unpriced < s.Spent.Tokens || s.Spent.Tokens == 0) {
		b.SpentUSD = &s.Spent.USD
	}
	return b
}
