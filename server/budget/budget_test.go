package budget_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/server/budget"
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func acc(n string) budget.Account {
	return budget.Account{Session: "s" + n, Token: "t" + n, Tenant: "acme"}
}

func used(a budget.Account, at time.Time, usd float64, tokens int64) budget.Row {
	return budget.Row{Time: at, Account: a, Amount: budget.Amount{USD: usd, Tokens: tokens}}
}

func limit(t *testing.T, text string) budget.Row {
	t.Helper()
	l, err := budget.ParseLimit(text)
	if err != nil {
		t.Fatal(err)
	}
	return budget.Row{Limit: &l}
}

// TestBook_scopes checks which usage counts for which limit, and when it is dropped.
func TestBook_scopes(t *testing.T) {
	for text, want := range map[string]struct {
		first, second, nextDay, nextMonth budget.Level
	}{
		"scope=session usd=1":             {budget.Reached, budget.Below, budget.Reached, budget.Reached},
		"scope=token usd=1":               {budget.Reached, budget.Below, budget.Reached, budget.Reached},
		"scope=tenant usd=2":              {budget.Below, budget.Below, budget.Below, budget.Below},
		"scope=tenant tokens=125":         {budget.Near, budget.Near, budget.Near, budget.Near},
		"scope=tenant tokens=100":         {budget.Reached, budget.Reached, budget.Reached, budget.Reached},
		"scope=server period=day usd=1":   {budget.Reached, budget.Reached, budget.Below, budget.Below},
		"scope=server period=month usd=1": {budget.Reached, budget.Reached, budget.Below, budget.Below},
		"scope=session target=s2 usd=1":   {-1, budget.Below, -1, -1},
		"scope=session usd=0":             {budget.Reached, budget.Reached, budget.Reached, budget.Reached},
	} {
		var b budget.Book
		b.Apply(limit(t, text))
		b.Apply(used(acc("1"), noon, 1, 100))
		for i, c := range []struct {
			acc  budget.Account
			at   time.Time
			want budget.Level
		}{{acc("1"), noon, want.first}, {acc("2"), noon, want.second}, {acc("1"), noon.AddDate(0, 0, 1), want.nextDay}, {acc("1"), noon.AddDate(0, 1, 0), want.nextMonth}} {
			got := budget.Level(-1)
			for _, s := range b.Check(c.acc, c.at) {
				got = s.Level
			}
			if got != c.want {
				t.Errorf("%s, case %d: level %d, want %d", text, i, got, c.want)
			}
		}
	}
}

// TestBook_reconcile checks that the account ends at the agent's report, also after a resume and a
// reset.
func TestBook_reconcile(t *testing.T) {
	var b budget.Book
	said := func(usd float64, tokens int64, fresh bool) {
		b.Apply(b.Reconcile(acc("1"), budget.Amount{USD: usd, Tokens: tokens}, fresh, noon))
	}
	is := func(usd float64, tokens int64) {
		t.Helper()
		if got := b.Spent("s1"); math.Abs(got.USD-usd) > 1e-9 || got.Tokens != tokens {
			t.Errorf("spent %+v, want $%v and %d tokens", got, usd, tokens)
		}
	}
	b.Apply(used(acc("1"), noon, 0.5, 100))
	said(0.75, 160, true)
	is(0.75, 160)
	b.Apply(used(acc("1"), noon, 1, 10))
	said(1.5, 170, false) // less than the estimate
	is(1.5, 170)
	said(0.25, 20, false) // the conversation was cleared
	is(1.5, 170)
	said(0.5, 30, false)
	is(1.75, 180)

	b = budget.Book{} // a session with earlier usage, which does not count
	b.Apply(used(acc("1"), noon, 0.5, 100))
	said(10, 1000, false)
	is(0.5, 100)
	said(11, 1100, false)
	is(1.5, 200)
}

// TestBook_reconcileDown checks that a total that decreased, in money or in tokens, does not reduce the
// account, and that the next one counts from there.
func TestBook_reconcileDown(t *testing.T) {
	for name, c := range map[string]struct {
		said, next, want budget.Amount
	}{
		"the same":    {budget.Amount{USD: 2, Tokens: 200}, budget.Amount{USD: 3, Tokens: 300}, budget.Amount{USD: 3, Tokens: 300}},
		"both less":   {budget.Amount{USD: 1, Tokens: 100}, budget.Amount{USD: 2, Tokens: 150}, budget.Amount{USD: 3, Tokens: 250}},
		"less money":  {budget.Amount{USD: 1, Tokens: 300}, budget.Amount{USD: 2, Tokens: 350}, budget.Amount{USD: 3, Tokens: 250}},
		"less tokens": {budget.Amount{USD: 3, Tokens: 199}, budget.Amount{USD: 4, Tokens: 200}, budget.Amount{USD: 3, Tokens: 201}},
	} {
		var b budget.Book
		b.Apply(b.Reconcile(acc("1"), budget.Amount{USD: 2, Tokens: 200}, true, noon))
		row := b.Reconcile(acc("1"), c.said, false, noon)
		if row.USD < 0 || row.Tokens < 0 {
			t.Errorf("%s: %+v is taken back", name, row.Amount)
		}
		b.Apply(row)
		if got := b.Spent("s1"); got != (budget.Amount{USD: 2, Tokens: 200}) {
			t.Errorf("%s: spent %+v, want what was counted before", name, got)
		}
		b.Apply(b.Reconcile(acc("1"), c.next, false, noon))
		if got := b.Spent("s1"); got != c.want {
			t.Errorf("%s: spent %+v after the next report, want %+v", name, got, c.want)
		}
	}
}

// TestBook_saved checks that a book survives its JSON, and that limits are changed by id.
func TestBook_saved(t *testing.T) {
	var b, c budget.Book
	b.Apply(limit(t, "scope=server usd=10"))
	b.Apply(limit(t, "scope=token usd=5 action=notify"))
	b.Apply(used(acc("1"), noon, 4, 1))
	b.Apply(b.Reconcile(acc("1"), budget.Amount{USD: 4.5}, true, noon))
	changed := b.Limits()[0]
	changed.USD = new(float64(4))
	b.Apply(budget.Row{Limit: &changed})
	b.Apply(budget.Row{Removed: "no such"})
	data, err := json.Marshal(&b)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(b.All(noon), c.All(noon)) || len(c.All(noon)) != 2 {
		t.Errorf("read back %+v, want %+v", c.All(noon), b.All(noon))
	}
	if s := c.All(noon); s[0].Level != budget.Reached || !s[0].Interrupts() || s[1].Level != budget.Near || s[1].Stops() {
		t.Errorf("the standings are %+v", s)
	}
	c.Forget(noon.AddDate(2, 0, 0))
	if got := c.Spent("s1").USD; got != 4.5 {
		t.Errorf("after forgetting days the sum is %v", got)
	}
	b.Apply(budget.Row{Removed: changed.ID})
	if len(b.Limits()) != 1 {
		t.Error("the limit was not removed")
	}
}

// TestBook_savedBefore reads a book from a version in which sessions could not start others: their
// sums are those of the sessions alone. A newer book is read unchanged.
func TestBook_savedBefore(t *testing.T) {
	var old, now budget.Book
	if err := json.Unmarshal([]byte(`{"sums":[{"scope":"session","target":"s1","amount":{"usd":2}},{"scope":"session","target":"s1","period":"2026-01-01","amount":{"usd":9}},{"scope":"token","target":"t","amount":{"usd":8}}]}`), &old); err != nil {
		t.Fatal(err)
	}
	if got := old.Spent("s1").USD; got != 2 {
		t.Errorf("the session has spent %v, want 2", got)
	}
	if got := old.Spent("t").USD; got != 0 {
		t.Errorf("a session with the name of a token has spent %v, want nothing", got)
	}
	now.Apply(used(acc("1"), noon, 4, 1))
	data, err := json.Marshal(&now)
	if err != nil {
		t.Fatal(err)
	}
	var again budget.Book
	if err := json.Unmarshal(data, &again); err != nil || again.Spent("s1") != now.Spent("s1") {
		t.Errorf("read back, the session has spent %+v, %v, want %+v", again.Spent("s1"), err, now.Spent("s1"))
	}
}

// TestBook_forget checks which sums are dropped: days after two months, months after a year, and
// never those that a limit needs.
func TestBook_forget(t *testing.T) {
	for _, tt := range []struct {
		at         time.Time
		day, month bool // whether the sums are kept
	}{
		{noon, true, true},
		{noon.AddDate(0, 0, 62), true, true},
		{noon.AddDate(0, 0, 63), false, true},
		{noon.AddDate(1, 0, 0), false, true},
		{noon.AddDate(1, 0, 1), false, false},
	} {
		var b budget.Book
		b.Apply(limit(t, "scope=server period=day usd=10"))
		b.Apply(limit(t, "scope=server period=month usd=10"))
		b.Apply(used(acc("1"), noon, 4, 1))
		b.Forget(tt.at)
		for i, kept := range []bool{tt.day, tt.month} {
			want := 0.0
			if kept {
				want = 4
			}
			if s := b.All(noon)[i]; s.Spent.USD != want {
				t.Errorf("of the %s is left $%v on %v, want $%v", s.Period, s.Spent.USD, tt.at, want)
			}
		}
	}
}

// TestStanding_resets checks when a period ends: from then on its limit is reported again.
func TestStanding_resets(t *testing.T) {
	for _, tt := range []struct {
		period       string
		at           time.Time
		want         string // "" is never
		usd, part    float64
		tokens, left float64
	}{
		{"", noon, "", 10, 0.4, 5, 6},
		{"period=day", noon, "2026-02-01", 10, 0.4, 5, 6},
		{"period=month", noon, "2026-02-01", 3, 4.0 / 3, 5, 0},
		{"period=month", time.Date(2026, 12, 31, 23, 59, 0, 0, time.UTC), "2027-01-01", 10, 0.5, 2, 6},
	} {
		var b budget.Book
		b.Apply(limit(t, fmt.Sprintf("scope=server %s usd=%v tokens=%v", tt.period, tt.usd, tt.tokens)))
		b.Apply(used(acc("1"), tt.at, 4, 1))
		s := b.All(tt.at)[0]
		if got := s.Resets; got.IsZero() != (tt.want == "") || !got.IsZero() && got.Format(time.RFC3339) != tt.want+"T00:00:00Z" {
			t.Errorf("%s at %v: anew on %v, want %s", tt.period, tt.at, got, tt.want)
		}
		if left, ok := s.Left(); !ok || left != tt.left || s.Part() != tt.part {
			t.Errorf("%s at %v: $%v left, part %v, want $%v and %v", tt.period, tt.at, left, s.Part(), tt.left, tt.part)
		}
		if later := b.All(tt.at.AddDate(0, 0, 1))[0].Key(); (later == s.Key()) != (tt.want == "") {
			t.Errorf("%s at %v: the keys are %q and %q", tt.period, tt.at, s.Key(), later)
		}
	}
}

func TestParseLimit_refuses(t *testing.T) {
	for _, text := range []string{"", "usd=1", "scope=world usd=1", "scope=server", "scope=server usd=-1", "scope=server usd=NaN", "scope=server usd=+Inf",
		"scope=server tokens=-1", "scope=server target=x usd=1", "scope=token period=week usd=1", "scope=token usd=1 action=explode", "scope=token usd=x", "what=1"} {
		if l, err := budget.ParseLimit(text); err == nil {
			t.Errorf("%q was taken: %+v", text, l)
		}
	}
}

func ExampleBook() {
	var book budget.Book
	limit, err := budget.ParseLimit("scope=session usd=1")
	if err != nil {
		panic(err)
	}
	book.Apply(budget.Row{Limit: &limit})
	account := budget.Account{Session: "s-1", Token: "owner"}
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for range 2 {
		book.Apply(budget.Row{Time: at, Account: account, Amount: budget.Amount{USD: 0.5, Tokens: 1000}})
		for _, s := range book.Check(account, at) {
			fmt.Println(s, s.Interrupts())
		}
	}
	// Output:
	// The budget for this session: $0.5000 of $1.00 used. false
	// The budget for this session is used up: $1.00 of $1.00. true
}

// TestBook_empty checks that a book that was saved empty accepts rows again.
func TestBook_empty(t *testing.T) {
	var b, c budget.Book
	data, err := json.Marshal(&b)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	c.Apply(c.Reconcile(acc("1"), budget.Amount{USD: 2}, true, noon))
	if got := c.Spent("s1").USD; got != 2 {
		t.Errorf("spent %v, want 2", got)
	}
}

// TestBook_zone checks that a day is a day of UTC, in any time zone of the server.
func TestBook_zone(t *testing.T) {
	west := time.FixedZone("west", -10*3600)
	var b budget.Book
	b.Apply(limit(t, "scope=server period=day usd=1"))
	b.Apply(limit(t, "scope=server period=month usd=1"))
	night := time.Date(2026, 1, 31, 23, 0, 0, 0, west) // the first of February in UTC
	b.Apply(used(acc("1"), night, 1, 0))
	for at, want := range map[time.Time]budget.Level{night: budget.Reached, night.UTC(): budget.Reached, noon: budget.Below, noon.In(west): budget.Below} {
		for _, s := range b.All(at) {
			if s.Level != want {
				t.Errorf("at %v the limit of a %s has the level %d, want %d", at, s.Period, s.Level, want)
			}
		}
	}
}

// TestAccount_child checks that the usage of a session counts once for the session and once for
// each session above it.
func TestAccount_child(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	root := budget.Account{Session: "root", Token: "t"}
	child, err := root.Child("child")
	if err != nil {
		t.Fatal(err)
	}
	var b budget.Book
	limit := budget.Limit{ID: "l", Scope: budget.ScopeSession, Tokens: new(int64(100))}
	b.Apply(budget.Row{Limit: &limit})
	b.Apply(budget.Row{Time: now, Account: child, Amount: budget.Amount{Tokens: 60}})
	b.Apply(b.Reconcile(root, budget.Amount{Tokens: 50}, true, now))
	data, err := json.Marshal(&b)
	if err != nil {
		t.Fatal(err)
	}
	var again budget.Book
	if err := json.Unmarshal(data, &again); err != nil {
		t.Fatal(err)
	}
	for _, book := range []*budget.Book{&b, &again} {
		if own, below := book.Spent("root"), book.Spent("child"); own.Tokens != 50 || below.Tokens != 60 {
			t.Errorf("the sessions have used %d and %d themselves, want 50 and 60", own.Tokens, below.Tokens)
		}
		stops := map[string]bool{}
		for _, s := range book.Check(child, now) {
			stops[s.Target] = s.Stops()
		}
		if !stops["root"] || stops["child"] || len(stops) != 2 {
			t.Errorf("the limits that stop the child are %v, want that of root", stops)
		}
	}
	grandchild, err := child.Child("grandchild")
	if err != nil || len(grandchild.Parents) != 2 || grandchild.Token != "t" {
		t.Errorf("the grandchild is %+v, %v", grandchild, err)
	}
	if _, err := grandchild.Child("more"); !errors.Is(err, budget.ErrDepth) {
		t.Errorf("a fourth: %v, want %v", err, budget.ErrDepth)
	}
}

// TestStanding_For checks that a tenant sees the level of a limit of the server without the usage, and its own limits with it.
func TestStanding_For(t *testing.T) {
	for _, tt := range []struct {
		scope, tenant string
		level         budget.Level
		want          string
	}{
		{budget.ScopeServer, "", budget.Near, "The budget for the server: $8.00 of $10.00, 5 of 6 tokens used."},
		{budget.ScopeTenant, "acme", budget.Near, "The budget for this tenant: $8.00 of $10.00, 5 of 6 tokens used."},
		{budget.ScopeServer, "acme", budget.Below, "The budget for the server: less than 80 % used."},
		{budget.ScopeServer, "acme", budget.Near, "The budget for the server: more than 80 % used."},
		{budget.ScopeServer, "acme", budget.Reached, "The budget for the server is used up."},
	} {
		s := budget.Standing{Limit: budget.Limit{Scope: tt.scope, USD: new(10.0), Tokens: new(int64(6))}, Spent: budget.Amount{USD: 8, Tokens: 5}, Level: tt.level}
		if got := s.For(tt.tenant); got.String() != tt.want || (got.Spent == budget.Amount{}) != got.Hidden {
			t.Errorf("of the %s, tenant %q sees %q, hidden %v, %+v; want %q", tt.scope, tt.tenant, got, got.Hidden, got.Spent, tt.want)
		}
	}
}
