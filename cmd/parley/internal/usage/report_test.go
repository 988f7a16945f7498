package usage

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/bench/corpus"
	"github.com/seed7221b0f9/parley/transcript/usage"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/cell"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

var updateGolden = flag.Bool("update", false, "write the golden files")

// corpusLedger returns the ledger of a small generated corpus.
func corpusLedger(t *testing.T) *usage.Ledger {
	t.Helper()
	dir := t.TempDir()
	if _, err := corpus.Write(t.Context(), dir, corpus.Full().Scale(0.003)); err != nil {
		t.Fatal(err)
	}
	l, err := usage.Scan(t.Context(), usage.Options{ConfigDirs: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// ledgerNow returns the time of the tests: within a block of the generated corpus.
func ledgerNow(l *usage.Ledger) time.Time {
	_, last := l.Range()
	return last.Add(time.Minute)
}

// The reports for terminals of several widths equal the golden files.
func TestLedgerTables(t *testing.T) {
	l := corpusLedger(t)
	var all strings.Builder
	for _, columns := range []int{120, 80, 40} {
		for _, r := range reports {
			f := &reportFlags{last: 4, now: func() time.Time { return ledgerNow(l) }, changed: func(string) bool { return false }}
			to := term.PenTo(&all, true)
			to.Width = columns
			lines, notes := f.lines(to, r, usage.View{Location: time.UTC}, l)
			fmt.Fprintf(&all, "== %s, %d columns\n%s\n", r.name, columns, strings.Join(lines, "\n"))
			if columns == 120 {
				fmt.Fprintf(&all, "%s\n", strings.Join(notes, "\n"))
			}
			for _, line := range lines {
				if term.Width(line) > columns {
					t.Errorf("%s: %q takes %d of %d columns", r.name, line, term.Width(line), columns)
				}
			}
		}
	}
	name := filepath.Join("testdata", "reports.golden")
	if *updateGolden {
		if err := os.WriteFile(name, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), all.String()); diff != "" {
		t.Errorf("%s (-update writes it again):\n%s", name, diff)
	}
}

// Colours are used only on a terminal that has them.
func TestLedgerColors(t *testing.T) {
	l := corpusLedger(t)
	for _, color := range []bool{true, false} {
		f := &reportFlags{now: time.Now, changed: func(string) bool { return false }}
		to := term.PenTo(io.Discard, true)
		to.Color, to.Width = color, 80
		lines, _ := f.lines(to, reports[0], usage.View{Location: time.UTC}, l)
		if got := strings.Contains(strings.Join(lines, "\n"), cell.Look("")[:3]); got != color {
			t.Errorf("colours %t: %t", color, got)
		}
	}
}

// Progress is shown only on a terminal, only for long scans, and not too often.
func TestLedgerProgress(t *testing.T) {
	var screen strings.Builder
	now := time.Unix(0, 0)
	p := newProgress(&term.Console{Err: term.PenTo(&screen, true)}, func() time.Time { return now })
	for _, step := range []struct {
		after time.Duration
		want  string
	}{
		{10 * time.Millisecond, ""},
		{quietly, "\r\x1b[Kreading sessions: 50 % of 2.0 GB"},
		{time.Millisecond, ""},
		{time.Second, "\r\x1b[Kreading sessions: 50 % of 2.0 GB"},
	} {
		screen.Reset()
		now = now.Add(step.after)
		p.update(1e9, 2e9)
		if screen.String() != step.want {
			t.Errorf("after %v: %q", step.after, screen.String())
		}
	}
	screen.Reset()
	if p.clear(); screen.String() != "\r\x1b[K" {
		t.Errorf("at the end: %q", screen.String())
	}
	elsewhere := newProgress(&term.Console{Err: term.PenTo(&screen, false)}, func() time.Time { return now })
	screen.Reset()
	now = now.Add(time.Hour)
	elsewhere.update(1, 2)
	if elsewhere.clear(); screen.Len() > 0 {
		t.Errorf("without a terminal: %q", screen.String())
	}
}

func TestMoment(t *testing.T) {
	now := time.Date(2026, 3, 10, 15, 0, 0, 0, time.UTC)
	f := &reportFlags{now: func() time.Time { return now }}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		flag, text string
		later      int
		want       string // in UTC; "" is an error
	}{
		{"since", "2026-01-31", 0, "2026-01-30T23:00:00Z"},
		{"since", "20260131", 0, "2026-01-30T23:00:00Z"},
		{"until", "2026-01-31", 1, "2026-01-31T23:00:00Z"},
		{"until", "2026-03-29", 1, "2026-03-29T22:00:00Z"},
		{"since", "7d", 0, "2026-03-03T15:00:00Z"},
		{"since", "12h", 0, "2026-03-10T03:00:00Z"},
		{"since", "2w", 0, "2026-02-24T15:00:00Z"},
		{"until", "7d", 1, ""},
		{"since", "2026-02-30", 0, ""},
		{"since", "tomorrow", 0, ""},
	} {
		got, err := f.moment(tt.flag, tt.text, berlin, tt.later)
		if (err != nil) != (tt.want == "") || err == nil && got.UTC().Format(time.RFC3339) != tt.want {
			t.Errorf("--%s %s: %v, %v", tt.flag, tt.text, got, err)
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234"} {
		if got := grouped(n); got != want {
			t.Errorf("grouped(%d) = %s, want %s", n, got, want)
		}
	}
	if got := dollars(1234.567); got != "$1,234.57" {
		t.Errorf("dollars: %s", got)
	}
}

// TestDollars: no amount is shown as negative zero.
func TestDollars(t *testing.T) {
	for v, want := range map[float64]string{
		0: "$0.00", math.Copysign(0, -1): "$0.00", -0.004: "$0.00", 0.004: "$0.00",
		-0.006: "-$0.01", 1234.5: "$1,234.50", -1234.5: "-$1,234.50", 0.995: "$0.99", 1e15: "$1,000,000,000,000,000.00",
	} {
		if got := dollars(v); got != want {
			t.Errorf("dollars(%v) = %q, want %q", v, got, want)
		}
	}
	for v, want := range map[float64]string{
		0: "$0.00", -0.004: "$0.00", 0.004: "$0.00", -0.006: "-$0.01", 0.006: "+$0.01", -1234.5: "-$1,234.50",
	} {
		if got := signed(v); got != want {
			t.Errorf("signed(%v) = %q, want %q", v, got, want)
		}
	}
}
