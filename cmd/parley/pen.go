package main

import "io"

// pen writes to one of the two outputs and knows what stands before it there.
// Pens on the same terminal share a cursor.
type pen struct {
	w      io.Writer // outlet, or a screen on it
	outlet *outlet
	tty    bool
	color  bool
	width  int // columns of the terminal; 0 means no limit
	cur    *cursor
	err    error // the first error of writing; nothing is written after it
}

// cursor is where the writing stands.
type cursor struct {
	kind     kind
	newlines int    // at the end of what was written, at most 2
	owner    string // who may go on where the cursor stands, without a break
}

// kind is what was written last.
type kind int

const (
	nothing kind = iota
	prose        // has a blank line around it
	line         // stands among others of its kind
)

// write writes text as it is.
func (p *pen) write(s string) {
	if s == "" || p.err != nil {
		return
	}
	if _, err := io.WriteString(p.w, s); err != nil {
		p.err = err
		return
	}
	n := 0
	for n < len(s) && n < 2 && s[len(s)-1-n] == '\n' {
		n++
	}
	if n == len(s) {
		n = min(2, n+p.cur.newlines)
	}
	p.cur.newlines = n
}

// json writes JSON as it is.
func (p *pen) json(text []byte) {
	if p.err == nil {
		p.err = p.outlet.writeJSON(text)
		p.cur.newlines = 1
	}
}

// control writes a control sequence. It is not part of the text.
func (p *pen) control(c control) { p.outlet.control(c) }

// begin starts something of a kind on a line of its own. An owner that wrote
// last goes on where it stopped.
func (p *pen) begin(k kind, owner string) {
	if owner != "" && p.cur.owner == owner {
		return
	}
	need := 0
	switch {
	case p.cur.kind == nothing:
	case k == prose || p.cur.kind == prose:
		need = 2
	default:
		need = 1
	}
	for range need - p.cur.newlines {
		p.write("\n")
	}
	p.cur.kind, p.cur.owner = k, owner
}

// line writes one line.
func (p *pen) line(s string) {
	p.begin(line, "")
	p.write(s + "\n")
}

// end ends the line that is under way.
func (p *pen) end() {
	if p.cur.kind != nothing && p.cur.newlines == 0 {
		p.write("\n")
	}
	p.cur.owner = ""
}

// show is text of others, made safe for where it is written.
func (p *pen) show(s string) string {
	if p.tty {
		return sanitize(s)
	}
	return s
}
