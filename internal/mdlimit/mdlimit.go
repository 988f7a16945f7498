// Package mdlimit detects Markdown that takes the parser very long or gives very large
// output. A renderer of untrusted text checks it first and shows such text unrendered.
package mdlimit

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

const (
	// maxProse is the maximum length of a text that is rendered as Markdown.
	maxProse = 1 << 20
	// maxMarks limits the cost of special characters: the sum over all paragraphs of their
	// number squared, which is the parser's effort.
	maxMarks = 4 << 20
	// maxContainers limits the quotes and lists that the beginning of a line opens.
	maxContainers = 16
	// maxIndent limits the indentation of a line.
	maxIndent = 128
)

// blocks parses only the blocks of a text. Whether a line is in a code block depends on all
// earlier text, so only the parser itself can decide it.
var blocks = parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))

// Exceeded reports whether a text should not be rendered. The parser is quadratic in the
// brackets and stars of a paragraph, and in the nesting depth of quotes and lists; it pads
// table rows with missing cells. The content of code blocks does not count.
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

// paragraph holds the counts of a block.
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

// tooWide reports whether a table would have an unreasonable number of cells.
func (p *paragraph) tooWide() bool { return p.pipes*p.lines > 4*p.size+1024 }

// containers returns the number of quotes and list items that a line opens.
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

// indent returns the indentation of a line.
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
