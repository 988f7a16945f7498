package session

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/budget"
)

// counted has no limits and records the tokens.
type counted struct {
	free
	tokens []int64
}

func (c *counted) Used(acc budget.Account, u agent.Used) budget.Row {
	c.tokens = append(c.tokens, u.Total())
	return budget.Row{Account: acc}
}

// TestSpending_once checks that every token is counted once. If an agent reports each answer, its
// turns are not counted; if it reports only turns, each report counts as the difference from the
// one before. An answer that is reported before an event counts before it, even if the loop is
// late.
func TestSpending_once(t *testing.T) {
	type step func(p *spending)
	told := func(n int64) step {
		return func(p *spending) { p.tally.add(agent.Used{Tokens: agent.Tokens{Input: n}}) }
	}
	taken := func(p *spending) { p.countUsed() }
	usage := func(turn string, input, output, read, write int64) step {
		return func(p *spending) {
			p.countUsed() // as in the loop before each event
			p.observe(&event.Usage{TurnID: turn, InputTokens: &input, OutputTokens: &output, CacheReadInputTokens: &read, CacheCreationInputTokens: &write})
		}
	}
	ofSubagent := func(p *spending) {
		p.observe(&event.Usage{Header: event.Header{ParentToolUseID: "task"}, TurnID: "t1", InputTokens: new(int64(1000))})
	}
	ofSession := func(p *spending) {
		p.observe(&event.Usage{TurnID: "t1", CostUSD: new(1.0), InputTokens: new(int64(1000))})
	}
	result := func(p *spending) { p.observe(&event.ResultMessage{}) }
	for name, c := range map[string]struct {
		steps []step
		want  []int64
	}{
		"told before the event":        {[]step{told(16), usage("t1", 10, 5, 0, 0)}, []int64{16}},
		"told and taken":               {[]step{told(16), taken, usage("t1", 10, 5, 0, 0)}, []int64{16}},
		"each answer on its own":       {[]step{told(15), told(7), taken}, []int64{15, 7}},
		"told before the result":       {[]step{told(15), result}, []int64{15}},
		"only events":                  {[]step{usage("t1", 1, 2, 3, 4)}, []int64{10}},
		"more of the turn":             {[]step{usage("t1", 1, 2, 3, 4), usage("t1", 2, 4, 6, 8)}, []int64{10, 10}},
		"the same again":               {[]step{usage("t1", 1, 2, 3, 4), usage("t1", 1, 2, 3, 4)}, []int64{10}},
		"the next turn":                {[]step{usage("t1", 1, 2, 3, 4), usage("t2", 1, 2, 3, 4)}, []int64{10, 10}},
		"a subagent, part of a turn":   {[]step{usage("t1", 1, 2, 3, 4), ofSubagent}, []int64{10}},
		"the total of a whole session": {[]step{ofSession}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := memSessions(t)
			accounts := &counted{}
			s.opts.Accounts = accounts
			a := s.newActor(Prefix+"spend", "e")
			defer a.cancel()
			for _, step := range append(c.steps, taken) { // the loop takes the remaining reports
				step(a.spending)
			}
			if !slices.Equal(accounts.tokens, c.want) {
				t.Errorf("counted %v, want %v", accounts.tokens, c.want)
			}
		})
	}
}

// interrupted is an agent that counts interrupts.
type interrupted struct {
	agent.Session
	n    int
	fail error
}

func (s *interrupted) Interrupt(context.Context) (agent.Interrupted, error) {
	s.n++
	return agent.Interrupted{}, s.fail
}

// TestSpending_stops checks the effect of an exceeded budget on the agent in each state: a running
// turn is interrupted, once at a time and as often as necessary; a turn that cannot be interrupted
// is ended, and so is an agent with background tasks.
func TestSpending_stops(t *testing.T) {
	for name, c := range map[string]struct {
		state      State
		background bool
		ending     occurrence
		fail       error
		times      int // number of times that the limit is found reached, before the agent's response and after it
		interrupts int
		ended      occurrence
	}{
		"a turn":                         {state: Running, times: 1, interrupts: 1},
		"a turn that asks":               {state: RequiresAction, times: 1, interrupts: 1},
		"seen often":                     {state: Running, times: 3, interrupts: 1},
		"it cannot be interrupted":       {state: Running, fail: errors.New("no"), times: 1, interrupts: 1, ended: onDied},
		"it is being ended":              {state: Running, ending: onEnd, times: 1, ended: onEnd},
		"no turn":                        {state: Idle, times: 1},
		"work in the background":         {state: Idle, background: true, times: 1, ended: onEvict},
		"a turn, with work besides":      {state: Running, background: true, times: 1, interrupts: 1},
		"background, and it ends anyway": {state: Idle, background: true, ending: onEnd, times: 1, ended: onEnd},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := memSessions(t)
			a := s.newActor(Prefix+"stops", "e")
			defer a.cancel()
			session := &interrupted{fail: c.fail}
			for round := range 2 { // each round is a turn
				a.agent = &running{session: session, close: func() error { return nil }, ended: make(chan struct{}), reason: c.ending}
				a.core.State, a.core.Inputs = c.state, []input{{ID: "q", Content: mustJSON("x"), Status: inputQueued}}
				if c.background {
					a.conv.Apply(&event.TaskStarted{TaskID: "t"})
				}
				for range c.times {
					a.spending.stopSpending()
				}
				if c.interrupts > 0 {
					select {
					case answered := <-a.cmds:
						answered()
					case <-time.After(10 * time.Second):
						t.Fatalf("turn %d is not interrupted", round)
					}
				}
				if want := (round + 1) * c.interrupts; session.n != want || a.agent.reason != c.ended {
					t.Errorf("turn %d: %d interrupts, ended by %q, want %d, %q", round, session.n, a.agent.reason, want, c.ended)
				}
				if in, _ := a.core.input("q"); in.Status != inputHeld {
					t.Errorf("turn %d: what waits is %s, want it to be held", round, in.Status)
				}
			}
			s.wg.Wait()
		})
	}
	s, _ := memSessions(t)
	a := s.newActor(Prefix+"stops", "e")
	defer a.cancel()
	a.core.State = Running
	a.spending.stopSpending() // no agent
}

// TestSpending_fields checks that each figure of a turn is counted as the right kind.
func TestSpending_fields(t *testing.T) {
	s, _ := memSessions(t)
	accounts := &kinds{}
	s.opts.Accounts = accounts
	a := s.newActor(Prefix+"fields", "e")
	defer a.cancel()
	usage := func(n int64) *event.Usage {
		return &event.Usage{TurnID: "t", Model: "m", InputTokens: new(n), OutputTokens: new(10 * n), CacheReadInputTokens: new(100 * n), CacheCreationInputTokens: new(1000 * n)}
	}
	for _, n := range []int64{1, 3} {
		a.spending.observe(usage(n))
	}
	want := []agent.Used{
		{Model: "m", Tokens: agent.Tokens{Input: 1, Output: 10, CacheRead: 100, CacheWrite5m: 1000}},
		{Model: "m", Tokens: agent.Tokens{Input: 2, Output: 20, CacheRead: 200, CacheWrite5m: 2000}},
	}
	if !slices.Equal(accounts.used, want) {
		t.Errorf("counted %+v\nwant    %+v", accounts.used, want)
	}
	total, ok := reportedTotal(&event.ResultMessage{TotalCostUSD: new(2.5), ModelUsage: `{"a":{"inputTokens":1,"outputTokens":10,"cacheReadInputTokens":100,"cacheCreationInputTokens":1000},"b":{"inputTokens":20000}}`})
	if want := (budget.Amount{USD: 2.5, Tokens: 21111}); !ok || total != want {
		t.Errorf("the total of a session is %+v, %v, want %+v", total, ok, want)
	}
}

// kinds records its rows.
type kinds struct {
	free
	used []agent.Used
}

func (k *kinds) Used(acc budget.Account, u agent.Used) budget.Row {
	k.used = append(k.used, u)
	return budget.Row{Account: acc}
}

// reservations counts reservations and releases.
type reservations struct {
	free
	verdict            budget.Verdict
	reserved, released int
}

func (r *reservations) Reserve(budget.Account, budget.Amount) budget.Verdict {
	r.reserved++
	return r.verdict
}

func (r *reservations) Release(string) []string {
	r.released++
	return nil
}

// TestSpending_reserves checks that each turn reserves a part of its budget once and releases it once,
// and that a wait is reported once and ended.
func TestSpending_reserves(t *testing.T) {
	for verdict, notices := range map[budget.Verdict]uint64{budget.Begin: 0, budget.Wait: 1} {
		s, _ := memSessions(t)
		accounts := &reservations{verdict: verdict}
		s.opts.Accounts = accounts
		a := s.newActor(Prefix+"reserves", "e")
		for turn := 1; turn <= 2; turn++ {
			before := a.seq
			for range 3 {
				if got := a.spending.reserve(); got != verdict {
					t.Errorf("turn %d: the verdict is %d, want %d", turn, got, verdict)
				}
			}
			for range 3 {
				a.spending.release()
			}
			asked := turn // the turn keeps its reservation
			if verdict == budget.Wait {
				asked = 3 * turn
			}
			if accounts.reserved != asked || accounts.released != turn || a.seq-before != notices {
				t.Errorf("verdict %d, turn %d: asked %d times, released %d times, told %d times, want %d, %d, %d", verdict, turn, accounts.reserved, accounts.released, a.seq-before, asked, turn, notices)
			}
		}
		a.cancel()
	}
}

// dear records the spent and the requested amounts.
type dear struct {
	free
	spent, asked budget.Amount
}

func (d *dear) Spent(string) budget.Amount { return d.spent }

func (d *dear) Reserve(_ budget.Account, dearest budget.Amount) budget.Verdict {
	d.asked = dearest
	return budget.Begin
}

// TestSpending_dearest checks that a session reserves as much as its most expensive turn has used, also after it was loaded again:
// from the record after the usage, and from a snapshot. A cheaper turn does not change it.
func TestSpending_dearest(t *testing.T) {
	s, _ := memSessions(t)
	accounts := &dear{}
	s.opts.Accounts = accounts
	a := s.newActor(Prefix+"dear", "e")
	defer a.cancel()
	want := budget.Amount{USD: 0.75, Tokens: 900}
	for _, turn := range []budget.Amount{{USD: 0.25, Tokens: 900}, {USD: 0.75, Tokens: 100}, {USD: 0.5, Tokens: 500}} {
		a.spending.reserve()
		for range 2 { // the usage of a turn arrives in parts
			accounts.spent.USD += turn.USD / 2
			accounts.spent.Tokens += turn.Tokens / 2
			a.spending.storeSpent(func(context.Context) error { return nil })
		}
		a.draft(draft{event: &event.Notice{Header: a.core.header(""), Code: "turn"}, facts: &facts{Title: "a turn"}})
		if err := a.write(); err != nil {
			t.Fatal(err)
		}
		a.spending.release()
	}
	for _, from := range []string{"records", "a snapshot"} {
		b, err := s.load(t.Context(), a.id)
		if err != nil {
			t.Fatal(err)
		}
		b.spending.reserve()
		if accounts.asked != want {
			t.Errorf("loaded from %s: %+v is reserved, want %+v", from, accounts.asked, want)
		}
		b.snapshot()
		b.cancel()
	}
}
