package export

import "strings"

const (
	// maxProse is the length up to which a text is rendered as Markdown.
	maxProse = 1 << 20
	// maxMarks is how many characters with a meaning may stand in all paragraphs of a
	// text, each paragraph's squared: this is what the parser takes for them.
	maxMarks = 4 << 20
	// maxContainers is how many quotes and lists a line may be in by what it begins with.
	maxContainers = 16
	// maxIndent is how far a line may be indented.
	maxIndent = 128
)

// tooInvolved reports whether the parser would take very long for a text, or make very
// much of it. The parser is quadratic in the brackets and stars of a paragraph, and in
// how deep quotes and lists nest; a table with few cells in its rows is filled up. What
// is in a block of code is not looked at.
func tooInvolved(text string) bool {
	if len(text) > maxProse {
		return true
	}
	codeCounts := strings.HasPrefix(text, "<") || strings.Contains(text, "\n<")
	var p paragraph
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case fence != "":
			if closes(line, fence) {
				fence = ""
			}
			continue
		case !codeCounts && opensFence(line):
			fence = line[:len(line)-len(strings.TrimLeft(line, "`"))]
			continue
		}
		if strings.TrimSpace(line) == "" {
			p.end()
			continue
		}
		if p.add(line); p.cost > maxMarks || p.tooWide() || containers(line) > maxContainers || indent(line) > maxIndent {
			return true
		}
	}
	p.end()
	return p.cost > maxMarks
}

// opensFence reports whether a line opens a block of code, whatever is before it.
func opensFence(line string) bool {
	info := strings.TrimLeft(line, "`")
	return len(line)-len(info) >= 3 && strings.Trim(info, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+#-_.") == ""
}

func closes(line, fence string) bool {
	return strings.HasPrefix(line, fence) && strings.Trim(line, "` \t") == ""
}

// paragraph is the lines since the last empty one.
type paragraph struct {
	marks, lines, pipes, size int
	cost                      int // of the paragraphs before, and of this one
	before                    int // of the paragraphs before alone
}

func (p *paragraph) add(line string) {
	for _, c := range []byte(line) {
		switch c {
		case '[', ']', '(', '*', '_', '~', '<', '!', '`', '&':
			p.marks++
		}
	}
	p.lines++
	p.size += len(line) + 1
	p.pipes = max(p.pipes, strings.Count(line, "|"))
	p.cost = p.before + p.marks*p.marks
}

// tooWide reports whether a table would have more cells than anybody writes.
func (p *paragraph) tooWide() bool { return p.pipes*p.lines > 4*p.size+1024 }

func (p *paragraph) end() { *p = paragraph{cost: p.cost, before: p.cost} }

// containers is how many quotes and items of lists a line begins.
func containers(line string) (n int) {
	for i := 0; i < len(line); i++ {
		alone := i+1 == len(line) || line[i+1] == ' ' || line[i+1] == '\t'
		switch c := line[i]; {
		case c == '>', alone && (c == '-' || c == '+' || c == '*' || c == '.' || c == ')'):
			n++
		case c == ' ' || c == '\t' || c >= '0' && c <= '9':
		default:
			return n
		}
	}
	return n
}

// indent is how far a line is indented.
func indent(line string) (n int) {
	for _, c := range []byte(line) {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 4
		default:
			return n
		}
	}
	return n
}
