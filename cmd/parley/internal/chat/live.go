package chat

import (
	"strings"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/markdown"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// liveProse shows the model's text while it arrives: complete blocks are rendered and
// stay, an incomplete block is shown unrendered and redrawn.
type liveProse struct {
	tail  func(text string) // shows the incomplete part
	split markdown.Splitter
	to    *term.Pen
	typ   string
	block int
}

// add adds the next piece of a block.
func (l *liveProse) add(to *term.Pen, typ string, block int, text string) {
	if l.block != block || l.typ != typ {
		l.flush()
		l.to, l.typ, l.block = to, typ, block
	}
	l.write(l.split.Write(text))
	l.redraw()
}

// redraw shows the incomplete part at its position.
func (l *liveProse) redraw() {
	text := strings.TrimSpace(l.split.Pending())
	if text == "" || l.to == nil {
		l.tail("")
		return
	}
	text = l.plain(text)
	if l.to.Cur.Kind != term.Nothing && l.to.Cur.Newlines < 2 {
		text = "\n" + text
	}
	l.tail(text)
}

// flush shows the rest of a block. A nil receiver is valid.
func (l *liveProse) flush() {
	if l == nil || l.to == nil {
		return
	}
	l.tail("")
	l.write(l.split.Flush())
	l.to = nil
	l.typ = ""
}

func (l *liveProse) write(blocks []string) {
	for _, block := range blocks {
		l.to.Begin(term.Prose, "")
		l.to.Print(l.render(block) + "\n")
	}
}

func (l *liveProse) render(block string) string {
	if l.typ != "thinking" {
		return markdown.Render(block, markdown.Style{Columns: l.to.Width, Color: l.to.Color})
	}
	return l.plain(block)
}

// plain returns text without Markdown, wrapped and sanitized.
func (l *liveProse) plain(text string) string {
	lines := strings.Split(markdown.Wrap(text, l.to.Width-1), "\n")
	for i, text := range lines {
		if l.typ == "thinking" {
			lines[i] = l.to.Paint(term.Dim, text)
		}
	}
	return strings.Join(lines, "\n")
}
