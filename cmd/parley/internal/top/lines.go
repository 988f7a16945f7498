package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/cell"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/server/api"
)

// unknown is the text for an unknown number.
const unknown = "–"

// Lines lays out a frame for a terminal of this size; 0 means no limit. Untrusted text is
// sanitized, and no line is wider than the terminal.
func (f Frame) Lines(columns, rows int, pen *term.Pen) []string {
	lines := []string{pen.Paint(term.Bold, fit(f.head(), columns)), fit(f.numbers(), columns)}
	if f.Problem != "" {
		lines = append(lines, pen.Paint(term.Red, fit(clean(f.Problem), columns)))
	}
	for _, b := range f.Budgets {
		lines = append(lines, budgetLine(b, columns, pen))
	}
	lines = append(lines, "")
	shown, more := f.Sessions, 0
	if room := rows - len(lines) - 3; rows > 0 && len(shown) > room { // two lines for the table's head, one for the rest
		more = len(shown) - max(room, 0)
		shown = shown[:max(room, 0)]
	}
	lines = append(lines, sessionTable(shown).Render(columns, pen)...)
	if more > 0 {
		lines = append(lines, pen.Paint(term.Dim, fit(fmt.Sprintf("and %d more", more), columns)))
	}
	if rows > 0 && len(lines) > rows {
		lines = lines[:rows]
	}
	return lines
}

// clean sanitizes untrusted text for part of a line.
func clean(s string) string { return strings.Join(strings.Fields(cell.Sanitize(s)), " ") }

func fit(s string, columns int) string {
	if columns <= 0 {
		return s
	}
	return term.Shorten(s, columns)
}

func (f Frame) head() string {
	name := "parley"
	if f.Metrics.Version != "" {
		name += " " + clean(f.Metrics.Version)
	}
	return fmt.Sprintf("%s · %s · %s", name, clean(f.Server), f.At.Format(time.TimeOnly))
}

// numbers returns the line with totals of the server.
func (f Frame) numbers() string {
	m := f.Metrics
	prompts, queued := int64(0), int64(0)
	for _, s := range f.Sessions {
		prompts, queued = prompts+s.Prompts, queued+s.Queued
	}
	parts := []string{fmt.Sprintf("agents %s of %s, %s waiting", number(m.Agents), number(m.AgentsMax), number(m.Waiting)),
		fmt.Sprintf("sessions %d", len(f.Sessions)), fmt.Sprintf("requests %d", prompts), fmt.Sprintf("queued %d", queued)}
	if m.Memory != nil {
		parts = append(parts, fmt.Sprintf("memory %.0f MB", *m.Memory/(1<<20)))
	}
	if m.P99 != nil {
		parts = append(parts, "p99 "+seconds(*m.P99))
	}
	return strings.Join(parts, " · ")
}

func number(v *float64) string {
	if v == nil {
		return unknown
	}
	return fmt.Sprintf("%.0f", *v)
}

func seconds(v float64) string {
	if v < 1 {
		return fmt.Sprintf("%.1f ms", v*1000)
	}
	return fmt.Sprintf("%.1f s", v)
}

// barWidth is the width of the bar of a budget.
const barWidth = 20

// budgetLine shows the used part of a limit.
func budgetLine(b api.Budget, columns int, pen *term.Pen) string {
	part, amount := 0.0, ""
	if b.LimitUSD != nil {
		spent := 0.0
		if b.SpentUSD != nil {
			spent = *b.SpentUSD
		}
		part, amount = share(spent, *b.LimitUSD), fmt.Sprintf("$%.2f of $%.2f", spent, *b.LimitUSD)
	} else if b.LimitTokens != nil {
		part, amount = share(float64(b.SpentTokens), float64(*b.LimitTokens)), fmt.Sprintf("%s of %s tokens", Count(b.SpentTokens), Count(*b.LimitTokens))
	}
	name := strings.TrimSpace(b.Scope + " " + b.Target)
	if b.Period != "" {
		name += " per " + b.Period
	}
	if b.Of != "" {
		name += " (" + b.Of + ")"
	}
	full := int(part*barWidth + 0.5)
	bar := strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
	look := term.Green
	switch b.Level {
	case "warning":
		look = term.Yellow
	case "exceeded":
		look = term.Red
	}
	return pen.Paint(look, fit(fmt.Sprintf("%s %3.0f %%  %s  %s", bar, part*100, amount, clean(name)), columns))
}

// share returns the used fraction of a limit, at most 1.
func share(n, of float64) float64 {
	if of <= 0 {
		return 1
	}
	return min(max(n/of, 0), 1)
}

// Count formats a number of tokens in few characters.
func Count(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

func sessionTable(rows []Session) *term.Table {
	t := &term.Table{Columns: []term.Column{
		{Title: "session", Least: 8}, {Title: "state", Least: 8}, {Title: "agent", Drop: 7}, {Title: "model", Min: 12, Drop: 5},
		{Title: "tokens", Right: true, Drop: 4}, {Title: "cost", Right: true, Drop: 2}, {Title: "asks", Right: true, Drop: 1},
		{Title: "queued", Right: true, Drop: 6}, {Title: "title", Min: 12, Drop: 3},
	}}
	for _, s := range rows {
		state := clean(s.State)
		if s.LimitedUntil != "" {
			state += " (rate limit)"
		}
		used, cost := unknown, unknown
		if s.Tokens != nil {
			used = Count(*s.Tokens)
		}
		if s.CostUSD != nil {
			cost = fmt.Sprintf("$%.2f", *s.CostUSD)
		}
		t.Rows = append(t.Rows, []string{clean(s.SessionID), state, clean(s.Provider), clean(s.Model), used, cost, fmt.Sprint(s.Prompts), fmt.Sprint(s.Queued), clean(s.Title)})
	}
	return t
}
