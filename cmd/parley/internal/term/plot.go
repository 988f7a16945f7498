package term

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/cell"
)

// Chart is a row of values, the oldest first.
type Chart struct {
	Title       string
	Values      []float64
	First, Last string               // labels of the first and the last value
	Each        string               // the unit of one value: day
	Format      func(float64) string // format of the axis labels
	Height      int                  // rows of the columns; at least 1
}

var eighths = []rune(" ▁▂▃▄▅▆▇█")

// Render draws the chart with the given width. With more values than columns, each column
// shows the mean of several. It returns nil without values, or if there is no room for
// the labels and ten columns.
func (c *Chart) Render(width int) []string {
	top := 0.0
	for _, v := range c.Values {
		top = max(top, v)
	}
	if width <= 0 {
		width = 80
	}
	label := c.Format(top)
	room := width - cell.Width(label) - 2
	if len(c.Values) == 0 || room < 10 {
		return nil
	}
	values, each := merge(c.Values, room)
	if each > 1 {
		top = 0
		for _, v := range values {
			top = max(top, v)
		}
		label = c.Format(top)
	}
	height := max(1, c.Height)
	title := c.Title
	if each > 1 {
		title += fmt.Sprintf(" (mean of %d %ss)", each, c.Each)
	}
	lines := []string{Shorten(title, width)}
	for row := height - 1; row >= 0; row-- {
		lines = append(lines, strings.TrimRight(c.axis(row, height, label)+columns(values, top, row, height), " "))
	}
	pad := strings.Repeat(" ", cell.Width(label)+2)
	feet := c.First
	if gap := len(values) - cell.Width(c.First) - cell.Width(c.Last); gap > 0 {
		feet += strings.Repeat(" ", gap) + c.Last
	} else if c.Last != c.First {
		feet += " – " + c.Last
	}
	if cell.Width(pad+feet) > width {
		feet = c.First
	}
	return append(lines, pad+feet)
}

// axis returns the label of a row: the highest value at the top, empty at the bottom.
func (c *Chart) axis(row, height int, label string) string {
	text := ""
	switch row {
	case height - 1:
		text = label
	case 0:
		text = c.Format(0)
	}
	return strings.Repeat(" ", max(0, cell.Width(label)-cell.Width(text))) + text + " │"
}

func columns(values []float64, top float64, row, height int) string {
	var b strings.Builder
	for _, v := range values {
		full := 0
		if top > 0 {
			full = int(math.Ceil(v / top * float64(height*8)))
		}
		b.WriteRune(eighths[min(8, max(0, full-row*8))])
	}
	return b.String()
}

// merge reduces the values to at most n.
func merge(values []float64, n int) (merged []float64, each int) {
	each = (len(values) + n - 1) / n
	for i := 0; i < len(values); i += each {
		part := values[i:min(i+each, len(values))]
		sum := 0.0
		for _, v := range part {
			sum += v
		}
		merged = append(merged, sum/float64(len(part)))
	}
	return merged, each
}
