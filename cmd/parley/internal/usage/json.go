package usage

import (
	"errors"
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/transcript/usage"
)

// Members have the names of ccusage if it has the same values.

type tokensJSON struct {
	Input        int64    `json:"inputTokens"`
	Output       int64    `json:"outputTokens"`
	CacheWrite   int64    `json:"cacheCreationTokens"`
	CacheWrite5m int64    `json:"cacheCreation5mTokens"`
	CacheWrite1h int64    `json:"cacheCreation1hTokens"`
	CacheRead    int64    `json:"cacheReadTokens"`
	Total        int64    `json:"totalTokens"`
	WebSearches  int64    `json:"webSearches,omitempty"`
	Answers      int      `json:"answers"`
	Cost         *float64 `json:"totalCost"` // null without any price
	Unpriced     int64    `json:"unpricedTokens,omitempty"`
	Missing      []string `json:"unpricedModels,omitempty"`
}

func newTokensJSON(s usage.Sum) tokensJSON {
	cost := &s.Cost
	if s.Cost == 0 && len(s.Missing) > 0 {
		cost = nil
	}
	return tokensJSON{
		s.Input, s.Output, s.CacheWrite(), s.CacheWrite5m, s.CacheWrite1h, s.CacheRead, s.Total(), s.WebSearches,
		s.Answers, cost, s.Unpriced.Total(), s.Missing,
	}
}

type modelJSON struct {
	Name string `json:"modelName"`
	tokensJSON
}

type rowJSON struct {
	Hour    *string `json:"hour,omitempty"`
	Date    *string `json:"date,omitempty"`
	Week    *string `json:"week,omitempty"`
	Month   *string `json:"month,omitempty"`
	Session *string `json:"sessionId,omitempty"`
	Model   *string `json:"model,omitempty"`
	Branch  *string `json:"branch,omitempty"`
	Agent   *string `json:"agentId,omitempty"`
	Project *string `json:"project,omitempty"`

	Provider string `json:"provider"` // the agent
	tokensJSON
	Sessions int         `json:"sessions"`
	First    time.Time   `json:"firstActivity"`
	Last     time.Time   `json:"lastActivity"`
	Models   []string    `json:"modelsUsed"`
	ByModel  []modelJSON `json:"modelBreakdowns"`
	Bill     *billJSON   `json:"bill,omitempty"`
}

// billJSON is the CLI's own bill of a session.
type billJSON struct {
	Cost       float64   `json:"totalCost"`
	Tokens     int64     `json:"totalTokens"`
	Difference float64   `json:"difference"` // the additional amount of the bill for the same answers
	Why        usage.Why `json:"why"`
	Fork       bool      `json:"fork,omitempty"`
}

func newRowJSON(by usage.By, r *usage.Row) rowJSON {
	j := rowJSON{
		Provider: r.Provider, tokensJSON: newTokensJSON(r.Sum), Sessions: r.Sessions, First: r.First, Last: r.Last,
		Models: []string{}, ByModel: []modelJSON{},
	}
	for _, m := range r.Models {
		j.Models = append(j.Models, m.Model)
		j.ByModel = append(j.ByModel, modelJSON{m.Model, newTokensJSON(m.Sum)})
	}
	slices.Sort(j.Models)
	switch by {
	case usage.ByHour:
		j.Hour = &r.Key
	case usage.ByDay:
		j.Date = &r.Key
	case usage.ByWeek:
		j.Week = &r.Key
	case usage.ByMonth:
		j.Month = &r.Key
	case usage.BySession:
		j.Session, j.Project = &r.Key, &r.Project
	case usage.ByModel:
		j.Model = &r.Key
	case usage.ByBranch:
		j.Branch = &r.Key
	case usage.ByAgent:
		j.Agent = &r.Key
	case usage.ByProject:
		j.Project = &r.Key
	}
	return j
}

func (f *reportFlags) writeJSON(to *term.Pen, r report, v usage.View, l *usage.Ledger) error {
	out := map[string]any{"timezone": v.Location.String()}
	if r.by == "" {
		rows := []blockJSON{}
		for _, b := range f.blocks(v, l) {
			rows = append(rows, newBlockJSON(&b))
		}
		out[r.name] = rows
	} else {
		report := l.Report(r.by, v)
		bills := map[string]*usage.Bill{}
		if r.by == usage.BySession {
			bills = billsOf(l, v)
		}
		rows := []rowJSON{}
		for _, row := range f.lastRows(report) {
			j := newRowJSON(r.by, &row)
			if b := bills[row.Key]; b != nil && row.Provider == usage.Claude {
				j.Bill = &billJSON{b.Billed.Cost, b.Billed.Total(), b.Difference(), b.Why, b.Fork}
			}
			rows = append(rows, j)
		}
		out[r.name], out["totals"] = rows, newTokensJSON(report.Total.Sum)
	}
	if n := l.Stats().BadLines; n > 0 {
		out["badLines"] = n
	}
	indent := "  "
	if f.live { // one line each
		indent = ""
	}
	return errors.Join(to.Encode(out, indent), to.Err)
}

func billsOf(l *usage.Ledger, v usage.View) map[string]*usage.Bill {
	bills := map[string]*usage.Bill{}
	list := l.Reconcile(v).Bills
	for i := range list {
		bills[list[i].Session] = &list[i]
	}
	return bills
}

// blockJSON is a block of five hours.
type blockJSON struct {
	Provider string    `json:"provider"`
	Start    time.Time `json:"startTime"`
	End      time.Time `json:"endTime"`
	Gap      bool      `json:"isGap"`
	Active   bool      `json:"isActive"`
	tokensJSON
	First    *time.Time      `json:"firstActivity"`
	Last     *time.Time      `json:"lastActivity"`
	Models   []string        `json:"models"`
	Burn     *burnJSON       `json:"burnRate"`
	Expected *projectionJSON `json:"projection"`
}

type burnJSON struct {
	TokensPerMinute float64 `json:"tokensPerMinute"`
	WithoutCache    float64 `json:"tokensPerMinuteWithoutCache"`
	CostPerHour     float64 `json:"costPerHour"`
}

type projectionJSON struct {
	Remaining float64 `json:"remainingMinutes"`
	Tokens    int64   `json:"totalTokens"`
	Cost      float64 `json:"totalCost"`
}

func newBlockJSON(b *agentBlock) blockJSON {
	j := blockJSON{Provider: b.agent, Start: b.Start, End: b.End, Gap: b.Gap, Active: b.Active, tokensJSON: newTokensJSON(b.Sum), Models: b.Models}
	if !b.Gap {
		j.First, j.Last = &b.First, &b.Last
	}
	if j.Models == nil {
		j.Models = []string{}
	}
	if b.Burn != nil {
		j.Burn = &burnJSON{b.Burn.TokensPerMinute, b.Burn.WithoutCache, b.Burn.CostPerHour}
	}
	if b.Expected != nil {
		j.Expected = &projectionJSON{b.Expected.Remaining.Minutes(), b.Expected.Tokens, b.Expected.Cost}
	}
	return j
}
