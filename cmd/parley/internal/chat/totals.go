package chat

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/transcript/usage"
)

// totals sums the usage of a conversation.
type totals struct {
	turns    int64
	duration time.Duration
	model    string
	tokens   usage.Tokens // of the turns
	last     *event.ResultMessage
}

func (t *totals) add(m *event.ResultMessage) {
	t.turns += m.NumTurns
	t.duration += time.Duration(m.DurationMS) * time.Millisecond
	t.tokens.Add(usage.Tokens{
		Input: int64(m.Usage.Number("input_tokens")), Output: int64(m.Usage.Number("output_tokens")),
		CacheRead: int64(m.Usage.Number("cache_read_input_tokens")), CacheWrite5m: int64(m.Usage.Number("cache_creation_input_tokens")),
	})
	t.last = m
}

// String returns the summary that is shown at the end, or "" before the first result. It contains a
// cost only if the agent reports it or the model has a known price.
func (t *totals) String() string {
	if t.last == nil {
		return ""
	}
	var models map[string]struct {
		InputTokens, OutputTokens, CacheReadInputTokens, CacheCreationInputTokens int64
	}
	sum := t.tokens
	if t.last.ModelUsage.Decode(&models) == nil && len(models) > 0 { // of the whole session
		sum = usage.Tokens{}
		for _, u := range models {
			sum.Add(usage.Tokens{Input: u.InputTokens, Output: u.OutputTokens, CacheRead: u.CacheReadInputTokens, CacheWrite5m: u.CacheCreationInputTokens})
		}
	}
	tokens := fmt.Sprintf("%s in, %s out, %s cache read", term.Count(sum.Input), term.Count(sum.Output), term.Count(sum.CacheRead))
	if t.last.TotalCostUSD != nil || sum.CacheWrite5m > 0 {
		tokens += ", " + term.Count(sum.CacheWrite5m) + " cache write"
	}
	parts := []string{term.Plural(t.turns, "turn")}
	if t.duration > 0 || t.turns == 0 { // agents of the Agent Client Protocol do not report it
		parts = append(parts, term.Seconds(t.duration))
	}
	parts = append(append(parts, tokens), t.cost()...)
	if t.last.TotalCostUSD == nil && t.model != "" {
		parts = append(parts, term.OneLine(t.model))
	}
	for _, model := range slices.Sorted(maps.Keys(models)) {
		parts = append(parts, term.OneLine(model))
	}
	return strings.Join(parts, " · ")
}

// cost returns the cost of the conversation, if it is known.
func (t *totals) cost() []string {
	if cost := t.last.TotalCostUSD; cost != nil {
		return []string{fmt.Sprintf("$%.4f", *cost)}
	}
	l := usage.New()
	l.Add("codex", func(yield func(usage.Answer) bool) { yield(usage.Answer{Model: t.model, Tokens: t.tokens}) })
	if total := l.Report(usage.ByModel, usage.View{}).Total; len(total.Missing) == 0 && total.Cost > 0 {
		return []string{fmt.Sprintf("$%.4f", total.Cost)}
	}
	return nil
}
