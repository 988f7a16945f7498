package lineedit

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/cell"
)

// Screen is a terminal with two parts: written text, which scrolls away, and below it a
// few rows that are redrawn on every change. Written text without a final line feed is
// the first of those rows.
//
// Its methods are safe for concurrent use.
type Screen struct {
	mu      sync.Mutex
	w       io.Writer
	err     error
	columns int
	rows    int
	stopped bool

	open   string   // written text without a line feed
	tail   []string // incomplete text, as rows
	status string
	input  []string
	row    int // of the cursor, in input
	column int

	held   bool   // drawing is paused until Release
	dirty  bool   // a redraw is pending
	unsent string // text that is pending

	drawn  []string // the rows currently drawn
	cursor int      // the row with the cursor
}

// NewScreen returns a screen on a terminal of this size that is in raw mode.
func NewScreen(w io.Writer, columns, rows int) *Screen {
	s := &Screen{w: w}
	s.size(columns, rows)
	return s
}

func (s *Screen) size(columns, rows int) {
	if columns <= 0 {
		columns = 80
	}
	if rows <= 0 {
		rows = 24
	}
	s.columns, s.rows = columns, rows
}

// Write writes text above the redrawn rows.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.open + string(p)
	s.open = ""
	if i := strings.LastIndexByte(text, '\n'); i+1 < len(text) {
		text, s.open = text[:i+1], text[i+1:]
	}
	s.draw(text)
	return len(p), s.err
}

// Tail shows the end of an incomplete text. It may contain colours and must otherwise be
// sanitized.
func (s *Screen) Tail(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var rows []string
	if text = strings.TrimRight(text, "\n"); text != "" {
		for line := range strings.SplitSeq(text, "\n") {
			rows = append(rows, cell.Rows(line, s.columns-1)...)
		}
	}
	if len(rows) == 0 && len(s.tail) == 0 {
		return
	}
	s.tail = rows
	s.draw("")
}

// Status shows a line above the input; "" removes it.
func (s *Screen) Status(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if line != s.status {
		s.status = line
		s.draw("")
	}
}

// Input shows rows of input with the cursor in one of them.
func (s *Screen) Input(rows []string, row, column int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Equal(rows, s.input) && row == s.row && column == s.column {
		return
	}
	s.input, s.row, s.column = rows, row, column
	s.draw("")
}

// Columns returns the width of the terminal.
func (s *Screen) Columns() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.columns
}

// Resize sets the new size. A terminal that becomes narrower wraps its rows.
func (s *Screen) Resize(columns, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release()
	s.size(columns, rows)
	up := 0
	for i, row := range s.drawn {
		if n := max(cell.Width(cell.Plain(row))-1, 0) / s.columns; i < s.cursor {
			up += n + 1
		} else if i == s.cursor {
			up += min(n, s.column/s.columns)
		}
	}
	s.cursor = up
	s.tail = nil // it was cut for the old width; the next piece shows it again
	s.draw("")
}

// Clear empties the terminal.
func (s *Screen) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release()
	s.out("\x1b[2J\x1b[H")
	s.drawn, s.cursor = nil, 0
	s.draw("")
}

// Hold delays all output until Release, which shows it at once.
func (s *Screen) Hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = true
}

// Release shows the output since Hold.
func (s *Screen) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release()
}

func (s *Screen) release() {
	text := s.unsent
	dirty := s.dirty
	s.held, s.dirty, s.unsent = false, false, ""
	if dirty {
		s.draw(text)
	}
}

// Stop removes the drawn rows. Later output is written unchanged.
func (s *Screen) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	s.release()
	text := s.open
	if text != "" {
		text += "\n"
	}
	s.open, s.tail, s.status, s.input = "", nil, "", nil
	s.draw(text)
	s.stopped = true
}

// draw writes text and the rows below it. The caller holds mu.
func (s *Screen) draw(text string) {
	if s.held {
		s.unsent, s.dirty = s.unsent+text, true
		return
	}
	var b strings.Builder
	if s.stopped {
		s.out(strings.ReplaceAll(cell.Terminal(text+s.open), "\n", "\r\n"))
		s.open = ""
		return
	}
	if s.cursor > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.cursor)
	}
	b.WriteString("\r\x1b[J")
	b.WriteString(strings.ReplaceAll(cell.Terminal(text), "\n", "\r\n"))
	rows, cursor, column := s.layout()
	for i, row := range rows {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(cell.Terminal(row))
	}
	if up := len(rows) - 1 - cursor; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteString("\r")
	if column > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", column)
	}
	s.drawn, s.cursor = rows, cursor
	s.out(b.String())
}

// layout returns the rows to draw, never more than the terminal has, and the position of
// the cursor.
func (s *Screen) layout() (rows []string, cursor, column int) {
	input, row := s.input, s.row
	if most := max(s.rows/2, 1); len(input) > most {
		from := max(min(row-most/2, len(input)-most), 0)
		input, row = input[from:from+most], row-from
	}
	room := max(s.rows-len(input)-2, 1)
	if s.open != "" {
		rows = append(rows, cell.Rows(s.open, s.columns-1)...)
	}
	rows = append(rows, s.tail...)
	rows = append([]string(nil), rows[max(len(rows)-room, 0):]...)
	if s.status != "" && s.rows > 3 {
		rows = append(rows, cell.Rows(s.status, s.columns-1)[0])
	}
	if len(input) == 0 {
		return append(rows, ""), len(rows), 0
	}
	return append(rows, input...), len(rows) + row, min(s.column, s.columns-1)
}

func (s *Screen) out(text string) {
	if s.err == nil && text != "" {
		_, s.err = io.WriteString(s.w, text)
	}
}
