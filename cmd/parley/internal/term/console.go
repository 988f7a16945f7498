// Package term has the terminal functions that commands share: sanitized output, tables, charts,
// signals, exit codes and usage errors.
package term

import (
	"io"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/markdown"
)

// Console holds the two outputs of the program. Its lock is held during a write to either.
type Console struct {
	mu  sync.Mutex
	Out *Pen
	Err *Pen
}

// NewConsole examines the outputs. If both are terminals, they count as the same one.
func NewConsole(color bool) *Console {
	c := &Console{Out: NewPen(StandardOutput(), color), Err: NewPen(StandardError(), color)}
	if c.Out.TTY && c.Err.TTY {
		c.Err.Cur = c.Out.Cur
	}
	return c
}

// Lock blocks other writers until Unlock.
func (c *Console) Lock() { c.mu.Lock() }

// Unlock releases the lock.
func (c *Console) Unlock() { c.mu.Unlock() }

// PenTo returns a pen without colours that writes to w, and sanitizes like for a terminal if tty is
// set.
func PenTo(w io.Writer, tty bool) *Pen {
	o := &Outlet{w: w, TTY: tty}
	return &Pen{W: o, Outlet: o, TTY: tty, Cur: &cursor{}}
}

// NewPen returns a pen that writes to o.
func NewPen(o *Outlet, color bool) *Pen {
	columns, _ := TerminalWidth(o.f)
	return &Pen{W: o, Outlet: o, TTY: o.TTY, Color: o.TTY && color && canColor(o.f), Width: columns, Cur: &cursor{}}
}

// Aside returns the pen for output other than the answer: the same terminal, or standard error
// elsewhere.
func (c *Console) Aside() *Pen {
	if c.Out.TTY {
		return c.Out
	}
	return c.Err
}

// Complain writes an error.
func (c *Console) Complain(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Err.Line(c.Err.Failure(text))
}

// Failure returns the text of an error with a single prefix "error".
func (p *Pen) Failure(text string) string {
	text = Sanitize(text)
	for _, word := range []string{"Error: ", "error: "} {
		text = strings.TrimPrefix(text, word)
	}
	return p.Paint(Red, "error:") + " " + p.Wrapped(text, len("error: "))
}

// Wrapped wraps text at words if the pen writes to a terminal; taken columns are already used.
func (p *Pen) Wrapped(text string, taken int) string {
	if !p.TTY || p.Width <= taken {
		return text
	}
	return markdown.Wrap(text, p.Width-taken)
}

// Note writes one short line.
func (c *Console) Note(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text = OneLine(text)
	if c.Err.TTY {
		text = strings.ReplaceAll(markdown.Wrap(text, c.Err.Width-2), "\n", "\n  ")
	}
	c.Err.Line(c.Err.Paint(Yellow, "!") + " " + text)
}

// Pass writes a line of the CLI's standard error.
func (c *Console) Pass(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Err.Line(c.Err.Show(text))
}
