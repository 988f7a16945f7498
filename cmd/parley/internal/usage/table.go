package usage

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/history"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/transcript/usage"
)

// lines returns the report as text, and notes about it.
func (f *reportFlags) lines(to *term.Pen, r report, v usage.View, l *usage.Ledger) (lines, notes []string) {
	if r.by == "" {
		blocks := f.blocks(v, l)
		if len(blocks) == 0 {
			return []string{"no answers"}, nil
		}
		return blockTable(blocks, len(l.Providers()) > 1).Render(to.Width, to), f.notes(sumOf(blocks), nil, l)
	}
	report := l.Report(r.by, v)
	if len(report.Rows) == 0 {
		return []string{"no answers"}, f.notes(usage.Sum{}, nil, l)
	}
	// A bill is for a whole session, so it cannot be compared with a part.
	var bills *usage.Reconciliation
	if v.Since.IsZero() && v.Until.IsZero() && v.Model == "" && slices.Contains(l.Providers(), usage.Claude) {
		bills = l.Reconcile(v)
	}
	lines = f.table(report, bills).Render(to.Width, to)
	if r.by == usage.ByDay && (f.plot || to.TTY && !f.changed("plot")) {
		if chart := costChart(f.lastRows(report)).Render(to.Width); chart != nil {
			lines = append(append(lines, ""), chart...)
		}
	}
	return lines, f.notes(report.Total.Sum, bills, l)
}

// lastRows returns the rows that --last keeps: the newest, or the first ones in another
// order.
func (f *reportFlags) lastRows(r *usage.Report) []usage.Row {
	n := f.last
	if n == 0 || n >= len(r.Rows) {
		return r.Rows
	}
	switch r.By {
	case usage.ByHour, usage.ByDay, usage.ByWeek, usage.ByMonth:
		return r.Rows[len(r.Rows)-n:]
	}
	return r.Rows[:n]
}

var rowTitles = map[usage.By]string{
	usage.ByHour: "hour", usage.ByDay: "day", usage.ByWeek: "week of", usage.ByMonth: "month", usage.BySession: "session",
	usage.ByProject: "project", usage.ByModel: "model", usage.ByBranch: "branch", usage.ByAgent: "agent",
}

// rowColumns returns the columns of a report. The name of a row, its tokens and its cost
// are always shown.
func rowColumns(by usage.By) []term.Column {
	columns := []term.Column{{Title: rowTitles[by], Least: 10}}
	if by == usage.BySession {
		columns[0].Min = 9
		columns = append(columns, term.Column{Title: "project", Min: 10, Drop: 2}, term.Column{Title: "last", Drop: 3})
	}
	if by != usage.ByModel {
		columns = append(columns, term.Column{Title: "models", Min: 12, Drop: 5})
	}
	return append(columns,
		term.Column{Title: "input", Right: true, Drop: 7}, term.Column{Title: "output", Right: true, Drop: 6},
		term.Column{Title: "cache write", Right: true, Drop: 9}, term.Column{Title: "cache read", Right: true, Drop: 8},
		term.Column{Title: "tokens", Right: true}, term.Column{Title: "cost", Right: true})
}

func (f *reportFlags) table(r *usage.Report, bills *usage.Reconciliation) *term.Table {
	t := &term.Table{Columns: rowColumns(r.By)}
	ofSession := map[string]*usage.Bill{}
	if r.By == usage.BySession && bills != nil {
		t.Columns = append(t.Columns, term.Column{Title: "bill", Right: true, Drop: 4})
		for i := range bills.Bills {
			ofSession[bills.Bills[i].Session] = &bills.Bills[i]
		}
	}
	several := slices.ContainsFunc(r.Rows, func(row usage.Row) bool { return row.Provider != r.Rows[0].Provider })
	for _, row := range f.lastRows(r) {
		cells := append(rowHead(r.By, &row), sumCells(row.Sum)...)
		if b := ofSession[row.Key]; b != nil && row.Provider == usage.Claude {
			cells = append(cells, billCell(b))
		}
		t.Rows = append(t.Rows, history.WithAgent(cells, row.Provider, several))
		for _, m := range row.Models {
			if f.breakdown && r.By != usage.ByModel {
				t.Rows = append(t.Rows, history.WithAgent(append(modelHead(r.By, m.Model), sumCells(m.Sum)...), "", several))
			}
		}
	}
	head := make([]string, len(rowHead(r.By, &r.Total)))
	if head[0] = "total"; len(f.lastRows(r)) < len(r.Rows) {
		head[0] = "total of all"
	}
	t.Total = history.WithAgent(append(head, sumCells(r.Total.Sum)...), "", several)
	if several {
		t.Columns = slices.Insert(t.Columns, 1, term.Column{Title: "agent"})
	}
	return t
}

// rowHead returns the cells before the numbers.
func rowHead(by usage.By, r *usage.Row) []string {
	var models []string
	for _, m := range r.Models {
		models = append(models, shortModel(m.Model))
	}
	name := term.OneLine(r.Key)
	switch {
	case by == usage.ByHour && len(name) >= len("2006-01-02T15:00"):
		name = name[:10] + " " + name[11:16]
	case name == "" && by == usage.ByAgent:
		name = "(main)"
	case name == "":
		name = "(none)"
	}
	cells := []string{name}
	if by == usage.BySession {
		cells = append(cells, term.OneLine(shortProject(r.Project)), r.Last.Format("2006-01-02 15:04"))
	}
	if by != usage.ByModel {
		cells = append(cells, strings.Join(models, ", "))
	}
	return cells
}

func modelHead(by usage.By, model string) []string {
	cells := []string{"  " + term.OneLine(model), ""}
	if by == usage.BySession {
		cells = append(cells, "", "")
	}
	return cells
}

// shortProject returns the last part of a project's directory.
func shortProject(dir string) string {
	return path.Base(strings.ReplaceAll(dir, `\`, "/"))
}

// shortModel returns a model's name without the common prefix.
func shortModel(model string) string {
	name := strings.TrimPrefix(term.OneLine(model), "claude-")
	if i := strings.LastIndex(name, "-20"); i > 0 && len(name)-i == len("-20260131") {
		name = name[:i]
	}
	return name
}

func sumCells(s usage.Sum) []string {
	return []string{grouped(s.Input), grouped(s.Output), grouped(s.CacheWrite()), grouped(s.CacheRead), grouped(s.Total()), costCell(s)}
}

// costCell marks a sum that includes tokens without a price.
func costCell(s usage.Sum) string {
	switch {
	case len(s.Missing) > 0 && s.Cost == 0:
		return "?"
	case len(s.Missing) > 0:
		return dollars(s.Cost) + "+?"
	}
	return dollars(s.Cost)
}

func billCell(b *usage.Bill) string {
	if b.Why == usage.WhyEqual {
		return "="
	}
	return signed(b.Difference())
}

// signed returns an amount with its sign, unless it rounds to zero.
func signed(v float64) string {
	if text := dollars(v); v < 0 || text == dollars(0) {
		return text
	}
	return "+" + dollars(v)
}

// dollars returns an amount in cents; an amount that rounds to zero has no sign.
func dollars(v float64) string {
	whole, cents, _ := strings.Cut(strconv.FormatFloat(math.Abs(v), 'f', 2, 64), ".")
	text := "$" + whole + "." + cents // infinite, or not a number
	if n, err := strconv.ParseInt(whole, 10, 64); err == nil {
		text = "$" + grouped(n) + "." + cents
	}
	if v < 0 && text != "$0.00" {
		return "-" + text
	}
	return text
}

// grouped returns a number with a comma at every thousand.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// costChart returns the cost of every day from the first to the last, including days
// without answers.
func costChart(rows []usage.Row) *term.Chart {
	c := &term.Chart{Title: "cost by day", Each: "day", Height: 6, Format: dollars}
	if len(rows) == 0 {
		return c
	}
	costs := map[string]float64{}
	for _, r := range rows {
		costs[r.Key] += r.Cost // of all agents
	}
	c.First, c.Last = rows[0].Key, rows[len(rows)-1].Key
	day, err := time.Parse(time.DateOnly, c.First)
	for ; err == nil; day = day.AddDate(0, 0, 1) {
		k := day.Format(time.DateOnly)
		c.Values = append(c.Values, costs[k])
		if k >= c.Last {
			break
		}
	}
	return c
}

// notes explains the limits of the numbers.
func (f *reportFlags) notes(s usage.Sum, bills *usage.Reconciliation, l *usage.Ledger) []string {
	var notes []string
	if len(s.Missing) > 0 {
		notes = append(notes, fmt.Sprintf("%s tokens have no price and are in no cost: %s; --prices FILE gives one",
			grouped(s.Unpriced.Total()), strings.Join(s.Missing, ", ")))
	}
	if bills != nil && len(bills.Bills) > 0 {
		notes = append(notes, billNote(bills))
	}
	stats := l.Stats()
	if stats.BadLines > 0 {
		notes = append(notes, term.Plural(stats.BadLines, "line")+" could not be read")
	}
	for _, err := range stats.Problems {
		notes = append(notes, err.Error())
	}
	return notes
}

func billNote(r *usage.Reconciliation) string {
	text := fmt.Sprintf("the CLI's own bills: %d of %d are equal", r.ByReason[usage.WhyEqual], len(r.Bills))
	sums := map[usage.Why]float64{}
	for _, b := range r.Different() {
		sums[b.Why] += b.Difference()
	}
	for _, why := range slices.SortedFunc(maps.Keys(sums), func(a, b usage.Why) int {
		return int(math.Copysign(1, math.Abs(sums[b])-math.Abs(sums[a])))
	}) {
		text += fmt.Sprintf("; %s in %d: %s", signed(sums[why]), r.ByReason[why], why)
	}
	if r.Without > 0 {
		text += "; " + term.Plural(int64(r.Without), "session") + " without a bill"
	}
	return text
}
