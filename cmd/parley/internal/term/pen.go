package term

import (
	"bytes"
	"encoding/json"
	"io"
)

// Pen writes to one of the two outputs and tracks the text before the cursor. Pens on the
// same terminal share a cursor.
type Pen struct {
	W      io.Writer // outlet, or a screen on it
	Outlet *Outlet
	TTY    bool
	Color  bool
	Width  int // columns of the terminal; 0 means no limit
	Cur    *cursor
	Err    error // the first write error; later writes are dropped
}

// cursor is the state of the output.
type cursor struct {
	Kind     kind
	Newlines int    // number of trailing newlines, at most 2
	Owner    string // who may continue at the cursor without a break
}

// kind is the kind of the last output.
type kind int

const (
	Nothing kind = iota
	Prose        // surrounded by blank lines
	Line         // adjacent to others of its kind
)

// Print writes text unchanged.
func (p *Pen) Print(s string) {
	if s == "" || p.Err != nil {
		return
	}
	if _, err := io.WriteString(p.W, s); err != nil {
		p.Err = err
		return
	}
	n := 0
	for n < len(s) && n < 2 && s[len(s)-1-n] == '\n' {
		n++
	}
	if n == len(s) {
		n = min(2, n+p.Cur.Newlines)
	}
	p.Cur.Newlines = n
}

// JSON writes JSON unchanged.
func (p *Pen) JSON(text []byte) {
	if p.Err == nil {
		p.Err = p.Outlet.WriteJSON(text)
		p.Cur.Newlines = 1
	}
}

// Encode writes a value as JSON, indented or on one line. It returns the error of encoding.
func (p *Pen) Encode(v any, indent string) error {
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	out.SetIndent("", indent)
	if err := out.Encode(v); err != nil {
		return err
	}
	p.JSON(text.Bytes())
	return nil
}

// Control writes a control sequence. It is not part of the text.
func (p *Pen) Control(c control) { p.Outlet.Control(c) }

// Begin starts output of a kind on a new line. The owner of the last output continues where
// it stopped.
func (p *Pen) Begin(k kind, owner string) {
	if owner != "" && p.Cur.Owner == owner {
		return
	}
	need := 0
	switch {
	case p.Cur.Kind == Nothing:
	case k == Prose || p.Cur.Kind == Prose:
		need = 2
	default:
		need = 1
	}
	for range need - p.Cur.Newlines {
		p.Print("\n")
	}
	p.Cur.Kind, p.Cur.Owner = k, owner
}

// Line writes one line.
func (p *Pen) Line(s string) {
	p.Begin(Line, "")
	p.Print(s + "\n")
}

// End ends an unfinished line.
func (p *Pen) End() {
	if p.Cur.Kind != Nothing && p.Cur.Newlines == 0 {
		p.Print("\n")
	}
	p.Cur.Owner = ""
}

// Show sanitizes untrusted text for the output.
func (p *Pen) Show(s string) string {
	if p.TTY {
		return Sanitize(s)
	}
	return s
}

// PlainWidth is the line width outside of a terminal.
const PlainWidth = 200

// Room returns the number of columns for an outcome after used columns.
func (p *Pen) Room(used int) int {
	if p.Width == 0 {
		return PlainWidth
	}
	if room := p.Width - used - 4; room >= 30 {
		return room
	}
	return max(p.Width-8, 30)
}
