package editor

import "strings"

// partialInput parses a tool's input while it grows, and reports the complete members.
type partialInput struct {
	text    strings.Builder
	seen    int // number of parsed bytes
	depth   int
	quoted  bool
	escaped bool
	members int // number of complete members
	cut     int // end of the last complete one
	broken  bool
}

// maxPartial is the number of times that an incomplete input is shown, once per new member. Each
// time costs the length of the text so far.
const maxPartial = 16

// add adds a piece. It returns an object with the completed members, and whether their number has
// grown. It reads each byte once.
func (p *partialInput) add(piece string) (string, bool) {
	p.text.WriteString(piece)
	text := p.text.String()
	before := p.members
	for ; p.seen < len(text) && !p.broken; p.seen++ {
		p.step(text[p.seen])
	}
	if p.members == before || p.members > maxPartial || p.broken {
		return "", false
	}
	return text[:p.cut] + "}", true
}

func (p *partialInput) step(c byte) {
	switch {
	case p.escaped:
		p.escaped = false
	case p.quoted && c == '\\':
		p.escaped = true
	case c == '"':
		p.quoted = !p.quoted
	case p.quoted:
	case c == '{' || c == '[':
		p.depth++
	case c == '}' || c == ']':
		if p.depth--; p.depth < 0 {
			p.broken = true
		}
	case c == ',' && p.depth == 1:
		p.members++
		p.cut = p.seen
	}
}
