package top_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/cell"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/top"
	"github.com/seed7221b0f9/parley/server/api"
)

const metricsText = `# HELP parley_agents_running Agents that run.
parley_agents_running 2
parley_agents_max 8
parley_agents_waiting 1
parley_queued_inputs 3
parley_open_requests 1
parley_memory_bytes 8.8080384e+07
parley_request_duration_seconds_bucket{le="0.001"} 50
parley_request_duration_seconds_bucket{le="0.01"} 98
parley_request_duration_seconds_bucket{le="0.1"} 100
parley_request_duration_seconds_bucket{le="+Inf"} 100
parley_build_info{version="1.2.3"} 1
nonsense
parley_connections many
`

func TestParseMetrics(t *testing.T) {
	m := top.ParseMetrics(metricsText)
	if *m.Agents != 2 || *m.AgentsMax != 8 || *m.Waiting != 1 || *m.Queued != 3 || *m.Requests != 1 || *m.Memory != 84<<20 || m.Version != "1.2.3" {
		t.Errorf("the metrics are %+v", m)
	}
	if m.Connections != nil {
		t.Errorf("a value that is not a number was taken: %v", *m.Connections)
	}
	if m.P99 == nil || math.Abs(*m.P99-0.055) > 1e-9 { // half-way from 98 to 100
		t.Errorf("p99 is %v", m.P99)
	}
	for text, want := range map[string]float64{
		"parley_request_duration_seconds_bucket{le=\"1\"} 0\nparley_request_duration_seconds_bucket{le=\"+Inf\"} 10":  1, // all values are above the last bound
		"parley_request_duration_seconds_bucket{le=\"1\"} 10\nparley_request_duration_seconds_bucket{le=\"+Inf\"} 10": 0.99,
	} {
		if m := top.ParseMetrics(text); m.P99 == nil || math.Abs(*m.P99-want) > 1e-9 {
			t.Errorf("%s: p99 is %v, want %v", text, m.P99, want)
		}
	}
	if m := top.ParseMetrics("parley_request_duration_seconds_bucket{le=\"+Inf\"} 0"); m.P99 != nil {
		t.Errorf("p99 of nothing is %v", *m.P99)
	}
}

func frame() top.Frame {
	rows := top.Sort([]api.SessionSummary{
		{SessionID: "s-idle", State: "idle", Provider: "claude", Model: "m", UpdatedAt: "2026-01-01T10:00:00Z", Seq: 4},
		{SessionID: "s-strange", State: "dreaming"},
		{SessionID: "s-run", State: "running", Provider: "codex", UpdatedAt: "2026-01-01T09:00:00Z", Queued: 2, LimitedUntil: "2026-01-01T12:00:00Z"},
		{SessionID: "s-ask", State: "requires_action", Title: "Fix\x1b[31m the\ntest\u202e", Prompts: 1},
		{SessionID: "s-idle2", State: "idle", UpdatedAt: "2026-01-01T11:00:00Z"},
	})
	usd, spent := 20.0, 17.0
	tokens := int64(1000)
	return top.Frame{
		Server: "http://127.0.0.1:7717", At: time.Date(2026, 1, 1, 12, 4, 31, 0, time.UTC), Metrics: top.ParseMetrics(metricsText), Sessions: rows,
		Budgets: []api.Budget{
			{Scope: "tenant", Target: "ops", Period: "day", LimitUSD: &usd, SpentUSD: &spent, Level: "warning"},
			{Scope: "session", LimitTokens: &tokens, SpentTokens: 2500, Level: "exceeded", Of: "s-run"},
		},
	}
}

func TestLines(t *testing.T) {
	f := frame()
	var order []string
	for _, s := range f.Sessions {
		order = append(order, s.SessionID)
	}
	if want := []string{"s-ask", "s-run", "s-idle2", "s-idle", "s-strange"}; !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
	got := strings.Join(f.Lines(0, 0, &term.Pen{}), "\n")
	for _, want := range []string{
		"parley 1.2.3 · http://127.0.0.1:7717 · 12:04:31\n",
		"agents 2 of 8, 1 waiting · sessions 5 · requests 1 · queued 2 · memory 84 MB · p99 55.0 ms\n",
		"█████████████████░░░  85 %  $17.00 of $20.00  tenant ops per day\n",
		"████████████████████ 100 %  2.5k of 1.0k tokens  session (s-run)\n",
		"s-ask      requires_action       ",
		"running (rate limit)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if strings.ContainsAny(got, "\x1b\u202e") || !strings.Contains(got, "the test") {
		t.Errorf("the text of others is not clean: %q", got)
	}
}

// For any size, no line is wider than the terminal, the lines fit, and no text of an agent controls the terminal.
func TestLines_size(t *testing.T) {
	f := frame()
	f.Problem = "the server does not answer:\x07 " + strings.Repeat("long ", 50)
	for columns := 1; columns < 140; columns++ {
		for rows := 1; rows < 20; rows++ {
			lines := f.Lines(columns, rows, &term.Pen{})
			if len(lines) > rows {
				t.Fatalf("%d lines for %d rows", len(lines), rows)
			}
			for _, line := range lines {
				if cell.Width(line) > columns && columns >= 20 || strings.ContainsAny(line, "\x07\n\x1b\u202e") {
					t.Fatalf("%q does not fit %d columns", line, columns)
				}
			}
		}
	}
	if lines := f.Lines(80, 10, &term.Pen{}); lines[len(lines)-1] != "and 4 more" {
		t.Errorf("the last line is %q", lines[len(lines)-1])
	}
}

func TestUsage(t *testing.T) {
	var u top.Usage
	asked, fail := []string{}, false
	cost := 1.5
	ask := func(id string) (api.UsageSessionResult, error) {
		asked = append(asked, id)
		if fail {
			return api.UsageSessionResult{}, errors.New("gone")
		}
		return api.UsageSessionResult{CostUSD: &cost, Turns: 2, ModelUsage: `{"m":{"inputTokens":1000,"outputTokens":30,"cacheReadInputTokens":4,"costUSD":9},"n":{"outputTokens":200}}`}, nil
	}
	list := []api.SessionSummary{{SessionID: "a", Seq: 1}, {SessionID: "b", Seq: 1}}
	for range 2 {
		rows := top.Sort(list)
		u.Fill(rows, ask)
		if *rows[0].Tokens != 1234 || *rows[0].CostUSD != 1.5 || rows[0].Turns != 2 {
			t.Errorf("the row is %+v", rows[0])
		}
	}
	list[1].Seq, fail = 2, true
	rows := top.Sort(list)
	u.Fill(rows, ask)
	if want := []string{"a", "b", "b"}; !slices.Equal(asked, want) || rows[1].Tokens == nil {
		t.Errorf("asked for %v, want %v; the row is %+v", asked, want, rows[1])
	}
	if rows := top.Sort([]api.SessionSummary{{SessionID: "c"}}); rows[0].Tokens != nil {
		t.Error("tokens are known that were not asked for")
	}
}

func TestFrame_json(t *testing.T) {
	data, err := json.Marshal(frame())
	if err != nil || !strings.Contains(string(data), `"p99_seconds":0.05`) || !strings.Contains(string(data), `"state":"requires_action"`) {
		t.Errorf("%s, %v; want err == nil and strings.Contains(string(data), `\"p99_seconds\":0.05`) and strings.Contains(string(data), `\"state\":\"requires_action\"`)", data, err)
	}
}

func ExampleFrame_Lines() {
	f := top.Frame{Server: "http://127.0.0.1:7717", At: time.Date(2026, 1, 1, 12, 4, 31, 0, time.UTC)}
	f.Sessions = top.Sort([]api.SessionSummary{{SessionID: "s-1", State: "running", Provider: "claude", Model: "sonnet", Title: "Fix the test"}})
	for _, line := range f.Lines(80, 24, &term.Pen{}) {
		fmt.Println(line)
	}
	// Output:
	// parley · http://127.0.0.1:7717 · 12:04:31
	// agents – of –, – waiting · sessions 1 · requests 0 · queued 0
	//
	// session  state    agent   model   tokens  cost  asks  queued  title
	// ──────────────────────────────────────────────────────────────────────────
	// s-1      running  claude  sonnet       –     –     0       0  Fix the test
}
