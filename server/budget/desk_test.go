package budget_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/budget"
)

// schedule is a set of sessions that start, use and end turns in a random order under one limit.
type schedule struct {
	t        *testing.T
	r        *rand.Rand
	book     budget.Book
	desk     budget.Desk
	running  map[string]budget.Amount // remaining usage of a turn
	waiting  map[string]bool
	reserve  budget.Amount
	dearest  budget.Amount
	spent    budget.Amount
	accounts []budget.Account
}

var deskTime = time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)

// ask requests a turn and reports whether it was refused.
func (s *schedule) ask(acc budget.Account) bool {
	switch s.desk.Reserve(&s.book, acc, s.reserve, deskTime) {
	case budget.Begin:
		s.begin(acc.Session)
	case budget.Wait:
		s.waiting[acc.Session] = true
	case budget.Refuse:
		return true
	}
	return false
}

// begin starts a turn, which uses at most its reservation.
func (s *schedule) begin(session string) {
	delete(s.waiting, session)
	cost := budget.Amount{USD: s.r.Float64() * s.reserve.USD, Tokens: s.r.Int64N(s.reserve.Tokens + 1)}
	s.dearest = budget.Amount{USD: max(s.dearest.USD, cost.USD), Tokens: max(s.dearest.Tokens, cost.Tokens)}
	s.running[session] = cost
}

// use uses a part of a turn's cost, or the rest and ends the turn.
func (s *schedule) use(acc budget.Account) {
	cost := s.running[acc.Session]
	part, ends := s.r.Float64(), s.r.IntN(2) == 0
	if ends {
		part = 1
	}
	row := budget.Row{Time: deskTime, Account: acc, Amount: budget.Amount{USD: cost.USD * part, Tokens: int64(float64(cost.Tokens) * part)}}
	s.book.Apply(row)
	s.desk.Used(row)
	s.spent = budget.Amount{USD: s.spent.USD + row.USD, Tokens: s.spent.Tokens + row.Amount.Tokens}
	s.running[acc.Session] = budget.Amount{USD: cost.USD - row.USD, Tokens: cost.Tokens - row.Amount.Tokens}
	if ends || s.r.IntN(8) == 0 { // or it is interrupted
		delete(s.running, acc.Session)
		s.release(acc.Session)
	}
}

func (s *schedule) release(session string) {
	for _, woken := range s.desk.Release(&s.book, session, deskTime) {
		if !s.waiting[woken] {
			s.t.Fatalf("%s was woken and did not wait", woken)
		}
		for _, acc := range s.accounts {
			if acc.Session == woken && s.ask(acc) {
				delete(s.waiting, woken)
			}
		}
	}
}

// TestDesk runs random schedules: the sum is at most the limit plus one turn, some session runs
// while others wait, and no turn starts after the limit is reached.
func TestDesk(t *testing.T) {
	for seed := range uint64(short.Count(50, 100, 20_000)) {
		s := &schedule{t: t, r: rand.New(rand.NewPCG(seed, 1)), running: map[string]budget.Amount{}, waiting: map[string]bool{}}
		s.reserve = budget.Amount{USD: 0.01 + s.r.Float64(), Tokens: 1 + s.r.Int64N(1000)}
		limit := budget.Limit{ID: "l", Scope: []string{budget.ScopeServer, budget.ScopeTenant, budget.ScopeToken}[s.r.IntN(3)], Action: []string{budget.ActionInterrupt, budget.ActionRefuse}[s.r.IntN(2)]}
		usd, tokens := s.r.Float64()*3, s.r.Int64N(3000)
		if s.r.IntN(2) == 0 {
			limit.USD = &usd
		} else {
			limit.Tokens = &tokens
		}
		s.book.Apply(budget.Row{Limit: &limit})
		for i := range 1 + s.r.IntN(20) {
			s.accounts = append(s.accounts, budget.Account{Session: fmt.Sprint("s", i), Token: "t", Tenant: "n"})
		}
		for range 200 {
			acc := s.accounts[s.r.IntN(len(s.accounts))]
			_, runs := s.running[acc.Session]
			switch {
			case runs:
				s.use(acc)
			case s.waiting[acc.Session] && s.r.IntN(5) == 0: // its prompt is removed
				delete(s.waiting, acc.Session)
				s.release(acc.Session)
			case !s.waiting[acc.Session]:
				s.ask(acc)
			}
			if len(s.running) == 0 && len(s.waiting) > 0 {
				t.Fatalf("seed %d: %d sessions wait and none runs", seed, len(s.waiting))
			}
		}
		if limit.USD != nil && s.spent.USD > usd+s.dearest.USD || limit.Tokens != nil && s.spent.Tokens > tokens+s.dearest.Tokens {
			t.Fatalf("seed %d: spent %+v with the limit $%v, %d tokens; the dearest turn is %+v", seed, s.spent, usd, tokens, s.dearest)
		}
	}
}

// TestDesk_verdicts checks the effect of each action of a limit on turns, and that a session that was
// refused while it waited no longer waits.
func TestDesk_verdicts(t *testing.T) {
	cost := budget.Amount{USD: 1}
	for action, want := range map[string]budget.Verdict{"interrupt": budget.Wait, "refuse": budget.Wait, "notify": budget.Begin} {
		var b budget.Book
		var d budget.Desk
		b.Apply(limit(t, "scope=server usd=1 action="+action))
		if v := d.Reserve(&b, acc("1"), cost, noon); v != budget.Begin {
			t.Errorf("%s: the first turn has the verdict %d", action, v)
		}
		if v := d.Reserve(&b, acc("2"), cost, noon); v != want {
			t.Errorf("%s: a turn beside it has the verdict %d, want %d", action, v, want)
		}
		b.Apply(used(acc("1"), noon, 1, 0))
		reached := budget.Refuse
		if action == "notify" {
			reached = budget.Begin
		}
		if v := d.Reserve(&b, acc("2"), cost, noon); v != reached {
			t.Errorf("%s: with the limit reached it has the verdict %d, want %d", action, v, reached)
		}
		if woken := d.Release(&b, "s1", noon); len(woken) != 0 {
			t.Errorf("%s: %v are woken, and none waits", action, woken)
		}
	}
}

// TestDesk_scopes checks which running turns a limit counts: those of the same target, and of sessions that the target started.
func TestDesk_scopes(t *testing.T) {
	self := budget.Account{Session: "s1", Token: "t1", Tenant: "n1"}
	for _, test := range []struct {
		scope string
		other budget.Account
		want  budget.Verdict
	}{
		{budget.ScopeServer, budget.Account{Session: "s2", Token: "t2", Tenant: "n2"}, budget.Wait},
		{budget.ScopeTenant, budget.Account{Session: "s2", Token: "t2", Tenant: "n1"}, budget.Wait},
		{budget.ScopeTenant, budget.Account{Session: "s2", Token: "t1", Tenant: "n2"}, budget.Begin},
		{budget.ScopeToken, budget.Account{Session: "s2", Token: "t1", Tenant: "n2"}, budget.Wait},
		{budget.ScopeToken, budget.Account{Session: "s2", Token: "t2", Tenant: "n1"}, budget.Begin},
		{budget.ScopeSession, budget.Account{Session: "s2", Token: "t1", Tenant: "n1"}, budget.Begin},
		{budget.ScopeSession, budget.Account{Session: "s2", Token: "t1", Tenant: "n1", Parents: []string{"s1"}}, budget.Wait},
		{budget.ScopeSession, budget.Account{Session: "s2", Token: "t1", Tenant: "n1", Parents: []string{"s3", "s1"}}, budget.Wait},
	} {
		usd := 1.0
		var book budget.Book
		book.Apply(budget.Row{Limit: &budget.Limit{ID: "l", Scope: test.scope, Action: budget.ActionRefuse, USD: &usd}})
		var desk budget.Desk
		if got := desk.Reserve(&book, test.other, budget.Amount{USD: 1}, deskTime); got != budget.Begin {
			t.Fatalf("%s: the first turn gets %v, want %v", test.scope, got, budget.Begin)
		}
		if got := desk.Reserve(&book, self, budget.Amount{USD: 1}, deskTime); got != test.want {
			t.Errorf("%s: while %+v has a turn, the next gets %v, want %v", test.scope, test.other, got, test.want)
		}
	}
}

// TestDesk_woken checks that a turn has its reservation as soon as Release returns its session,
// that a turn that began in another way is not returned again, and that a negative correction of
// the usage does not increase the reservation.
func TestDesk_woken(t *testing.T) {
	cost := budget.Amount{USD: 1}
	var b budget.Book
	var d budget.Desk
	low, high := 1.0, 100.0
	b.Apply(budget.Row{Limit: &budget.Limit{ID: "l", Scope: budget.ScopeServer, Action: budget.ActionRefuse, USD: &low}})
	d.Reserve(&b, acc("1"), cost, noon)
	d.Reserve(&b, acc("2"), cost, noon)
	d.Reserve(&b, acc("3"), budget.Amount{USD: 2}, noon)
	if woken := d.Release(&b, acc("1").Session, noon); !slices.Equal(woken, []string{acc("2").Session}) {
		t.Fatalf("woken are %v", woken)
	}
	if v := d.Reserve(&b, acc("4"), cost, noon); v != budget.Wait {
		t.Errorf("a turn beside the one that was woken has the verdict %d", v)
	}
	b.Apply(budget.Row{Limit: &budget.Limit{ID: "l", Scope: budget.ScopeServer, Action: budget.ActionRefuse, USD: &high}})
	if v := d.Reserve(&b, acc("4"), cost, noon); v != budget.Begin {
		t.Errorf("with a higher limit it has the verdict %d", v)
	}
	if woken := d.Release(&b, acc("2").Session, noon); !slices.Equal(woken, []string{acc("3").Session}) {
		t.Errorf("woken are %v, and 4 runs already", woken)
	}
}

// TestDesk_corrected checks that a negative row, which corrects the usage, does not add to a reservation.
func TestDesk_corrected(t *testing.T) {
	var b budget.Book
	var d budget.Desk
	b.Apply(limit(t, "scope=server usd=2"))
	d.Reserve(&b, acc("1"), budget.Amount{USD: 1}, noon)
	d.Used(used(acc("1"), noon, -5, 0))
	if v := d.Reserve(&b, acc("2"), budget.Amount{USD: 1}, noon); v != budget.Begin {
		t.Errorf("a turn beside one whose usage was corrected has the verdict %d", v)
	}
}
