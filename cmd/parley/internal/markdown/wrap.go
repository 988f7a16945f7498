package markdown

import (
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/cell"
)

// glyph is one rune with its look.
type glyph struct {
	r    rune
	look string // parameters of an SGR sequence
}

// line is a sequence of glyphs in one row.
type line []glyph

func (l line) width() int {
	n := 0
	for _, g := range l {
		n += cell.RuneWidth(g.r)
	}
	return n
}

// String returns the line with its colours.
func (l line) String() string {
	var b strings.Builder
	look := ""
	for _, g := range l {
		if g.look != look {
			if look != "" {
				b.WriteString(cell.Plainly)
			}
			if look = g.look; look != "" {
				b.WriteString(cell.Look(look))
			}
		}
		b.WriteRune(g.r)
	}
	if look != "" {
		b.WriteString(cell.Plainly)
	}
	return b.String()
}

// glyphs returns sanitized text with one look.
func glyphs(text, look string) line {
	var l line
	for _, r := range cell.Sanitize(text) {
		if r == '\t' {
			l = append(l, slices.Repeat(line{{' ', look}}, 4)...)
			continue
		}
		l = append(l, glyph{r, look})
	}
	return l
}

// closing are runes that must not begin a line.
const closing = "、。，．！？：；）」』】〉》〕…ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ"

// wrap breaks a line at spaces, and between East Asian characters, so that no
// part is wider than columns. Line feeds break it too.
func wrap(l line, columns int) []line {
	var lines []line
	var cur line
	used := 0
	flush := func() {
		lines = append(lines, trimRight(cur))
		cur, used = nil, 0
	}
	for len(l) > 0 {
		if l[0].r == '\n' {
			flush()
			l = l[1:]
			continue
		}
		n := word(l)
		w := l[:n]
		l = l[n:]
		size := w.width()
		if used+size > columns && used > 0 && w[0].r != ' ' {
			flush()
		}
		if w[0].r == ' ' && (used == 0 && len(lines) > 0 || used+size > columns) {
			continue // the space at the break
		}
		for size > columns { // a word that is wider than a line
			k := fit(w, columns)
			lines = append(lines, w[:k])
			size -= w[:k].width()
			w = w[k:]
		}
		cur = append(cur, w...)
		used += size
	}
	if len(cur) > 0 || len(lines) == 0 {
		flush()
	}
	return lines
}

// word returns the length of the unbreakable text at the start of l.
func word(l line) int {
	breaks := func(r rune) bool { return r == ' ' || r == '\n' || cell.RuneWidth(r) == 2 }
	n := 1
	switch {
	case l[0].r == ' ':
		return 1
	case cell.RuneWidth(l[0].r) == 2:
	default:
		for n < len(l) && !breaks(l[n].r) {
			n++
		}
	}
	for n < len(l) && (strings.ContainsRune(closing, l[n].r) || cell.RuneWidth(l[n].r) == 0 && l[n].r != '\n') {
		n++
	}
	return n
}

// fit returns the number of glyphs that fit into columns, at least one.
func fit(l line, columns int) int {
	used := 0
	for i, g := range l {
		if used += cell.RuneWidth(g.r); used > columns && i > 0 {
			return i
		}
	}
	return len(l)
}

func trimRight(l line) line {
	for len(l) > 0 && l[len(l)-1].r == ' ' {
		l = l[:len(l)-1]
	}
	return l
}

// Wrap wraps plain text at the width of a terminal; 0 means 80 columns.
func Wrap(text string, columns int) string {
	if columns <= 0 {
		columns = defaultColumns
	}
	var lines []string
	for _, l := range wrap(glyphs(text, ""), max(min(columns, maxColumns), leastColumns)) {
		lines = append(lines, l.String())
	}
	return strings.Join(lines, "\n")
}
