package lineedit

import (
	"strings"
	"unicode"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/cell"
)

// Buffer is the text being edited and the position of the cursor.
type Buffer struct {
	text   []rune
	pos    int
	killed []rune
}

// String returns the text.
func (b *Buffer) String() string { return string(b.text) }

// Set replaces the text and moves the cursor to its end.
func (b *Buffer) Set(s string) { b.text, b.pos = []rune(s), len([]rune(s)) }

// Insert inserts text at the cursor. It omits characters that cannot be shown.
func (b *Buffer) Insert(s string) {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	add := []rune(cell.Sanitize(s))
	b.text = append(b.text[:b.pos:b.pos], append(add, b.text[b.pos:]...)...)
	b.pos += len(add)
}

// cut removes and returns the text between two positions.
func (b *Buffer) cut(from, to int) []rune {
	gone := append([]rune(nil), b.text[from:to]...)
	b.text = append(b.text[:from:from], b.text[to:]...)
	b.pos = from
	return gone
}

// wordLeft returns the start of the word before the cursor.
func (b *Buffer) wordLeft() int {
	i := b.pos
	for i > 0 && unicode.IsSpace(b.text[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(b.text[i-1]) {
		i--
	}
	return i
}

func (b *Buffer) wordRight() int {
	i := b.pos
	for i < len(b.text) && unicode.IsSpace(b.text[i]) {
		i++
	}
	for i < len(b.text) && !unicode.IsSpace(b.text[i]) {
		i++
	}
	return i
}

// lineStart and lineEnd return the start and the end of the cursor's line.
func (b *Buffer) lineStart() int {
	i := b.pos
	for i > 0 && b.text[i-1] != '\n' {
		i--
	}
	return i
}

func (b *Buffer) lineEnd() int {
	i := b.pos
	for i < len(b.text) && b.text[i] != '\n' {
		i++
	}
	return i
}

// step returns the position one character before (-1) or after (1) the cursor, past its
// combining marks.
func (b *Buffer) step(by int) int {
	i := b.pos + by
	for i > 0 && i < len(b.text) && cell.RuneWidth(b.text[i]) == 0 {
		i += by
	}
	return max(min(i, len(b.text)), 0)
}

// Edit executes an editing key and reports whether the key is one.
func (b *Buffer) Edit(k Key) bool {
	switch k.Code {
	case Rune:
		b.Insert(string(k.Rune))
	case Paste:
		b.Insert(k.Text)
	case NewLine:
		b.Insert("\n")
	case Backspace:
		b.cut(b.step(-1), b.pos)
	case Delete:
		b.cut(b.pos, b.step(1))
	case DeleteWord:
		b.killed = b.cut(b.wordLeft(), b.pos)
	case KillRight:
		b.killed = b.cut(b.pos, b.lineEnd())
	case KillAll:
		b.killed = b.cut(b.lineStart(), b.pos)
	case Yank:
		b.Insert(string(b.killed))
	default:
		return b.move(k.Code)
	}
	return true
}

func (b *Buffer) move(code Code) bool {
	switch code {
	case Left:
		b.pos = b.step(-1)
	case Right:
		b.pos = b.step(1)
	case WordLeft:
		b.pos = b.wordLeft()
	case WordRight:
		b.pos = b.wordRight()
	case Home:
		b.pos = b.lineStart()
	case End:
		b.pos = b.lineEnd()
	case Up:
		return b.vertical(-1)
	case Down:
		return b.vertical(1)
	default:
		return false
	}
	return true
}

// vertical moves the cursor a line up or down, and reports whether there is one.
func (b *Buffer) vertical(by int) bool {
	start := b.lineStart()
	column := b.pos - start
	if by < 0 {
		if start == 0 {
			return false
		}
		b.pos = start - 1
	} else {
		end := b.lineEnd()
		if end == len(b.text) {
			return false
		}
		b.pos = end + 1
	}
	start = b.lineStart()
	b.pos = min(start+column, b.lineEnd())
	return true
}

// Rows lays out the text in rows of the given width, with one prompt for the first line and
// another for the rest, and returns the position of the cursor.
func (b *Buffer) Rows(first, rest string, columns int) (rows []string, row, column int) {
	var cur strings.Builder
	used := 0
	begin := func(prompt string) {
		cur.Reset()
		cur.WriteString(prompt)
		used = cell.Width(cell.Plain(prompt))
	}
	begin(first)
	indent := strings.Repeat(" ", cell.Width(cell.Plain(rest)))
	for i := 0; ; i++ {
		if i == b.pos {
			row, column = len(rows), used
		}
		if i == len(b.text) {
			return append(rows, cur.String()), row, column
		}
		r := b.text[i]
		if r == '\n' {
			rows = append(rows, cur.String())
			begin(rest)
			continue
		}
		if r == '\t' {
			r = ' '
		}
		w := cell.RuneWidth(r)
		if used+w > columns {
			rows = append(rows, cur.String())
			begin(indent)
			if i == b.pos {
				row, column = len(rows), used
			}
		}
		cur.WriteRune(r)
		used += w
	}
}
