package budget

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// Amount is a usage: money in dollars, and the sum of all kinds of tokens.
type Amount struct {
	USD      float64 `json:"usd,omitempty"`
	Tokens   int64   `json:"tokens,omitempty"`
	Unpriced int64   `json:"unpriced,omitempty"` // the part of Tokens with an unknown price
}

func (a Amount) plus(b Amount) Amount {
	return Amount{a.USD + b.USD, a.Tokens + b.Tokens, a.Unpriced + b.Unpriced}
}

func (a Amount) minus(b Amount) Amount {
	return Amount{a.USD - b.USD, a.Tokens - b.Tokens, a.Unpriced - b.Unpriced}
}

// scopeOwn is the scope of the usage of a session without the sessions that its agent started.
const scopeOwn = "own"

// Row is one entry of the book, as stored on disk. It concerns an account or a limit.
type Row struct {
	Time    time.Time `json:"time"`
	Account `json:"account,omitzero"`
	Amount  `json:"amount,omitzero"`
	// Reported is the total usage of the session that the agent reports, or nil.
	Reported *Amount `json:"reported,omitempty"`
	Limit    *Limit  `json:"limit,omitempty"`   // a limit was set
	Removed  string  `json:"removed,omitempty"` // the id of a removed limit
}

// sumKey identifies a sum: a scope, an id in it, and a day, a month or no period.
type sumKey struct{ scope, target, period string }

// report is the last report of a session's agent, and its report before the book started to count.
type report struct {
	Base Amount `json:"base"`
	Last Amount `json:"last"`
}

// Book holds accounts and limits. The zero value is an empty book; it is not safe for concurrent
// use.
type Book struct {
	limits  []Limit
	sums    map[sumKey]Amount
	reports map[string]report // by session
}

// Apply adds a row to the book.
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
		for _, target := range r.targets(scope) {
			for _, period := range periods {
				k := sumKey{scope, target, bucket(period, r.Time)}
				b.sums[k] = b.sums[k].plus(r.Amount)
			}
		}
	}
	if r.Session != "" {
		k := sumKey{scopeOwn, r.Session, ""}
		b.sums[k] = b.sums[k].plus(r.Amount)
	}
	if r.Reported != nil {
		b.reports[r.Session] = report{Base: r.Reported.minus(b.Spent(r.Session)), Last: *r.Reported}
	}
}

// spent returns the sum of a scope and an id in the period that contains a time.
func (b *Book) spent(scope, target, period string, now time.Time) Amount {
	return b.sums[sumKey{scope, target, bucket(period, now)}]
}

// Spent returns the usage of a session without those that its agent started, in money and in
// tokens, since the book began, over all periods.
func (b *Book) Spent(session string) Amount {
	return b.sums[sumKey{scopeOwn, session, ""}]
}

// Reconcile returns the row that adjusts the account of a session to the total that its agent
// reports. A resumed agent continues its totals: fresh means that the session was new when the book
// first saw it, so that all of the totals count. Totals that decreased were reset by the agent, and
// the counted usage stays.
func (b *Book) Reconcile(acc Account, reported Amount, fresh bool, now time.Time) Row {
	row := Row{Time: now, Account: acc, Reported: &reported}
	last, known := b.reports[acc.Session]
	if !known && !fresh || known && (reported.USD < last.Last.USD || reported.Tokens < last.Last.Tokens) {
		return row
	}
	row.Amount = reported.minus(last.Base).minus(b.Spent(acc.Session))
	return row
}

// Limits returns the limits in the order in which they were set, including reached ones.
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

// MarshalJSON encodes the whole book, so that it can be stored instead of its rows.
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

// UnmarshalJSON replaces the content of the book by the output of MarshalJSON.
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
	if !slices.ContainsFunc(s.Sums, func(x savedSum) bool { return x.Scope == scopeOwn }) { // before sessions could start others
		for k, a := range maps.Clone(b.sums) {
			if k.scope == ScopeSession && k.period == "" {
				b.sums[sumKey{scopeOwn, k.target, ""}] = a
			}
		}
	}
	return nil
}

// keptDays is the number of days for which the sums of days are kept; the sums of months are kept for about a year.
const keptDays = 62

// Forget drops sums of days and months that no limit needs any more.
func (b *Book) Forget(now time.Time) {
	day, month := now.UTC().AddDate(0, 0, -keptDays).Format(time.DateOnly), now.UTC().AddDate(-1, 0, 0).Format("2006-01")
	for k := range b.sums {
		if len(k.period) == len(day) && k.period < day || len(k.period) == len(month) && k.period < month {
			delete(b.sums, k)
		}
	}
}
