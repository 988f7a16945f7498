package item_test

import (
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
		t.Errorf("%+v", r)
	}
	m := item.NewPartial(&item.AgentMessage{})
	for range 3 {
		m.Add(&item.AgentMessageDelta{Delta: "x"})
	}
	if got := m.Item().(*item.AgentMessage).Text; got != "xxx" {
		t.Error(got)
	}
	c := item.NewPartial(&item.CommandExecution{})
	if c.Item().(*item.CommandExecution).AggregatedOutput != nil {
		t.Error("an output without a delta")
	}
}
