// Package mdlimit finds Markdown that its parser would take very long for, or make very much
// of. A renderer of foreign text asks it first, and shows such a text as it is.
package mdlimit

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

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

// blocks finds the blocks of a text, and nothing in them. What is a block of code and what is
// not depends on all that stands before it, so that only the parser itself can tell.
var blocks = parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))

// Exceeded reports whether a text should not be rendered. The parser is quadratic in the
// brackets and stars of a paragraph, and in how deep quotes and lists nest; a table with few
// cells in its rows is filled up. What is in a block of code has no such marks.
func Exceeded(source string) bool {
	if len(source) > maxProse {
		return true
	}
	for line := range strings.Lines(source) {
		if containers(line) > maxContainers || indent(line) > maxIndent {
			return true
		}
	}
	src := []byte(source)
	cost := 0
	_ = ast.Walk(blocks.Parse(text.NewReader(src)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Type() == ast.TypeInline {
			return ast.WalkSkipChildren, nil
		}
		if !entering || n.Type() != ast.TypeBlock || n.IsRaw() {
			return ast.WalkContinue, nil
		}
		p := paragraphOf(n, src)
		if cost += p.marks * p.marks; cost > maxMarks || p.tooWide() {
			cost = maxMarks + 1
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return cost > maxMarks
}

// paragraph is what counts of a block.
type paragraph struct{ marks, lines, pipes, size int }

func paragraphOf(n ast.Node, src []byte) (p paragraph) {
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		pipes := 0
		for _, c := range segment.Value(src) {
			switch c {
			case '[', ']', '(', '*', '_', '~', '<', '!', '`', '&':
				p.marks++
			case '|':
				pipes++
			}
		}
		p.lines++
		p.size += segment.Len() + 1
		p.pipes = max(p.pipes, pipes)
	}
	return p
}

// tooWide reports whether a table would have more cells than anybody writes.
func (p *paragraph) tooWide() bool { return p.pipes*p.lines > 4*p.size+1024 }

// containers is how many quotes and items of lists a line begins.
func containers(line string) (n int) {
	for i := 0; i < len(line); i++ {
		alone := i+1 == len(line) || strings.IndexByte(" \t\r\n", line[i+1]) >= 0
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
