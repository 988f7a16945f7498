package item_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/codex/item"
)

func TestOutput(t *testing.T) {
	const mib = 1 << 20
	cut := strings.Repeat("a", mib/2) + "\n... 240319 bytes omitted ...\n" + strings.Repeat("b", mib/2)
	whole := strings.Repeat("a", mib/2) + strings.Repeat("x", 240319) + strings.Repeat("b", mib/2)
	forged := "\n... 5 bytes omitted ...\n"
	tests := []struct {
		name, deltas string
		aggregated   *string
		want         string
		truncated    bool
	}{
		{"running", "so far", nil, "so far", true},
		{"the start is missing in the deltas", "err\n", new("out\nerr\n"), "out\nerr\n", false},
		{"no deltas", "", new("all"), "all", false},
		{"empty", "", new(""), "", false},
		{"cut, the deltas have it all", whole, &cut, whole, true},
		{"cut, the deltas have less", "few", &cut, cut, true},
		{"cut, the deltas have as much", strings.Repeat("d", len(cut)), &cut, cut, true},
		{"a marker of the command", "longer than that, by far, it really is", &forged, forged, false},
	}
	for _, tt := range tests {
		got, truncated := item.Output(tt.deltas, tt.aggregated)
		if got != tt.want || truncated != tt.truncated {
			t.Errorf("%s: %d bytes, %v", tt.name, len(got), truncated)
		}
	}
}

func TestPartial(t *testing.T) {
	p := item.NewPartial(&item.Reasoning{ItemHead: item.ItemHead{ID: "r"}})
	p.Add(&item.ReasoningSummaryDelta{SummaryIndex: 1, Delta: "b"})
	p.Add(&item.ReasoningSummaryDelta{SummaryIndex: 0, Delta: "a"})
	p.Add(&item.ReasoningSummaryDelta{SummaryIndex: 1 << 60, Delta: "never"})
	p.Add(&item.ReasoningTextDelta{Delta: "raw"})
	if r := p.Item().(*item.Reasoning); fmt.Sprint(r.Summary, r.Content) != "[a b] [raw]" || r.ID != "r" {
		t.Errorf("%+v; want fmt.Sprint(r.Summary, r.Content) == \"[a b] [raw]\" and r.ID == \"r\"", r)
	}
	m := item.NewPartial(&item.AgentMessage{})
	for range 3 {
		m.Add(&item.AgentMessageDelta{Delta: "x"})
	}
	if got := m.Item().(*item.AgentMessage).Text; got != "xxx" {
		t.Errorf("got is %v; want got == \"xxx\"", got)
	}
	const most = 10_000
	for index, want := range map[int64]int{-1: 0, 0: 1, most - 1: most, most: 0} {
		r := item.NewPartial(&item.Reasoning{})
		r.Add(&item.ReasoningTextDelta{ContentIndex: index, Delta: "x"})
		if got := len(r.Item().(*item.Reasoning).Content); got != want {
			t.Errorf("a delta of part %d makes %d parts, want %d", index, got, want)
		}
	}
	changes := []item.Change{{Path: "new"}}
	file := &item.FileChange{Changes: []item.Change{{Path: "old"}}}
	f := item.NewPartial(file)
	f.Add(&item.FileChangePatchUpdated{Changes: changes})
	if got := f.Item().(*item.FileChange).Changes; len(got) != 1 || got[0].Path != "new" || file.Changes[0].Path != "old" {
		t.Errorf("a changed patch is %+v, and the one at the start %+v", got, file.Changes)
	}
	plan := item.NewPartial(&item.Plan{Text: "start"})
	plan.Add(&item.FileChangePatchUpdated{Changes: changes}) // of another item
	if got := plan.Item().(*item.Plan).Text; got != "start" {
		t.Errorf("a plan without a delta is %q, want its start", got)
	}
	plan.Add(&item.PlanDelta{Delta: "p"})
	if got := plan.Item().(*item.Plan).Text; got != "p" || plan.Text() != "p" {
		t.Errorf("a plan with a delta is %q, want the delta", got)
	}
	c := item.NewPartial(&item.CommandExecution{})
	c.Add(&item.CommandOutputDelta{Delta: "o"})
	if got := c.Item().(*item.CommandExecution).AggregatedOutput; got == nil || *got != "o" {
		t.Errorf("the output of a command is %v, want o", got)
	}
	c = item.NewPartial(&item.CommandExecution{})
	if c.Item().(*item.CommandExecution).AggregatedOutput != nil {
		t.Error("an output without a delta")
	}
}

// TestDecode_bad checks that a text that is not exactly one object is rejected with an error that
// quotes its start.
func TestDecode_bad(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for text, want := range map[string]string{"": "", "1": "not a JSON object", `"` + long + `"`: "not a JSON object", `{"type":"plan"`: "", `{"type":"plan"}x`: "", `[{"type":"plan"}]`: "not a JSON object"} {
		i, err := item.Decode([]byte(text))
		e, ok := errors.AsType[*item.DecodeError](err)
		if !ok || i != nil || !strings.HasPrefix(text, e.Text) || len(e.Text) > 4096 || !strings.Contains(err.Error(), want) || e.Unwrap() == nil {
			t.Errorf("%.30q is %v, %v; want an error with %q", text, i, err, want)
		}
	}
}
