package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
)

// totals is what a run has used. Turns and time are added up; tokens and cost
// are totals of the process already.
type totals struct {
	turns    int64
	duration time.Duration
	last     *message.Result
}

func (t *totals) add(m *message.Result) {
	t.turns += m.NumTurns
	t.duration += time.Duration(m.DurationMS) * time.Millisecond
	t.last = m
}

// String is the line at the end, "" before there is a result.
func (t *totals) String() string {
	if t.last == nil {
		return ""
	}
	parts := []string{plural(t.turns, "turn"), seconds(t.duration), t.tokens(), fmt.Sprintf("$%.4f", t.last.TotalCostUSD)}
	for _, model := range slices.Sorted(maps.Keys(t.last.ModelUsage)) {
		parts = append(parts, oneLine(model))
	}
	return strings.Join(parts, " · ")
}

func (t *totals) tokens() string {
	var in, out, read, written int64
	for _, u := range t.last.ModelUsage {
		in += u.InputTokens
		out += u.OutputTokens
		read += u.CacheReadInputTokens
		written += u.CacheCreationInputTokens
	}
	if u := t.last.Usage; len(t.last.ModelUsage) == 0 && u != nil {
		in, out, read, written = u.InputTokens, u.OutputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens
	}
	return fmt.Sprintf("%s in, %s out, %s cache read, %s cache write", count(in), count(out), count(read), count(written))
}

// count is a number of tokens in short.
func count(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
