package main

import (
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/markdown"
)

// console is the two outputs of the program. Its lock is held while either is written to.
type console struct {
	mu  sync.Mutex
	out *pen
	err *pen
}

// newConsole looks at what the outputs are. Both being terminals, they are
// taken to be the same one.
func newConsole(color bool) *console {
	c := &console{out: newPen(standardOutput(), color), err: newPen(standardError(), color)}
	if c.out.tty && c.err.tty {
		c.err.cur = c.out.cur
	}
	return c
}

func newPen(o *outlet, color bool) *pen {
	columns, _ := terminalWidth(o.f)
	return &pen{w: o, outlet: o, tty: o.tty, color: o.tty && color && canColor(o.f), width: columns, cur: &cursor{}}
}

// aside is where what is not the answer goes: beside it on a terminal, away
// from it elsewhere.
func (c *console) aside() *pen {
	if c.out.tty {
		return c.out
	}
	return c.err
}

// complain writes what went wrong.
func (c *console) complain(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err.line(c.err.failure(text))
}

// failure is the text of an error, after the word that says so, once.
func (p *pen) failure(text string) string {
	text = sanitize(text)
	for _, word := range []string{"Error: ", "error: "} {
		text = strings.TrimPrefix(text, word)
	}
	return p.paint(red, "error:") + " " + p.wrapped(text, len("error: "))
}

// wrapped is text with its words whole, where the pen writes to a terminal and so
// many columns are taken.
func (p *pen) wrapped(text string, taken int) string {
	if !p.tty || p.width <= taken {
		return text
	}
	return markdown.Wrap(text, p.width-taken)
}

// note writes one short line.
func (c *console) note(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text = oneLine(text)
	if c.err.tty {
		text = strings.ReplaceAll(markdown.Wrap(text, c.err.width-2), "\n", "\n  ")
	}
	c.err.line(c.err.paint(yellow, "!") + " " + text)
}

// pass writes a line of the CLI's standard error.
func (c *console) pass(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err.line(c.err.show(text))
}
