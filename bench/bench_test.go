package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/bench/internal/meter"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{3}, 3},
		{[]float64{5, 1, 3}, 3},
		{[]float64{4, 1, 3, 2}, 2.5},
	} {
		in := slices.Clone(tt.values)
		if got := median(in); got != tt.want || !slices.Equal(in, tt.values) {
			t.Errorf("median(%v) = %v, want %v and the values as they were", tt.values, got, tt.want)
		}
	}
}

func TestRatio(t *testing.T) {
	ts, zero := 8.0, 0.0
	for _, tt := range []struct {
		better string
		parley float64
		ts     *float64
		want   float64 // 0 if it does not exist
	}{
		{"more", 16, &ts, 2},
		{"less", 2, &ts, 4},
		{"less", 2, nil, 0},
		{"less", -1, &ts, 0},
		{"more", 1, &zero, 0},
	} {
		got := ratio(tt.better, tt.parley, tt.ts)
		if (got == nil) != (tt.want == 0) || got != nil && *got != tt.want {
			t.Errorf("ratio(%s, %v) = %v, want %v", tt.better, tt.parley, got, tt.want)
		}
	}
}

func testRecording(t *testing.T) *recorded {
	t.Helper()
	rec, err := readRecorded(filepath.Join("..", filepath.FromSlash(recording)))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// TestGenerate checks that the same number of lines results in the same stream, that every line is
// JSON, and that the expected counts match the stream.
func TestGenerate(t *testing.T) {
	const lines = 3000
	var a, b bytes.Buffer
	want, err := generate(&a, testRecording(t), lines)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := generate(&b, testRecording(t), lines); err != nil {
		t.Fatal(err)
	}
	if sha256.Sum256(a.Bytes()) != sha256.Sum256(b.Bytes()) {
		t.Error("two streams differ")
	}
	if int64(a.Len()) != want.size {
		t.Errorf("%d bytes, said to be %d", a.Len(), want.size)
	}
	got := streamed{Tools: map[string]int{}}
	for line := range strings.Lines(a.String()) {
		got.count(t, line)
	}
	if got.Messages != lines {
		t.Errorf("%d lines", got.Messages)
	}
	if err := want.check(&got); err != nil {
		t.Error(err)
	}
}

// count counts a line like the consumers, with a different decoder.
func (s *streamed) count(t *testing.T, line string) {
	t.Helper()
	var m struct {
		Event struct {
			Delta struct{ Type, Text string }
		}
		Message struct{ Content json.RawMessage }
		Type    string
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatalf("%v: %.200s", err, line)
	}
	s.Messages++
	if m.Event.Delta.Type == "text_delta" {
		s.TextBytes += len(m.Event.Delta.Text)
	}
	if m.Type != "assistant" {
		return
	}
	var blocks []struct{ Type, Name string }
	if err := json.Unmarshal(m.Message.Content, &blocks); err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		if b.Type == "tool_use" {
			s.Tools[b.Name]++
		}
	}
}

func TestCheck(t *testing.T) {
	want := &expected{lines: 10, hostOnly: 2, textBytes: 5, tools: map[string]int{"Bash": 1}}
	good := streamed{Messages: 8, TextBytes: 5, Tools: map[string]int{"Bash": 1}}
	if err := want.check(&good); err != nil {
		t.Error(err)
	}
	for _, bad := range []streamed{
		{Messages: 7, TextBytes: 5, Tools: good.Tools},
		{Messages: 11, TextBytes: 5, Tools: good.Tools},
		{Messages: 8, TextBytes: 4, Tools: good.Tools},
		{Messages: 8, TextBytes: 5},
	} {
		if want.check(&bad) == nil {
			t.Errorf("%+v passed", bad)
		}
	}
}

func TestFlags(t *testing.T) {
	for _, args := range []string{"--only nothing", "--peers perl", "--rounds 0", "--lines 10", "--scale 0", "--scale 2"} {
		if _, err := parseFlags(strings.Fields(args)); err == nil {
			t.Errorf("%s was accepted", args)
		}
	}
	c, err := parseFlags([]string{"--only", "delta_allocs, stream_cpu_s"})
	if err != nil || !c.wants([]string{"delta_allocs"}) || c.wants([]string{"idle_goroutines"}) {
		t.Errorf("--only: %+v, %v", c, err)
	}
}

// TestRun runs the whole harness on Parley and cat, including its JSON output.
func TestRun(t *testing.T) {
	if !meter.Supported {
		t.Skip("the benchmark runs on Linux")
	}
	c := &config{rounds: 1, lines: 2000, calls: 2, clients: 3, peers: []string{"cat"}, log: io.Discard, scale: 0.002, cache: t.TempDir()}
	report, err := run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "out", "results.json")
	if err := writeJSON(name, report.rows); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	checkJSON(t, text)
	var table strings.Builder
	report.print(&table)
	for _, name := range rowsHere() {
		if !strings.Contains(table.String(), name) {
			t.Errorf("the table has no %s:\n%s", name, &table)
		}
	}
}

// rowsHere returns the rows that can be measured: some need the CLI.
func rowsHere() []string {
	_, err := e2e.CLIPath()
	return slices.DeleteFunc(rowNames(), func(name string) bool {
		return err != nil && (name == "warm_first_message_ms" || strings.HasPrefix(name, "acp_"))
	})
}

func checkJSON(t *testing.T, text []byte) {
	t.Helper()
	var rows []map[string]any
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range rows {
		names = append(names, r["name"].(string))
		for _, key := range []string{"name", "unit", "better", "parley", "peers", "ratio"} {
			if _, ok := r[key]; !ok {
				t.Errorf("%v has no %s", r["name"], key)
			}
		}
		peers, want := r["peers"].(map[string]any), []string{"ts", "python", "cat"}
		if strings.HasPrefix(r["name"].(string), "usage_") {
			want = []string{"ccusage"}
		}
		if strings.HasPrefix(r["name"].(string), "acp_") {
			want = []string{"adapter"}
		}
		if strings.HasPrefix(r["name"].(string), "codex_") {
			want = []string{"claude"}
		}
		for _, peer := range want {
			if _, ok := peers[peer]; !ok || len(peers) != len(want) {
				t.Errorf("%v has the peers %v", r["name"], peers)
			}
		}
	}
	if !slices.Equal(names, rowsHere()) {
		t.Errorf("the rows are %v", names)
	}
}

// TestLockFile checks that the lock files pin by content and do not name a registry.
func TestLockFile(t *testing.T) {
	for _, peer := range []string{"ts", "ccusage", "adapter"} {
		checkLockFile(t, peer)
	}
}

func checkLockFile(t *testing.T, peer string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(peer, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct{ Resolved, Integrity string }
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		t.Fatal(err)
	}
	if len(lock.Packages) < 3 {
		t.Fatalf("%s/package-lock.json names %d packages", peer, len(lock.Packages))
	}
	for name, p := range lock.Packages {
		if name != "" && (p.Resolved != "" || p.Integrity == "") {
			t.Errorf("%s has a download address, or no integrity member; write the lock file with the .npmrc beside it", name)
		}
	}
}
