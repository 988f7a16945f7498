package term

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/cell"
)

func dollars(v float64) string { return fmt.Sprintf("$%.2f", v) }

func TestChart(t *testing.T) {
	c := Chart{Title: "cost", Values: []float64{0, 1, 2, 4, 8, 0, 0.01, 3, 5, 6, 7, 8}, First: "01-01", Last: "01-12", Each: "day", Format: dollars, Height: 4}
	want := `
cost
$8.00 │    █     ▄█
      │    █   ▄███
      │   ██  ▄████
$0.00 │ ▄███ ▁█████
       01-01  01-12
`
	if got := "\n" + strings.Join(c.Render(40), "\n") + "\n"; got != want {
		t.Errorf("got%s", got)
	}
}

func TestMerged(t *testing.T) {
	c := Chart{Title: "cost", First: "a", Last: "b", Each: "day", Format: dollars, Height: 2}
	for i := range 1000 {
		c.Values = append(c.Values, float64(i))
	}
	for width := 20; width < 100; width++ {
		lines := c.Render(width)
		if len(lines) != 4 || !strings.Contains(lines[0], "mean of") {
			t.Fatalf("%d columns: %q", width, lines)
		}
		for _, line := range lines[1:] {
			if cell.Width(line) > width {
				t.Errorf("%d columns: %q takes %d", width, line, cell.Width(line))
			}
		}
	}
}

func TestRenderWithoutValues(t *testing.T) {
	c := Chart{Format: dollars}
	if got := c.Render(80); got != nil {
		t.Errorf("no values: %q", got)
	}
	c.Values = []float64{1}
	if got := c.Render(12); got != nil {
		t.Errorf("no room: %q", got)
	}
	c.Values = []float64{0, 0}
	if got := c.Render(80); len(got) != 3 || strings.ContainsAny(got[1], "▁█") {
		t.Errorf("nothing but zeros: %q", got)
	}
}
