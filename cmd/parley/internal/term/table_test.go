package term

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/cell"
)

func sample() *Table {
	return &Table{
		Columns: []Column{{Title: "day"}, {Title: "models", Min: 6, Drop: 2}, {Title: "tokens", Right: true, Drop: 1}, {Title: "cost", Right: true}},
		Rows: [][]string{
			{"2026-01-01", "opus, sonnet 日本語", "1,234", "$1.00"},
			{"2026-01-02", "", "5", "$20.00"},
		},
		Total: []string{"total", "", "1,239", "$21.00"},
	}
}

func TestRender(t *testing.T) {
	for width, want := range map[int]string{
		0: `
day         models               tokens    cost
───────────────────────────────────────────────
2026-01-01  opus, sonnet 日本語   1,234   $1.00
2026-01-02                            5  $20.00
───────────────────────────────────────────────
total                             1,239  $21.00
`,
		40: `
day         models        tokens    cost
────────────────────────────────────────
2026-01-01  opus, sonne…   1,234   $1.00
2026-01-02                     5  $20.00
────────────────────────────────────────
total                      1,239  $21.00
`,
		30: `
day         tokens    cost
──────────────────────────
2026-01-01   1,234   $1.00
2026-01-02       5  $20.00
──────────────────────────
total        1,239  $21.00
`,
		14: `
day       cost
──────────────
2026-…   $1.00
2026-…  $20.00
──────────────
total   $21.00
`,
	} {
		if got := "\n" + strings.Join(sample().Render(width, &Pen{}), "\n") + "\n"; got != want {
			t.Errorf("%d columns:%s", width, got)
		}
	}
}

// For any width, no line is wider, and the cost is shown as long as possible.
func TestFits(t *testing.T) {
	for width := 9; width < 80; width++ {
		for _, line := range sample().Render(width, &Pen{}) {
			if cell.Width(line) > width {
				t.Errorf("%d columns: %q takes %d", width, line, cell.Width(line))
			}
		}
		if lines := sample().Render(width, &Pen{}); !strings.HasSuffix(lines[2], "$1.00") {
			t.Errorf("%d columns: %q", width, lines[2])
		}
	}
}

func TestStyle(t *testing.T) {
	pen, plain := &Pen{Color: true}, sample().Render(0, &Pen{})
	lines, last := sample().Render(0, pen), len(plain)-1
	if lines[0] != pen.Paint(Bold, plain[0]) || lines[2] != plain[2] || lines[last] != pen.Paint(Bold, plain[last]) {
		t.Errorf("%q; want lines[0] == pen.Paint(Bold, plain[0]) and lines[2] == plain[2] and lines[last] == pen.Paint(Bold, plain[last])", lines)
	}
	empty := (&Table{Columns: []Column{{Title: "a"}}}).Render(0, &Pen{})
	if !slices.Equal(empty, []string{"a", "─"}) {
		t.Errorf("%q; want slices.Equal(empty, []string{\"a\", \"─\"})", empty)
	}
}
