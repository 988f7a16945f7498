package term

import (
	"strings"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/cell"
)

// Column configures how a column shrinks in a table that is too wide.
type Column struct {
	Title string
	Right bool // align numbers to the right
	Drop  int  // columns with the highest number are dropped first; 0 means never
	Min   int  // minimum width before columns are dropped; 0 means that the column is not cut
	Least int  // minimum width when no column can be dropped; 0 means that the column is not cut
}

// Table consists of rows of cells without line breaks and escape sequences.
type Table struct {
	Columns []Column
	Rows    [][]string
	Total   []string // a last row below a line, if any
}

const gap = "  "

// Render lays out the table in the given width; 0 means no limit. A table that does not fit is
// cut on the right. Lines have no trailing space. The pen paints the titles, the rules and the
// total.
func (t *Table) Render(width int, pen *Pen) []string {
	shown, widths := t.fit(width)
	lines := []string{pen.Paint(Bold, t.line(shown, widths, t.titles()))}
	rule := strings.Repeat("─", total(shown, widths))
	lines = append(lines, pen.Paint(Dim, rule))
	for _, row := range t.Rows {
		lines = append(lines, t.line(shown, widths, row))
	}
	if t.Total != nil {
		lines = append(lines, pen.Paint(Dim, rule), pen.Paint(Bold, t.line(shown, widths, t.Total)))
	}
	return lines
}

func (t *Table) titles() []string {
	var titles []string
	for _, c := range t.Columns {
		titles = append(titles, c.Title)
	}
	return titles
}

// fit selects the columns and their widths.
func (t *Table) fit(width int) (shown, widths []int) {
	widths = make([]int, len(t.Columns))
	for _, row := range append([][]string{t.titles(), t.Total}, t.Rows...) {
		for i, s := range row {
			widths[i] = max(widths[i], cell.Width(s))
		}
	}
	for i := range t.Columns {
		shown = append(shown, i)
	}
	if width <= 0 {
		return shown, widths
	}
	for total(shown, widths) > width {
		if t.shrink(shown, widths, width, func(c Column) int { return c.Min }) {
			continue
		}
		if i := t.droppable(shown); i >= 0 {
			shown = append(shown[:i:i], shown[i+1:]...)
			continue
		}
		if !t.shrink(shown, widths, width, func(c Column) int { return c.Least }) {
			break
		}
	}
	if over := total(shown, widths) - width; over > 0 { // the first column shrinks
		widths[shown[0]] = max(1, widths[shown[0]]-over)
	}
	return shown, widths
}

// shrink cuts the widest shrinkable column as far as needed, and reports whether there was one.
func (t *Table) shrink(shown, widths []int, width int, least func(Column) int) bool {
	best := -1
	for _, i := range shown {
		if n := least(t.Columns[i]); n > 0 && widths[i] > n && (best < 0 || widths[i] > widths[best]) {
			best = i
		}
	}
	if best >= 0 {
		widths[best] = max(least(t.Columns[best]), widths[best]-(total(shown, widths)-width))
	}
	return best >= 0
}

// droppable returns the index in shown of the column to drop, or -1.
func (t *Table) droppable(shown []int) int {
	best := -1
	for place, i := range shown {
		if d := t.Columns[i].Drop; d > 0 && (best < 0 || d > t.Columns[shown[best]].Drop) {
			best = place
		}
	}
	return best
}

func total(shown, widths []int) int {
	sum := len(gap) * max(0, len(shown)-1)
	for _, i := range shown {
		sum += widths[i]
	}
	return sum
}

func (t *Table) line(shown, widths []int, row []string) string {
	var b strings.Builder
	for place, i := range shown {
		if place > 0 {
			b.WriteString(gap)
		}
		text := ""
		if i < len(row) {
			text = Shorten(row[i], widths[i])
		}
		pad := strings.Repeat(" ", max(0, widths[i]-cell.Width(text)))
		if t.Columns[i].Right {
			b.WriteString(pad + text)
		} else {
			b.WriteString(text + pad)
		}
	}
	return strings.TrimRight(b.String(), " ")
}
