package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/budget"
)

// limits are accounts with fixed states that record the reports.
type limits struct {
	free
	mu       sync.Mutex
	checks   []budget.Standing
	verdict  budget.Verdict
	reported []string
}

func (l *limits) Check(budget.Account) []budget.Standing {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.checks)
}

func (l *limits) set(all ...budget.Standing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.checks = all
}

func (l *limits) Reserve(budget.Account, budget.Amount) budget.Verdict { return l.verdict }

func (l *limits) Reported(_ context.Context, _ budget.Account, total budget.Amount, fresh bool) (budget.Row, error) {
	l.reported = append(l.reported, fmt.Sprintf("%g %d %v", total.USD, total.Tokens, fresh))
	return budget.Row{}, nil
}

// TestSpending_reported checks which reported totals are counted: those with money and tokens. It
// also checks whether they started with this session.
func TestSpending_reported(t *testing.T) {
	cost := 1.5
	usage := event.JSON(`{"m":{"inputTokens":1,"outputTokens":2,"cacheReadInputTokens":4,"cacheCreationInputTokens":8},"n":{"inputTokens":16}}`)
	for name, tt := range map[string]struct {
		result *event.ResultMessage
		resume string
		want   string
	}{
		"all":          {&event.ResultMessage{TotalCostUSD: &cost, ModelUsage: usage}, "", "1.5 31 true"},
		"resumed":      {&event.ResultMessage{TotalCostUSD: &cost, ModelUsage: usage}, "past", "1.5 31 false"},
		"no cost":      {&event.ResultMessage{ModelUsage: usage}, "", ""},
		"no usage":     {&event.ResultMessage{TotalCostUSD: &cost}, "", ""},
		"no models":    {&event.ResultMessage{TotalCostUSD: &cost, ModelUsage: `{}`}, "", ""},
		"not readable": {&event.ResultMessage{TotalCostUSD: &cost, ModelUsage: `[]`}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := memSessions(t)
			accounts := &limits{}
			s.opts.Accounts = accounts
			a := s.newActor(Prefix+"total", "e")
			defer a.cancel()
			a.core.Opened.Params.ResumeSessionID = tt.resume
			a.spending.observe(tt.result)
			if got := strings.Join(accounts.reported, "; "); got != tt.want {
				t.Errorf("the totals are %q, want %q", got, tt.want)
			}
		})
	}
}

// notices returns the codes of the drafted notices.
func notices(a *actor) string {
	var all []string
	for _, p := range a.batch {
		if n, ok := p.ev.(*event.Notice); ok {
			all = append(all, n.Code+" "+string(n.Severity))
		}
	}
	return strings.Join(all, "; ")
}

// TestSpending_tells checks that each limit is reported once per level, and an unknown price once, if a limit is in dollars.
func TestSpending_tells(t *testing.T) {
	s, _ := memSessions(t)
	accounts := &limits{}
	s.opts.Accounts = accounts
	a := s.newActor(Prefix+"tells", "e")
	defer a.cancel()
	one, other := budget.Limit{ID: "one"}, budget.Limit{ID: "other"}
	for _, st := range []budget.Standing{
		{Limit: one}, {Limit: one, Level: budget.Near}, {Limit: one, Level: budget.Near}, {Limit: other, Level: budget.Near}, {Limit: one, Level: budget.Reached}, {Limit: one, Level: budget.Reached}, {Limit: one, Level: budget.Near},
	} {
		a.spending.tellBudget(st)
	}
	near, reached := noticeBudgetNear+" "+string(event.NoticeWarning), noticeBudgetReached+" "+string(event.NoticeError)
	if got, want := notices(a), strings.Join([]string{near, near, reached}, "; "); got != want {
		t.Errorf("the notices are %s, want %s", got, want)
	}
	a.batch = nil
	usd := 1.0
	for _, step := range []struct {
		unpriced int64
		limits   []budget.Standing
		want     int
	}{
		{0, []budget.Standing{{Limit: budget.Limit{USD: &usd}}}, 0}, {1, nil, 0}, {1, []budget.Standing{{Limit: one}}, 0},
		{1, []budget.Standing{{Limit: one}, {Limit: budget.Limit{USD: &usd}}, {Limit: budget.Limit{USD: &usd}}}, 1}, {1, []budget.Standing{{Limit: budget.Limit{USD: &usd}}}, 1},
	} {
		accounts.set(step.limits...)
		a.spending.sayUnpriced(budget.Row{Amount: budget.Amount{Unpriced: step.unpriced}}, "m")
		if got := strings.Count(notices(a), noticeBudgetUnpriced); got != step.want {
			t.Errorf("after %d unpriced tokens with %d limits there are %d notices, want %d", step.unpriced, len(step.limits), got, step.want)
		}
	}
}

// TestSpending_shared checks that reaching a limit of several sessions stops all of them, and reaching a session's own limit stops only that one.
func TestSpending_shared(t *testing.T) {
	for _, shared := range []bool{true, false} {
		s, _ := memSessions(t)
		accounts := &limits{}
		s.opts.Accounts = accounts
		ids := []string{Prefix + "first", Prefix + "second"}
		for _, id := range ids {
			if err := s.Create(t.Context(), id, Opened{}); err != nil {
				t.Fatal(err)
			}
			if err := s.with(t.Context(), id, func(*actor) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		target := ids[0]
		if shared {
			target = "all"
		}
		accounts.set(budget.Standing{Limit: budget.Limit{ID: "l", Action: budget.ActionInterrupt}, Target: target, Level: budget.Reached})
		if err := s.with(t.Context(), ids[0], func(a *actor) error {
			a.spending.storeSpent(func(context.Context) error { return nil })
			return a.write()
		}); err != nil {
			t.Fatal(err)
		}
		told := func(id string) (n int) {
			if err := s.with(t.Context(), id, func(a *actor) error {
				n = len(a.conv.Notices)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			return n
		}
		if n := told(ids[0]); n != 1 {
			t.Errorf("the session that reached the limit has %d notices, want 1", n)
		}
		if shared {
			c := &stage{T: t, log: &brokenLog{memLog: &memLog{}}, lines: &lockedBuffer{}}
			c.await("the other session is told", func() bool { return told(ids[1]) == 1 })
		} else if n := told(ids[1]); n != 0 {
			t.Errorf("another session has %d notices of a limit that it does not have, want none", n)
		}
	}
}

// TestSpending_waiting checks that a session that waits for a budget is checked again when another limit is reached: its prompt is held if that
// limit refuses the turn.
func TestSpending_waiting(t *testing.T) {
	c := newStage(t, Opened{})
	c.connect()
	accounts := &limits{verdict: budget.Wait}
	c.inLoop(func(a *actor) { a.srv.opts.Accounts = accounts })
	if _, err := c.Query(t.Context(), c.id, "", `"later"`, "", "by"); err != nil {
		t.Fatal(err)
	}
	held := func() (held bool) {
		c.inLoop(func(a *actor) { held = a.core.holding() })
		return held
	}
	if held() {
		t.Error("the prompt is held, want that it waits for the budget")
	}
	c.inLoop(func(*actor) { accounts.verdict = budget.Refuse })
	c.CheckBudgets()
	c.await("the prompt is held", held)
}

// TestSend_refused checks that a prompt beyond a budget is held and stays held.
func TestSend_refused(t *testing.T) {
	c := newStage(t, Opened{})
	c.connect()
	c.opts.Accounts = &limits{verdict: budget.Refuse}
	r, err := c.Query(t.Context(), c.id, "", `"x"`, "", "by")
	if err != nil {
		t.Fatal(err)
	}
	c.await("the prompt is held", func() bool { return c.queueIs(r.TurnID, inputHeld) })
	c.await("the log has it", func() bool { return c.has(`"status":"held"`) })
	if c.puppets.agent().got("Send") {
		t.Error("the agent got the prompt, want it held")
	}
}

// TestTitle_none checks that a prompt without printable text gives a session no title.
func TestTitle_none(t *testing.T) {
	s, _ := memSessions(t)
	a := s.newActor(Prefix+"title", "e")
	defer a.cancel()
	a.titles.setTitle(promptTitle("\x00 \n"), "prompt")
	if len(a.batch) != 0 {
		t.Errorf("%d records, want none", len(a.batch))
	}
	if a.titles.setTitle("words", "prompt"); len(a.batch) != 1 || a.core.Title != "words" || a.core.TitleBy != "prompt" {
		t.Errorf("%d records, the title %q by %q, want that of the prompt", len(a.batch), a.core.Title, a.core.TitleBy)
	}
}

// TestCatchUp_fails checks that no event of a history is written if the history cannot be read to
// its end.
func TestCatchUp_fails(t *testing.T) {
	c := newStage(t, Opened{Params: api.ConnectParams{ResumeSessionID: "past"}})
	c.puppets.history = []event.Event{&event.UserMessage{Header: event.Header{UUID: "u"}, IsPrompt: true, IsText: true, Blocks: []event.Content{event.TextContent("half")}}}
	var a *actor
	if err := c.with(t.Context(), c.id, func(is *actor) error { is.core.AgentID, a = "past", is; return nil }); err != nil {
		t.Fatal(err)
	}
	for _, call := range []string{"Load", "Page"} {
		c.puppets.calls.setFail(call)
		n, _ := c.records(0)
		if err := a.terminal.catchUp(t.Context()); err == nil {
			t.Errorf("with %s failing the error is %v, want %v", call, err, errPuppet)
		}
		if m, records := c.records(n); m != n {
			t.Errorf("with %s failing the log got\n%s\nwant nothing", call, records)
		}
	}
	c.puppets.calls.setFail("")
	if err := a.terminal.catchUp(t.Context()); err != nil || !c.has("half") {
		t.Errorf("afterwards the error is %v, want the history in the log", err)
	}
}

// TestSpending_tenant checks that a session of a tenant does not show the usage of the whole server, and one of the owner does.
func TestSpending_tenant(t *testing.T) {
	for tenant, shown := range map[string]bool{"": true, "acme": false} {
		s, _ := memSessions(t)
		accounts := &limits{}
		s.opts.Accounts = accounts
		a := s.newActor(Prefix+"tenant", "e")
		defer a.cancel()
		a.core.Opened.Tenant = tenant
		most := int64(9999)
		st := budget.Standing{Limit: budget.Limit{ID: "l", Scope: budget.ScopeServer, Tokens: &most, Action: budget.ActionInterrupt}, Spent: budget.Amount{Tokens: 7777}, Level: budget.Reached}
		accounts.set(st)
		a.spending.tellBudget(st)
		notice := a.batch[len(a.batch)-1].ev.(*event.Notice)
		for what, text := range map[string]string{"text of the notice": notice.Text, "data of the notice": string(notice.Data), "refusal": fmt.Sprint(a.spending.overBudget())} {
			if strings.Contains(text, "7777") != shown {
				t.Errorf("tenant %q: the %s is %s; want the usage of the server in it: %v", tenant, what, text, shown)
			}
		}
	}
}
