package usage

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// By is the kind of rows of a report: a period of time, a session, a project and so on.
type By string

// The kinds of rows of a report. Periods start in the time zone of the [View].
const (
	ByHour    By = "hour"
	ByDay     By = "day"
	ByWeek    By = "week"
	ByMonth   By = "month"
	BySession By = "session"
	ByProject By = "project"
	ByModel   By = "model"
	ByBranch  By = "branch"
	ByAgent   By = "agent"
)

// View selects the answers of a ledger and how they are reported. The zero value is all answers, in
// the system's time zone at the default prices.
type View struct {
	Prices    *Prices        // nil is DefaultPrices
	Location  *time.Location // of days, weeks and months; nil is time.Local
	WeekStart time.Weekday   // the zero value is Sunday
	Since     time.Time      // answers at or after this time; zero means no limit
	Until     time.Time      // answers before this time; zero means no limit
	Project   string         // answers of the project of this directory or name; "" is all
	Session   string         // answers of this session; "" is all
	Model     string         // answers of this model; "" is all
	Provider  string         // answers of this agent; "" is all
}

func (v View) withDefaults() View {
	if v.Prices == nil {
		v.Prices = DefaultPrices()
	}
	if v.Location == nil {
		v.Location = time.Local
	}
	return v
}

// Sum is the usage and the cost of a number of answers. It lists models without a price, since the
// cost does not include them.
type Sum struct {
	Tokens
	Answers  int
	Cost     float64  // of the tokens that have a price, in dollars
	Unpriced Tokens   // tokens of models without a price; included in Tokens
	Missing  []string // the models without a price
}

// Row is one line of a report: the answers of one agent that share a key, added up and by
// model.
type Row struct {
	Key         string    // depends on the kind of report: 2026-01-31, a session's id, …
	Provider    string    // the agent; "" for the total
	Start       time.Time // for an hour, day, week or month
	Project     string    // for a session: its directory
	First, Last time.Time // of the answers
	Sum
	Models   []ModelRow // highest cost first
	Sessions int
}

// ModelRow is the part of one model in a [Row]: its name, usage and cost.
type ModelRow struct {
	Model string
	Sum
}

// Report is a ledger added up: a row for each key and agent that has answers, and the total.
type Report struct {
	By    By
	Rows  []Row // by time, or by cost if the rows are not times
	Total Row
}

// class holds the properties of answers that have the same price.
type class struct {
	model uint32
	flags flags
	long  bool
}

// tally is a sum in progress.
type tally struct {
	classes     map[class]*classSum
	sessions    map[uint32]struct{}
	first, last int64
	project     string
}

type classSum struct {
	Tokens
	answers int
}

func (t *tally) add(e *entry, long bool) {
	if t.classes == nil {
		*t = tally{classes: map[class]*classSum{}, sessions: map[uint32]struct{}{}, first: e.at, last: e.at, project: t.project}
	}
	c := class{e.model, e.flags & priceFlags, long}
	s := t.classes[c]
	if s == nil {
		s = &classSum{}
		t.classes[c] = s
	}
	s.Add(e.tokens())
	s.answers++
	t.sessions[e.session] = struct{}{}
	t.first, t.last = min(t.first, e.at), max(t.last, e.at)
}

// Report adds up the answers that the view selects, grouped by the given key. It does not change
// the ledger.
func (l *Ledger) Report(by By, v View) *Report {
	v = v.withDefaults()
	keep, long, name := l.filter(v), l.longPrompts(v.Prices), l.keys(by, v)
	type place struct{ key, provider string }
	rows, total := map[place]*tally{}, &tally{}
	for i := range l.entries.n {
		e := l.entries.at(i)
		if e.has(repeated) || !keep(e) {
			continue
		}
		k := place{name(e), l.providerOf(e)}
		t := rows[k]
		if t == nil {
			t = &tally{}
			if by == BySession {
				t.project = l.projectName(l.files[e.file])
			}
			rows[k] = t
		}
		isLong := long(e)
		t.add(e, isLong)
		total.add(e, isLong)
	}
	r := &Report{By: by, Total: total.row("", l.names, v)}
	order := slices.SortedFunc(maps.Keys(rows), func(a, b place) int {
		return cmp.Or(strings.Compare(a.key, b.key), strings.Compare(a.provider, b.provider))
	})
	for _, k := range order {
		row := rows[k].row(k.key, l.names, v)
		row.Start, row.Provider = start(by, k.key, v), k.provider
		r.Rows = append(r.Rows, row)
	}
	switch by {
	case ByHour, ByDay, ByWeek, ByMonth:
		slices.SortStableFunc(r.Rows, func(a, b Row) int { return a.Start.Compare(b.Start) })
	case BySession:
		slices.SortStableFunc(r.Rows, func(a, b Row) int { return b.Last.Compare(a.Last) })
	default:
		slices.SortStableFunc(r.Rows, func(a, b Row) int { return moreCost(a.Sum, b.Sum) })
	}
	return r
}

func moreCost(a, b Sum) int {
	return cmp.Or(cmp.Compare(b.Cost, a.Cost), cmp.Compare(b.Total(), a.Total()))
}

// row returns the finished sum.
func (t *tally) row(k string, n *names, v View) Row {
	r := Row{Key: k, Project: t.project, Sessions: len(t.sessions)}
	if t.classes == nil {
		return r
	}
	r.First, r.Last = time.UnixMilli(t.first).In(v.Location), time.UnixMilli(t.last).In(v.Location)
	models := map[string]*Sum{}
	missing := map[missingModel]bool{}
	order := slices.SortedFunc(maps.Keys(t.classes), func(a, b class) int {
		return cmp.Or(strings.Compare(n.text(a.model), n.text(b.model)), cmp.Compare(a.flags, b.flags), cmpBool(a.long, b.long))
	})
	for _, c := range order {
		model := n.text(c.model)
		if models[model] == nil {
			models[model] = &Sum{}
		}
		for _, s := range []*Sum{models[model], &r.Sum} {
			if name, priced := s.addClass(t.classes[c], model, c, v.Prices); !priced && !missing[missingModel{s, name}] {
				missing[missingModel{s, name}] = true
				s.Missing = append(s.Missing, name)
			}
		}
	}
	for _, model := range slices.Sorted(maps.Keys(models)) {
		r.Models = append(r.Models, ModelRow{model, *models[model]})
	}
	slices.SortStableFunc(r.Models, func(a, b ModelRow) int { return moreCost(a.Sum, b.Sum) })
	return r
}

func cmpBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// missingModel is a model without a price in a sum.
type missingModel struct {
	in   *Sum
	name string
}

// addClass adds answers of one class. It returns the name of the model, and whether it has a price.
func (s *Sum) addClass(c *classSum, model string, k class, prices *Prices) (name string, priced bool) {
	s.Add(c.Tokens)
	s.Answers += c.answers
	price, ok := prices.Of(model)
	cost := 0.0
	if ok {
		cost, ok = price.cost(c.Tokens, k.flags, k.long)
	}
	if ok || c.Tokens == (Tokens{}) {
		s.Cost += cost
		return model, true
	}
	if k.flags&fast != 0 {
		model += " (fast)"
	}
	s.Unpriced.Add(c.Tokens)
	return model, false
}

// longPrompts returns a function that reports whether an answer has the rates of long prompts.
func (l *Ledger) longPrompts(prices *Prices) func(*entry) bool {
	above := map[uint32]int64{}
	return func(e *entry) bool {
		limit, ok := above[e.model]
		if !ok {
			price, _ := prices.Of(l.names.text(e.model))
			limit = price.longAbove()
			above[e.model] = limit
		}
		return e.tokens().Prompt() > limit
	}
}

func (l *Ledger) filter(v View) func(*entry) bool {
	since, until := int64(0), int64(1<<62)
	if !v.Since.IsZero() {
		since = v.Since.UnixMilli()
	}
	if !v.Until.IsZero() {
		until = v.Until.UnixMilli()
	}
	return func(e *entry) bool {
		if e.at < since || e.at >= until {
			return false
		}
		if v.Session != "" && l.names.text(e.session) != v.Session || v.Model != "" && l.names.text(e.model) != v.Model {
			return false
		}
		if v.Provider != "" && v.Provider != l.providerOf(e) {
			return false
		}
		f := l.files[e.file]
		return v.Project == "" || v.Project == f.project || v.Project == l.projectName(f)
	}
}
