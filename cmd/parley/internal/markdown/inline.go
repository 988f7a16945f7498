package markdown

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// inline renders the inline elements of a block; look is the style of the text around them.
func (r *renderer) inline(parent ast.Node, look string) line {
	var l line
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		l = append(l, r.piece(n, look)...)
	}
	return l
}

func (r *renderer) piece(n ast.Node, look string) line {
	switch n := n.(type) {
	case *ast.Text:
		return r.text(n, look)
	case *ast.String:
		return glyphs(string(n.Value), look)
	case *ast.CodeSpan:
		return r.marked(glyphs(r.plain(n), r.add(look, codeLook)), "`")
	case *ast.Emphasis:
		if n.Level == 2 {
			return r.marked(r.inline(n, r.add(look, bold)), "**")
		}
		return r.marked(r.inline(n, r.add(look, italic)), "*")
	case *east.Strikethrough:
		return r.marked(r.inline(n, r.add(look, struck)), "~~")
	case *ast.Link:
		return r.link(r.inline(n, r.add(look, underline)), string(n.Destination), look)
	case *ast.AutoLink:
		return glyphs(string(n.Label(r.src)), r.add(look, underline))
	case *ast.Image:
		alt := append(glyphs("[image: ", look), r.inline(n, look)...)
		return r.link(append(alt, glyphs("]", look)...), string(n.Destination), look)
	case *ast.RawHTML:
		var b strings.Builder
		for i := range n.Segments.Len() {
			segment := n.Segments.At(i)
			b.Write(segment.Value(r.src))
		}
		return glyphs(b.String(), look)
	case *east.TaskCheckBox:
		if n.IsChecked {
			return glyphs("☑ ", look)
		}
		return glyphs("☐ ", look)
	}
	return r.inline(n, look)
}

func (r *renderer) text(n *ast.Text, look string) line {
	value := n.Segment.Value(r.src)
	if !n.IsRaw() {
		// Resolve escapes and entities.
		value = util.UnescapePunctuations(value)
		value = util.ResolveNumericReferences(value)
		value = util.ResolveEntityNames(value)
	}
	l := glyphs(string(value), look)
	switch {
	case n.HardLineBreak():
		l = append(l, glyph{'\n', ""})
	case n.SoftLineBreak():
		l = append(l, glyph{' ', look})
	}
	return l
}

// plain returns the text of a code span.
func (r *renderer) plain(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(r.src))
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

// link returns a text followed by its address, if that adds information.
func (r *renderer) link(text line, address, look string) line {
	var shown strings.Builder
	for _, g := range text {
		shown.WriteRune(g.r)
	}
	if address == "" || shown.String() == address || "mailto:"+shown.String() == address {
		return text
	}
	return append(text, glyphs(" ("+address+")", r.add(look, dim))...)
}

// marked puts a mark around text without a look.
func (r *renderer) marked(l line, mark string) line {
	if r.color {
		return l
	}
	return append(append(glyphs(mark, ""), l...), glyphs(mark, "")...)
}

// add combines two looks.
func (r *renderer) add(look, more string) string {
	switch {
	case !r.color:
		return ""
	case look == "":
		return more
	case slices.Contains(strings.Split(look, ";"), more):
		return look // limits nested looks
	}
	return look + ";" + more
}
