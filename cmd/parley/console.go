package main

import (
	"os"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/markdown"
)

// console is the two outputs of the program. Its lock is held by whoever
// writes to either.
type console struct {
	mu  sync.Mutex
	out *pen
	err *pen
}

// newConsole looks at what the outputs are. Both being terminals, they are
// taken to be the same one.
func newConsole(out, err *os.File, color bool) *console {
	c := &console{out: newPen(out, color), err: newPen(err, color)}
	if c.out.tty && c.err.tty {
		c.err.cur = c.out.cur
	}
	return c
}

func newPen(f *os.File, color bool) *pen {
	columns, tty := terminalWidth(f)
	return &pen{w: f, tty: tty, color: tty && color && canColor(f), width: columns, cur: &cursor{}}
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
	c.err.line(c.err.paint(red, "error:") + " " + sanitize(text))
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
