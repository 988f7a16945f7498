package markdown

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// narrow is a terminal on which most lines must be broken.
var narrow = Style{Columns: leastColumns, Color: true}

// within fails if f takes so long that it must be quadratic in its input.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatalf("%s takes more than two minutes", what)
	}
}

// The time to render any text grows linearly with its length.
func TestGrowth(t *testing.T) {
	long := strings.Repeat("a", 1<<20-100)
	for what, text := range map[string]string{
		"a long word": long, "a longer word": long + long, "a long line of code": "```\n" + long + "\n```",
		"stars": strings.Repeat("*a_ ", 200_000), "brackets": strings.Repeat("[a](", 200_000), "quotes": strings.Repeat(">", 100_000),
	} {
		within(t, what, func() { Render(text, narrow) })
	}
	wide := slices.Repeat([]line{glyphs("abcdef", "")}, 500_000)
	within(t, "a wide table", func() {
		if _, ok := columnWidths([][]line{wide}, 80); ok {
			t.Error("a table of so many columns fits")
		}
	})
}

// The output is not much longer than the text.
func TestGrowth_output(t *testing.T) {
	for what, text := range map[string]string{
		"the name of a column": "|" + strings.Repeat("n", 2000) + "|b|c|\n|-|-|-|\n" + strings.Repeat("|x|y|z|\n", 500),
		"nested looks":         strings.Repeat("*a **b ", 200) + "c" + strings.Repeat(" b** a*", 200),
	} {
		if got := Render(text, narrow); len(got) > 40*len(text) {
			t.Errorf("%s: %d bytes are shown of %d", what, len(got), len(text))
		}
	}
}

// A line that arrives in many pieces is not copied for each of them.
func TestSplitter_pieces(t *testing.T) {
	var s Splitter
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100_000 {
		s.Write("é")
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("%d bytes were allocated", used)
	}
	if got := s.Pending(); len(got) > maxPending || len(got) < maxPending-2 || strings.Trim(got, "é") != "" {
		t.Errorf("%d bytes are pending: %.20q", len(got), got)
	}
	s.Write("\nend")
	if got := s.Pending(); len(got) > maxPending || !strings.HasSuffix(got, "é\nend") {
		t.Errorf("%d bytes are pending", len(got))
	}
	if got := s.Flush(); len(got) != 1 || len(got[0]) != 2*100_000+len("\nend") {
		t.Errorf("%d blocks", len(got))
	}
}
