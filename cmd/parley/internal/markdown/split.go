// Package markdown renders Markdown on a terminal while it arrives: a [Splitter] finds
// complete blocks, [Render] renders one.
package markdown

import "strings"

// Splitter splits a text that arrives in pieces into its blocks: paragraphs, lists, quotes,
// code blocks, tables. It returns a block as soon as no later text can belong to it. The zero
// value is ready to use.
type Splitter struct {
	rest  strings.Builder // an incomplete line
	block strings.Builder
	kind  blockKind
	fence fence
	mark  byte // of the list
	blank bool // the last line of the list, or of the code, was blank
}

type blockKind int

const (
	none blockKind = iota
	paragraph
	list
	quote
	fenced
	indented
)

// fence is the opening of a code block.
type fence struct {
	char byte
	n    int
}

// Write adds a piece and returns the blocks that are now complete.
func (s *Splitter) Write(text string) []string {
	var done []string
	for {
		end, more, ok := strings.Cut(text, "\n")
		s.rest.WriteString(end)
		if !ok {
			return done
		}
		line := s.rest.String()
		s.rest.Reset()
		done = s.line(strings.TrimSuffix(line, "\r"), done)
		text = more
	}
}

// Flush returns the rest at the end of the text, or nil.
func (s *Splitter) Flush() []string {
	done := []string{}
	if s.rest.Len() > 0 {
		done = s.line(strings.TrimSuffix(s.rest.String(), "\r"), done)
	}
	done = s.close(done)
	*s = Splitter{}
	return done
}

// maxPending is more than a terminal can show.
const maxPending = 64 << 10

// Pending returns the incomplete text, only its end if it is very long, because it is called
// after each piece.
func (s *Splitter) Pending() string {
	block, rest := s.block.String(), s.rest.String()
	if over := len(block) + len(rest) - maxPending; over > 0 {
		rest = rest[min(max(over-len(block), 0), len(rest)):]
		block = block[min(over, len(block)):]
		return strings.ToValidUTF8(block+rest, "")
	}
	return block + rest
}

func (s *Splitter) close(done []string) []string {
	if block := strings.Trim(s.block.String(), "\n"); strings.TrimSpace(block) != "" {
		done = append(done, block)
	}
	s.block.Reset()
	s.kind, s.blank = none, false
	return done
}

func (s *Splitter) add(line string) { s.block.WriteString(line + "\n") }

// line processes one complete line.
func (s *Splitter) line(line string, done []string) []string {
	blank := strings.TrimSpace(line) == ""
	switch s.kind {
	case fenced:
		s.add(line)
		if f, only := fenceOf(line); only && f.char == s.fence.char && f.n >= s.fence.n {
			done = s.close(done)
		}
		return done
	case list, indented:
		if blank || s.continues(line) {
			s.add(line)
			s.blank = blank
			return done
		}
		done = s.close(done)
	case paragraph, quote:
		switch {
		case blank:
			return s.close(done)
		case s.kind == paragraph && isUnderline(line):
			s.add(line)
			return s.close(done)
		case s.kind == quote && strings.HasPrefix(strings.TrimLeft(line, " "), ">"), !s.interrupts(line):
			s.add(line)
			return done
		}
		done = s.close(done)
	}
	return s.begin(line, blank, done)
}

// begin starts a block with a line.
func (s *Splitter) begin(line string, blank bool, done []string) []string {
	if blank {
		return done
	}
	s.add(line)
	text := strings.TrimLeft(line, " ")
	f, _ := fenceOf(line)
	switch mark, _ := markOf(text); {
	case indent(line) >= 4:
		s.kind = indented
	case f.n > 0:
		s.kind, s.fence = fenced, f
	case isHeading(text), isRule(text):
		return s.close(done)
	case mark != 0:
		s.kind, s.mark = list, mark
	case text[0] == '>':
		s.kind = quote
	default:
		s.kind = paragraph
	}
	return done
}

// continues reports whether a nonblank line belongs to the list or to the indented code before
// it.
func (s *Splitter) continues(line string) bool {
	if s.kind == indented {
		return indent(line) >= 4
	}
	if indent(line) >= 2 {
		return true
	}
	text := strings.TrimLeft(line, " ")
	if mark, _ := markOf(text); mark != 0 {
		return mark == s.mark && !isRule(text)
	}
	return !s.blank && !s.interrupts(line)
}

// interrupts reports whether a line ends a paragraph before it.
func (s *Splitter) interrupts(line string) bool {
	if indent(line) >= 4 {
		return false
	}
	text := strings.TrimLeft(line, " ")
	f, _ := fenceOf(line)
	mark, first := markOf(text)
	return f.n > 0 || isHeading(text) || isRule(text) || text[0] == '>' || mark != 0 && first
}

// indent returns the indentation of a line; a tab counts as four columns.
func indent(line string) int {
	n := 0
	for _, c := range []byte(line) {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 4 - n%4
		default:
			return n
		}
	}
	return n
}

// fenceOf returns the fence at the start of a line, and reports whether the line has only the fence. Without a fence n
// is 0.
func fenceOf(line string) (f fence, only bool) {
	text := strings.TrimLeft(line, " ")
	if len(line)-len(text) > 3 || text == "" || text[0] != '`' && text[0] != '~' {
		return fence{}, false
	}
	rest := strings.TrimLeft(text, text[:1])
	n := len(text) - len(rest)
	if n < 3 || text[0] == '`' && strings.Contains(rest, "`") {
		return fence{}, false
	}
	return fence{char: text[0], n: n}, strings.TrimSpace(rest) == ""
}

func isHeading(text string) bool {
	rest := strings.TrimLeft(text, "#")
	n := len(text) - len(rest)
	return n >= 1 && n <= 6 && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
}

// isRule reports whether a line is a thematic break.
func isRule(text string) bool {
	text = strings.ReplaceAll(strings.ReplaceAll(text, " ", ""), "\t", "")
	return len(text) >= 3 && strings.Contains("-_*", text[:1]) && strings.Trim(text, text[:1]) == ""
}

// isUnderline reports whether a line makes the paragraph before it a heading.
func isUnderline(line string) bool {
	text := strings.TrimSpace(line)
	return indent(line) < 4 && text != "" && (strings.Trim(text, "=") == "" || strings.Trim(text, "-") == "")
}

// markOf returns the list mark of a line, or 0, and whether it may end a paragraph before it.
func markOf(text string) (mark byte, first bool) {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	if digits > 9 || digits >= len(text) {
		return 0, false
	}
	c, rest := text[digits], text[digits+1:]
	if digits == 0 && !strings.Contains("-+*", string(c)) || digits > 0 && c != '.' && c != ')' || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return 0, false
	}
	return c, strings.TrimSpace(rest) != "" && (digits == 0 || text[:digits] == "1")
}
