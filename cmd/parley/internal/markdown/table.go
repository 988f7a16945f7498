package markdown

import (
	"slices"

	east "github.com/yuin/goldmark/extension/ast"
)

const (
	leastCell = 5 // columns below which a table is shown row by row
	gap       = 3 // columns between two cells
)

// table renders a table, or one cell per line on a narrow terminal.
func (r *renderer) table(n *east.Table, columns int) []line {
	var rows [][]line
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		look := ""
		if _, header := row.(*east.TableHeader); header {
			look = r.look(bold)
		}
		var cells []line
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, r.inline(c, look))
		}
		rows = append(rows, cells)
	}
	if len(rows) == 0 || len(rows[0]) == 0 {
		return nil
	}
	widths, ok := columnWidths(rows, columns)
	if !ok {
		return r.records(rows, columns)
	}
	var lines []line
	for i, row := range rows {
		lines = append(lines, r.row(row, widths, n.Alignments)...)
		if i == 0 {
			lines = append(lines, r.ruler(widths))
		}
	}
	return lines
}

// columnWidths distributes the width of the terminal to the columns of a table: it
// narrows the widest columns first. It fails if columns would be too narrow to read.
func columnWidths(rows [][]line, columns int) (widths []int, ok bool) {
	widths = make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row[:min(len(row), len(widths))] {
			widths[i] = max(widths[i], c.width(), 1)
		}
	}
	room := columns - gap*(len(widths)-1)
	least := 0
	for _, w := range widths {
		least += min(w, leastCell)
	}
	if least > room {
		return nil, false
	}
	for total := sum(widths); total > room; total-- {
		widest := slices.Index(widths, slices.Max(widths))
		if widths[widest]--; widths[widest] < leastCell {
			return nil, false
		}
	}
	return widths, true
}

func sum(list []int) (n int) {
	for _, v := range list {
		n += v
	}
	return n
}

// row renders one row; wide cells wrap to several lines.
func (r *renderer) row(cells []line, widths []int, alignments []east.Alignment) []line {
	parts := make([][]line, len(widths))
	height := 1
	for i := range widths {
		if i < len(cells) {
			parts[i] = wrap(cells[i], widths[i])
		}
		height = max(height, len(parts[i]))
	}
	lines := make([]line, height)
	for k := range lines {
		for i, width := range widths {
			if i > 0 {
				lines[k] = append(lines[k], glyphs(" │ ", r.look(dim))...)
			}
			var part line
			if k < len(parts[i]) {
				part = parts[i][k]
			}
			lines[k] = append(lines[k], aligned(part, width, alignments, i)...)
		}
	}
	return lines
}

func aligned(part line, width int, alignments []east.Alignment, i int) line {
	free := max(width-part.width(), 0)
	left := 0
	if i < len(alignments) {
		switch alignments[i] {
		case east.AlignRight:
			left = free
		case east.AlignCenter:
			left = free / 2
		}
	}
	space := line{{' ', ""}}
	return slices.Concat(slices.Repeat(space, left), part, slices.Repeat(space, free-left))
}

func (r *renderer) ruler(widths []int) line {
	var l line
	for i, width := range widths {
		if i > 0 {
			l = append(l, glyphs("─┼─", r.look(dim))...)
		}
		l = append(l, slices.Repeat(line{{'─', r.look(dim)}}, width)...)
	}
	return l
}

// records renders each row as lines of the form "name: value".
func (r *renderer) records(rows [][]line, columns int) []line {
	var lines []line
	for k, row := range rows[1:] {
		if k > 0 {
			lines = append(lines, nil)
		}
		for i, value := range row {
			var l line
			if i < len(rows[0]) && len(rows[0][i]) > 0 {
				name := rows[0][i]
				l = append(append(l, name[:min(len(name), columns)]...), glyphs(": ", "")...) // repeated in every row
			}
			lines = append(lines, wrap(append(l, value...), columns)...)
		}
	}
	return lines
}
