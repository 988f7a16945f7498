package server

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/budget"
	"github.com/seed7221b0f9/parley/server/session"
)

// noticed waits for a notice with this code.
func (w *watcher) noticed(code string) {
	w.t.Helper()
	w.until("the notice "+code, func(c *event.Conversation) bool {
		return slices.ContainsFunc(c.Notices, func(n event.NoticeRow) bool { return n.Notice.Code == code })
	})
}

func (h *harness) setBudget(b api.Budget) api.Budget {
	h.Helper()
	var r api.BudgetSetResult
	h.call("budget.set", api.BudgetSetParams{Budget: b}, &r)
	return r.Budget
}

// TestBudget_stopsTurn checks that a turn is interrupted when the limit is reached, that no turn
// starts after it, also after a restart, and that a higher limit allows turns again.
func TestBudget_stopsTurn(t *testing.T) {
	h := newHarness(t)
	b := h.setBudget(api.Budget{Scope: budget.ScopeSession, LimitTokens: new(int64(30))})
	id := h.connect()
	w := h.watch(id)
	h.query(id, "say one") // half of it
	w.results(1)
	h.query(id, "wait") // the other half
	w.noticed("budget_exceeded")
	w.results(2)
	h.refused(api.BudgetExceeded, "session.query", api.QueryParams{SessionID: id, Text: "say again"})
	h.restart()
	h.refused(api.BudgetExceeded, "session.query", api.QueryParams{SessionID: id, Text: "say again"})
	var list api.BudgetListResult
	h.call("budget.list", api.BudgetListParams{SessionID: id}, &list)
	if len(list.Budgets) != 1 || list.Budgets[0].SpentTokens != 30 || list.Budgets[0].Level != "exceeded" {
		t.Errorf("after a restart the budgets are %+v", list.Budgets)
	}
	b.LimitTokens = new(int64(1000))
	h.setBudget(b)
	h.query(id, "say free")
	h.watch(id).awaitAnswer("free")
	h.call("budget.remove", api.BudgetRef{ID: b.ID}, nil)
	h.refused(api.Conflict, "budget.remove", api.BudgetRef{ID: b.ID})
}

// TestBudget_lowered checks that a new limit applies to running turns, and that queued inputs are
// held for a person.
func TestBudget_lowered(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	w := h.watch(id)
	h.query(id, "wait")
	w.awaitAnswer("I wait.")
	h.query(id, "say more")
	b := h.setBudget(api.Budget{Scope: budget.ScopeToken, Target: "owner", LimitTokens: new(int64(15))})
	w.results(1)
	w.until("the queue is held", func(c *event.Conversation) bool { return len(c.Queue) == 1 && c.Queue[0].Status == "held" })
	h.refused(api.BudgetExceeded, "queue.sendNow", api.QueueItemParams{SessionID: id, ID: h.history(id).Queue[0].ID})
	h.call("budget.remove", api.BudgetRef{ID: b.ID}, nil)
	h.call("queue.release", api.SessionRef{SessionID: id}, nil)
	w.awaitAnswer("more")
}

// TestBudget_shared checks that a limit of a tenant stops all of its sessions and no others, after
// a warning.
func TestBudget_shared(t *testing.T) {
	h := newHarness(t, func(o *Options) { o.TurnReserve.Tokens = 1 }) // so that turns run concurrently
	h.setBudget(api.Budget{Scope: budget.ScopeTenant, Target: "acme", Period: budget.PeriodDay, LimitTokens: new(int64(45))})
	var tk api.TokensCreateResult
	h.call("tokens.create", api.TokensCreateParams{Role: "operator", Tenant: "acme"}, &tk)
	c := h.client(tk.Token)
	var sessions []string
	var watchers []*watcher
	for range 3 {
		var r api.ConnectResult
		if err := c.Call(h.ctx(), "session.connect", api.ConnectParams{}, &r); err != nil {
			t.Fatal(err)
		}
		sessions, watchers = append(sessions, r.SessionID), append(watchers, h.watch(r.SessionID))
	}
	other := h.connect()
	h.query(sessions[0], "wait")
	watchers[0].awaitAnswer("I wait.")
	h.query(sessions[1], "wait")
	watchers[1].awaitAnswer("I wait.")
	h.query(sessions[2], "say three")
	for _, w := range watchers {
		w.noticed("budget_exceeded")
		w.results(1)
	}
	err := c.Call(h.ctx(), "session.query", api.QueryParams{SessionID: sessions[0], Text: "say again"}, nil)
	if client.Reason(err) != api.BudgetExceeded || !strings.Contains(err.Error(), "anew on") {
		t.Errorf("after the limit: %v", err)
	}
	h.query(other, "say free")
	h.watch(other).awaitAnswer("free")
	if err := c.Call(h.ctx(), "budget.set", api.BudgetSetParams{Budget: api.Budget{Scope: "server", LimitTokens: new(int64(1))}}, nil); client.Reason(err) != api.AuthFailed {
		t.Errorf("an operator sets a budget: %v", err)
	}
	h.refused(api.InvalidParams, "budget.set", api.BudgetSetParams{Budget: api.Budget{Scope: "server"}})
}

// TestBudget_warns checks that a warning reports the usage in dollars, that a limit with the action
// notify stops no turn, and that clients cannot change settings.
func TestBudget_warns(t *testing.T) {
	limit, err := budget.ParseLimit("scope=session usd=1 action=notify")
	if err != nil {
		t.Fatal(err)
	}
	h := newHarness(t, func(o *Options) {
		o.Price = func(u agent.Used) (float64, bool) { return 0.9, true }
		o.Budgets = []budget.Limit{limit}
	})
	id := h.connect()
	w := h.watch(id)
	h.query(id, "say one")
	w.noticed("budget_warning")
	w.results(1)
	h.query(id, "say two")
	w.noticed("budget_exceeded")
	w.results(2)
	h.query(id, "say three")
	w.awaitAnswer("three")
	h.refused(api.Conflict, "budget.remove", api.BudgetRef{ID: limit.ID})
}

// TestBudget_unpriced checks that a limit in dollars reports unpriced usage.
func TestBudget_unpriced(t *testing.T) {
	h := newHarness(t)
	h.setBudget(api.Budget{Scope: budget.ScopeServer, LimitUSD: new(1.0)})
	id := h.connect()
	w := h.watch(id)
	h.query(id, "say one")
	w.noticed("budget_unpriced")
}

// meteredProvider is a provider with agents that report the usage of each answer, and repeat it in
// an event before the end of the turn.
type meteredProvider struct{ agent.Provider }

func (p *meteredProvider) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	s, err := p.Provider.Open(ctx, opts)
	return &meteredSession{s}, err
}

type meteredSession struct{ agent.Session }

func (s *meteredSession) Events(ctx context.Context) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for ev, err := range s.Session.Events(ctx) {
			if _, ok := ev.(*event.ResultMessage); ok && !yield(&event.Usage{TurnID: "turn", InputTokens: new(int64(10)), OutputTokens: new(int64(5))}, nil) {
				return
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

// TestBudget_metered checks that an agent's usage reports are counted, and not its events too.
// Their order is checked by TestSpending_once of package session.
func TestBudget_metered(t *testing.T) {
	h := newHarness(t)
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	h.opts.Providers = []agent.Provider{&meteredProvider{h.provider}}
	h.start()
	h.setBudget(api.Budget{Scope: budget.ScopeServer, LimitTokens: new(int64(1000))})
	id := h.connect()
	w := h.watch(id)
	h.query(id, "say one")
	w.results(1)
	var list api.BudgetListResult
	h.call("budget.list", api.BudgetListParams{}, &list)
	if len(list.Budgets) != 1 || list.Budgets[0].SpentTokens != 15 {
		t.Errorf("after an answer of 15 tokens the budgets are %+v", list.Budgets)
	}
}

// limitedProvider is a provider with a first turn that fails at a rate limit.
type limitedProvider struct {
	agent.Provider
	info string
	once sync.Once
}

func (p *limitedProvider) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	s, err := p.Provider.Open(ctx, opts)
	if err != nil {
		return nil, err
	}
	return &limitedSession{s, p}, nil
}

type limitedSession struct {
	agent.Session
	p *limitedProvider
}

func (s *limitedSession) Events(ctx context.Context) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for ev, err := range s.Session.Events(ctx) {
			more := true
			if r, ok := ev.(*event.ResultMessage); ok {
				s.p.once.Do(func() {
					r.IsError, r.Subtype = true, "error_during_execution"
					more = yield(&event.RateLimit{Info: event.NewJSON(s.p.info)}, nil)
				})
			}
			if !more || !yield(ev, err) {
				return
			}
		}
	}
}

// TestRateLimit_waits checks that a session continues when the limit is reset, if requested, and
// not before.
func TestRateLimit_waits(t *testing.T) {
	var mu sync.Mutex
	now := time.Unix(1_900_000_000, 0)
	h := newHarness(t, func(o *Options) {
		o.now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return now
		}
	})
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	h.opts.Providers = []agent.Provider{&limitedProvider{Provider: h.provider, info: `{"status":"rejected","resetsAt":1900003600,"rateLimitType":"five_hour"}`}}
	h.start()
	var r api.ConnectResult
	h.call("session.connect", api.ConnectParams{WaitForRateLimit: true}, &r)
	w := h.watch(r.SessionID)
	h.query(r.SessionID, "say one")
	w.noticed("rate_limited")
	w.until("the queue", func(c *event.Conversation) bool { return len(c.Queue) == 1 && c.State == string(session.Idle) })
	var list api.ListResult
	h.call("session.list", api.ListParams{}, &list)
	if len(list.Sessions) != 1 || list.Sessions[0].LimitedUntil != "2030-03-17T18:46:40Z" {
		t.Errorf("the sessions are %+v", list.Sessions)
	}
	h.query(r.SessionID, "say later")
	if n := h.history(r.SessionID).Totals.Turns; n != 1 {
		t.Errorf("%d turns have ended before the reset", n)
	}
	mu.Lock()
	now = now.Add(2 * time.Hour)
	mu.Unlock()
	w.results(3)
	if got := text(h.history(r.SessionID)); !strings.Contains(got, "Continue from where you left off."+"later") {
		t.Errorf("the answers are %q", got)
	}
}

// TestBudget_reserved checks that a prompt waits, with a notice, while a turn of another session may
// use the rest of a shared budget, and that it is sent when that turn ends in any way, or the budget is raised or removed.
func TestBudget_reserved(t *testing.T) {
	for _, end := range []string{"session.interrupt", "session.disconnect", "killed", "budget.set", "budget.remove"} {
		t.Run(end, func(t *testing.T) {
			h := newHarness(t)
			b := h.setBudget(api.Budget{Scope: budget.ScopeServer, LimitTokens: new(int64(1000)), Action: budget.ActionRefuse})
			first, second := h.connect(), h.connect()
			h.query(first, "wait")
			h.watch(first).awaitAnswer("I wait.")
			w := h.watch(second)
			h.query(second, "say second")
			w.noticed("budget_waiting")
			if q := h.queue(second); len(q) != 1 || q[0].Status != "" {
				t.Errorf("the queue is %+v", q)
			}
			switch end {
			case "killed":
				h.provider.Session(h.info(first).AgentID).Kill()
			case "budget.set":
				b.LimitTokens = new(int64(1 << 40))
				h.setBudget(b)
			case "budget.remove":
				h.call(end, api.BudgetRef{ID: b.ID}, nil)
			default:
				h.call(end, api.SessionRef{SessionID: first}, nil)
			}
			w.awaitAnswer("second")
			if strings.HasPrefix(end, "budget.") { // the other turn still runs
				h.call("session.interrupt", api.SessionRef{SessionID: first}, nil)
				h.watch(first).results(1)
			}
		})
	}
}
