package markdown

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/cell"
	"github.com/seed7221b0f9/parley/internal/mdlimit"
)

// Style configures how Markdown is rendered.
type Style struct {
	// Columns is the width of the terminal; 0 means 80.
	Columns int
	// Color enables looks as escape sequences. Without it the text keeps its Markdown
	// marks.
	Color bool
}

const (
	defaultColumns = 80
	leastColumns   = 8 // below this width text is unreadable, and lines overflow
	maxColumns     = 100
)

// The looks as SGR parameters.
const (
	bold      = "1"
	dim       = "2"
	italic    = "3"
	underline = "4"
	struck    = "9"
	codeLook  = "36"
)

var parser = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList, extension.Linkify)).Parser()

// Render renders Markdown, usually one block, as lines without a final line feed. No text
// of the source becomes an escape sequence.
func Render(source string, style Style) string {
	if style.Columns <= 0 {
		style.Columns = defaultColumns
	}
	style.Columns = max(min(style.Columns, maxColumns), leastColumns)
	if source = cell.Sanitize(source); mdlimit.Exceeded(source) {
		return Wrap(source, style.Columns)
	}
	src := []byte(source)
	r := &renderer{src: src, color: style.Color}
	lines := r.blocks(parser.Parse(text.NewReader(src)), style.Columns, false)
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = trimRight(l).String()
	}
	return strings.Join(out, "\n")
}

type renderer struct {
	src   []byte
	color bool
}

// look returns a look, or "" without colours.
func (r *renderer) look(s string) string {
	if r.color {
		return s
	}
	return ""
}

// blocks renders the content of a container. Tight ones have no blank lines between their
// blocks.
func (r *renderer) blocks(parent ast.Node, columns int, tight bool) []line {
	var lines []line
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		block := r.block(n, columns)
		if len(block) == 0 {
			continue
		}
		if len(lines) > 0 && !tight {
			lines = append(lines, nil)
		}
		lines = append(lines, block...)
	}
	return lines
}

func (r *renderer) block(n ast.Node, columns int) []line {
	switch n := n.(type) {
	case *ast.Heading:
		return r.heading(n, columns)
	case *ast.Paragraph, *ast.TextBlock:
		return wrap(trimRight(r.inline(n, "")), columns)
	case *ast.List:
		return r.list(n, columns)
	case *ast.Blockquote:
		mark := glyphs("│ ", r.look(dim))
		return prefixed(r.blocks(n, max(columns-2, leastColumns), false), mark, mark)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return r.code(n, columns)
	case *ast.ThematicBreak:
		return []line{glyphs(strings.Repeat("─", min(columns, 40)), r.look(dim))}
	case *ast.HTMLBlock:
		var lines []line
		for text := range strings.Lines(r.lines(n)) {
			lines = append(lines, wrap(glyphs(strings.TrimRight(text, "\n"), ""), columns)...)
		}
		return lines
	case *east.Table:
		return r.table(n, columns)
	}
	return r.blocks(n, columns, false)
}

func (r *renderer) heading(n *ast.Heading, columns int) []line {
	look := bold
	if n.Level == 1 {
		look += ";" + underline
	}
	text := r.inline(n, r.look(look))
	if !r.color {
		text = append(glyphs(strings.Repeat("#", n.Level)+" ", ""), text...)
	}
	return wrap(text, columns)
}

func (r *renderer) list(n *ast.List, columns int) []line {
	var lines []line
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if n.IsOrdered() {
			mark = fmt.Sprintf("%d%c ", number, n.Marker)
			number++
		}
		if len(lines) > 0 && !n.IsTight {
			lines = append(lines, nil)
		}
		width := cell.Width(mark)
		body := r.blocks(item, max(columns-width, leastColumns), n.IsTight)
		if len(body) == 0 {
			body = []line{nil}
		}
		lines = append(lines, prefixed(body, glyphs(mark, ""), glyphs(strings.Repeat(" ", width), ""))...)
	}
	return lines
}

// code renders an indented code block. It does not break at words: long lines continue in
// the next row.
func (r *renderer) code(n ast.Node, columns int) []line {
	const margin = "  "
	var lines []line
	for text := range strings.Lines(r.lines(n)) {
		rest := glyphs(strings.TrimRight(text, "\n"), r.look(codeLook))
		for size := rest.width(); size > columns-len(margin); {
			k := fit(rest, columns-len(margin))
			lines = append(lines, rest[:k])
			size -= rest[:k].width()
			rest = rest[k:]
		}
		lines = append(lines, rest)
	}
	if len(lines) == 0 {
		lines = []line{nil}
	}
	return prefixed(lines, glyphs(margin, ""), glyphs(margin, ""))
}

// lines returns the text of a block that has no inline structure.
func (r *renderer) lines(n ast.Node) string {
	var b strings.Builder
	segments := n.Lines()
	for i := range segments.Len() {
		segment := segments.At(i)
		b.Write(segment.Value(r.src))
	}
	return b.String()
}

// prefixed adds one prefix to the first line and another to the rest.
func prefixed(lines []line, first, rest line) []line {
	out := make([]line, len(lines))
	for i, l := range lines {
		mark := rest
		if i == 0 {
			mark = first
		}
		out[i] = append(append(line{}, mark...), l...)
	}
	return out
}
