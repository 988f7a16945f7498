package budget

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"
)

// Amount is what was used: money in dollars, and the tokens of all kinds added up.
type Amount struct {
	USD      float64 `json:"usd,omitempty"`
	Tokens   int64   `json:"tokens,omitempty"`
	Unpriced int64   `json:"unpriced,omitempty"` // those of Tokens whose price is not known
}

func (a Amount) plus(b Amount) Amount {
	return Amount{a.USD + b.USD, a.Tokens + b.Tokens, a.Unpriced + b.Unpriced}
}

func (a Amount) minus(b Amount) Amount {
	return Amount{a.USD - b.USD, a.Tokens - b.Tokens, a.Unpriced - b.Unpriced}
}

// Account is who pays: a session, the token that made it, and the tenant of the token.
type Account struct {
	Session string `json:"session,omitempty"`
	Token   string `json:"token,omitempty"`
	Tenant  string `json:"tenant,omitempty"`
}

// target is the id of the account in a scope; false if it has none.
func (a Account) target(scope string) (string, bool) {
	switch scope {
	case ScopeSession:
		return a.Session, a.Session != ""
	case ScopeToken:
		return a.Token, a.Token != ""
	case ScopeTenant:
		return a.Tenant, a.Tenant != ""
	case ScopeServer:
		return "", true
	}
	return "", false
}

// Row is one entry of the book, as it is kept on disk. It is about an account, or about a
// limit.
type Row struct {
	Time    time.Time `json:"time"`
	Account `json:"account,omitzero"`
	Amount  `json:"amount,omitzero"`
	// Reported is all that the agent says its session has used; nil where it says nothing.
	Reported *Amount `json:"reported,omitempty"`
	Limit    *Limit  `json:"limit,omitempty"`   // it is set
	Removed  string  `json:"removed,omitempty"` // the id of a limit that is taken away
}

// sumKey names a sum: a scope, an id in it, and a day, a month or nothing.
type sumKey struct{ scope, target, period string }

// report is what the agent of a session said last, and what it had said before the book
// began to count.
type report struct {
	Base Amount `json:"base"`
	Last Amount `json:"last"`
}

// Book is accounts and limits. The zero value is an empty one; it is not for use by several
// goroutines at once.
type Book struct {
	limits  []Limit
	sums    map[sumKey]Amount
	reports map[string]report // by session
}

// Apply folds a row.
func (b *Book) Apply(r Row) {
	switch {
	case r.Limit != nil:
		i := slices.IndexFunc(b.limits, func(l Limit) bool { return l.ID == r.Limit.ID })
		if i < 0 {
			b.limits = append(b.limits, *r.Limit)
		} else {
			b.limits[i] = *r.Limit
		}
	case r.Removed != "":
		b.limits = slices.DeleteFunc(b.limits, func(l Limit) bool { return l.ID == r.Removed })
	default:
		b.add(r)
	}
}

func (b *Book) add(r Row) {
	if b.sums == nil {
		b.sums, b.reports = map[sumKey]Amount{}, map[string]report{}
	}
	for _, scope := range scopes {
		target, ok := r.target(scope)
		if !ok {
			continue
		}
		for _, period := range periods {
			k := sumKey{scope, target, bucket(period, r.Time)}
			b.sums[k] = b.sums[k].plus(r.Amount)
		}
	}
	if r.Reported != nil {
		b.reports[r.Session] = report{Base: r.Reported.minus(b.spent(ScopeSession, r.Session, "", r.Time)), Last: *r.Reported}
	}
}

// spent is the sum of a scope and an id in the period that a time is in.
func (b *Book) spent(scope, target, period string, now time.Time) Amount {
	return b.sums[sumKey{scope, target, bucket(period, now)}]
}

// Spent returns what a session has used since the book began, in money and in tokens, over all
// periods.
func (b *Book) Spent(session string) Amount {
	return b.sums[sumKey{ScopeSession, session, ""}]
}

// Reconcile returns the row that brings the account of a session to what its agent says it
// has used in all. An agent that was resumed goes on from its own totals: fresh says that
// the session was new when the book first saw it, so that all of them count. Totals that
// went down were reset by the agent, and what was counted stands.
func (b *Book) Reconcile(acc Account, reported Amount, fresh bool, now time.Time) Row {
	row := Row{Time: now, Account: acc, Reported: &reported}
	last, known := b.reports[acc.Session]
	if !known && !fresh || known && (reported.USD < last.Last.USD || reported.Tokens < last.Last.Tokens) {
		return row
	}
	row.Amount = reported.minus(last.Base).minus(b.Spent(acc.Session))
	return row
}

// Limits returns the limits in the order in which they were set, including those that are
// reached.
func (b *Book) Limits() []Limit { return slices.Clone(b.limits) }

// savedSum is a sum in a snapshot of a book.
type savedSum struct {
	Scope  string `json:"scope"`
	Target string `json:"target,omitempty"`
	Period string `json:"period,omitempty"`
	Amount Amount `json:"amount"`
}

type savedBook struct {
	Limits  []Limit           `json:"limits"`
	Sums    []savedSum        `json:"sums"`
	Reports map[string]report `json:"reports"`
}

// MarshalJSON encodes the whole book, so that it can be kept in the place of its rows.
func (b *Book) MarshalJSON() ([]byte, error) {
	s := savedBook{Limits: b.limits, Reports: b.reports}
	for k, a := range b.sums {
		s.Sums = append(s.Sums, savedSum{k.scope, k.target, k.period, a})
	}
	slices.SortFunc(s.Sums, func(x, y savedSum) int {
		return cmp.Or(cmp.Compare(x.Scope, y.Scope), cmp.Compare(x.Target, y.Target), cmp.Compare(x.Period, y.Period))
	})
	return json.Marshal(s)
}

// UnmarshalJSON reads what MarshalJSON wrote, in the place of what the book held.
func (b *Book) UnmarshalJSON(data []byte) error {
	var s savedBook
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	*b = Book{limits: s.Limits, sums: map[sumKey]Amount{}, reports: s.Reports}
	if b.reports == nil {
		b.reports = map[string]report{}
	}
	for _, x := range s.Sums {
		b.sums[sumKey{x.Scope, x.Target, x.Period}] = x.Amount
	}
	return nil
}

// keptDays is how long the sums of days are kept, and of months about a year.
const keptDays = 62

// Forget drops sums of days and months that no limit asks for any more.
func (b *Book) Forget(now time.Time) {
	day, month := now.UTC().AddDate(0, 0, -keptDays).Format(time.DateOnly), now.UTC().AddDate(-1, 0, 0).Format("2006-01")
	for k := range b.sums {
		if len(k.period) == len(day) && k.period < day || len(k.period) == len(month) && k.period < month {
			delete(b.sums, k)
		}
	}
}
