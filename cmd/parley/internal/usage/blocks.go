package usage

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/history"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/transcript/usage"
)

// agentBlock is a block of one agent, because the limits of agents are independent.
type agentBlock struct {
	agent string
	usage.Block
}

// blocks returns the blocks that the flags select.
func (f *reportFlags) blocks(v usage.View, l *usage.Ledger) (blocks []agentBlock) {
	for _, v.Provider = range l.Providers() {
		for _, b := range l.Blocks(v, f.now()) {
			blocks = append(blocks, agentBlock{v.Provider, b})
		}
	}
	slices.SortStableFunc(blocks, func(a, b agentBlock) int { return a.Start.Compare(b.Start) })
	if f.activeOnly {
		blocks = slices.DeleteFunc(blocks, func(b agentBlock) bool { return !b.Active })
	}
	if f.last > 0 && f.last < len(blocks) {
		blocks = blocks[len(blocks)-f.last:]
	}
	return blocks
}

func blockTable(blocks []agentBlock, several bool) *term.Table {
	t := &term.Table{Columns: []term.Column{
		{Title: "block", Least: 16}, {Title: "models", Min: 12, Drop: 5}, {Title: "input", Right: true, Drop: 3}, {Title: "output", Right: true, Drop: 2},
		{Title: "tokens", Right: true}, {Title: "a minute", Right: true, Drop: 4}, {Title: "an hour", Right: true, Drop: 1}, {Title: "cost", Right: true},
	}}
	for _, b := range blocks {
		t.Rows = append(t.Rows, history.WithAgent(blockCells(&b.Block), b.agent, several))
		if b.Expected != nil {
			t.Rows = append(t.Rows, history.WithAgent([]string{
				fmt.Sprintf("  at its end, in %s", shortDuration(b.Expected.Remaining)), "", "", "", grouped(b.Expected.Tokens), "", "", dollars(b.Expected.Cost),
			}, "", several))
		}
	}
	sum := sumOf(blocks)
	t.Total = history.WithAgent([]string{"total", "", grouped(sum.Input), grouped(sum.Output), grouped(sum.Total()), "", "", costCell(sum)}, "", several)
	if several {
		t.Columns = slices.Insert(t.Columns, 1, term.Column{Title: "agent"})
	}
	return t
}

func blockCells(b *usage.Block) []string {
	const minutes = "2006-01-02 15:04"
	if b.Gap {
		return []string{fmt.Sprintf("  %s without an answer", shortDuration(b.End.Sub(b.Start)))}
	}
	name := b.Start.Format(minutes) + "–" + b.End.Format("15:04")
	if b.Active {
		name += " now"
	}
	var models []string
	for _, m := range b.Models {
		models = append(models, shortModel(m))
	}
	rate, hourly := "", ""
	if b.Burn != nil {
		rate, hourly = grouped(int64(b.Burn.TokensPerMinute)), dollars(b.Burn.CostPerHour)
	}
	return []string{name, strings.Join(models, ", "), grouped(b.Input), grouped(b.Output), grouped(b.Total()), rate, hourly, costCell(b.Sum)}
}

// sumOf adds up blocks.
func sumOf(blocks []agentBlock) usage.Sum {
	var s usage.Sum
	for _, b := range blocks {
		s.Add(b.Tokens)
		s.Answers += b.Answers
		s.Cost += b.Cost
		s.Unpriced.Add(b.Unpriced)
		for _, m := range b.Missing {
			if !slices.Contains(s.Missing, m) {
				s.Missing = append(s.Missing, m)
			}
		}
	}
	slices.Sort(s.Missing)
	return s
}

// shortDuration returns a time in days and hours, or hours and minutes.
func shortDuration(d time.Duration) string {
	d = d.Round(time.Minute)
	if days := d / (24 * time.Hour); days > 0 {
		return fmt.Sprintf("%dd %dh", days, d%(24*time.Hour)/time.Hour)
	}
	return fmt.Sprintf("%dh %dm", d/time.Hour, d%time.Hour/time.Minute)
}
