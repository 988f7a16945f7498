package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
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
	parts := []string{term.Plural(t.turns, "turn"), term.Seconds(t.duration), t.tokens(), fmt.Sprintf("$%.4f", t.last.TotalCostUSD)}
	for _, model := range slices.Sorted(maps.Keys(t.last.ModelUsage)) {
		parts = append(parts, term.OneLine(model))
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
	return fmt.Sprintf("%s in, %s out, %s cache read, %s cache write", term.Count(in), term.Count(out), term.Count(read), term.Count(written))
}
