package usage_test

import (
	"slices"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/transcript/usage"
)

// TestLedger_Add reports answers of another agent in separate rows and in the total; answers
// without a price have no cost.
func TestLedger_Add(t *testing.T) {
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	l := usage.New()
	l.Add("codex", slices.Values([]usage.Answer{
		{Time: at, Session: "one", Project: "/p", Model: "gpt-x", Tokens: usage.Tokens{Input: 10, Output: 5}},
		{Time: at, Session: "two", Project: "/q", Model: "gpt-x", Tokens: usage.Tokens{Input: -1, Output: 7}},
	}))
	l.Add("other", slices.Values([]usage.Answer{{Time: at, Session: "one", Project: "/p", Model: "claude-sonnet-5", Tokens: usage.Tokens{Output: 1_000_000}}}))
	l.Add("codex", slices.Values([]usage.Answer{{Time: at.AddDate(0, 0, 1), Session: "one", Project: "/p", Model: "gpt-x", Tokens: usage.Tokens{Input: 1}}}))
	if err := l.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := l.Report(usage.ByDay, usage.View{Location: time.UTC})
	var got []string
	for _, row := range r.Rows {
		got = append(got, row.Key+" "+row.Provider)
	}
	if want := []string{"2026-05-04 codex", "2026-05-04 other", "2026-05-05 codex"}; !slices.Equal(got, want) {
		t.Errorf("rows %q", got)
	}
	if first := r.Rows[0]; first.Total() != 22 || first.Cost != 0 || !slices.Equal(first.Missing, []string{"gpt-x"}) || first.Sessions != 2 {
		t.Errorf("the first row: %+v", first)
	}
	if r.Rows[1].Cost != 10 || r.Total.Total() != 1_000_023 || r.Total.Cost != 10 {
		t.Errorf("the second: %+v, the total: %+v", r.Rows[1], r.Total)
	}
	if only := l.Report(usage.ByProject, usage.View{Provider: "codex", Project: "/p"}); len(only.Rows) != 1 || only.Total.Total() != 16 {
		t.Errorf("a view of one agent and project: %+v", only)
	}
	if bills := l.Reconcile(usage.View{}); len(bills.Bills) != 0 || bills.Without != 0 {
		t.Errorf("bills of an agent that writes none: %+v", bills)
	}
	if s := l.Stats(); s.Answers != 4 || s.Files != 0 {
		t.Errorf("%+v; want s.Answers == 4 and s.Files == 0", s)
	}
}
