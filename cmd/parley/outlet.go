package main

import (
	"io"
	"os"
	"os/exec"

	"golang.org/x/term"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/cell"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/lineedit"
)

// outlet is the only way to standard output and standard error: no other file
// names them. What is written to a terminal is cleaned here, wherever its text came from.
// Elsewhere it is passed on as it is.
type outlet struct {
	w   io.Writer
	f   *os.File // nil in tests
	tty bool
}

// standardOutput and standardError are the program's outlets.
func standardOutput() *outlet { return newOutlet(os.Stdout) }
func standardError() *outlet  { return newOutlet(os.Stderr) }

// protocolOutput takes standard output for a protocol. Whatever else is printed goes to
// standard error from then on.
func protocolOutput() *outlet {
	o := standardOutput()
	os.Stdout = os.Stderr
	return o
}

// lend gives a program of the user's own, which talks with the user, the standard files.
func lend(cmd *exec.Cmd) { cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr }

func newOutlet(f *os.File) *outlet {
	_, tty := terminalWidth(f)
	return &outlet{w: f, f: f, tty: tty}
}

// Write writes text. On a terminal nothing of it is a control character but line
// feeds and tabs; looks have their colours.
func (o *outlet) Write(p []byte) (int, error) {
	if !o.tty {
		return o.w.Write(p)
	}
	if _, err := io.WriteString(o.w, cell.Terminal(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close closes the file that the outlet writes to.
func (o *outlet) Close() error { return o.f.Close() }

// writeJSON writes JSON. On a terminal what would be left out of a text is
// written as an escape of JSON.
func (o *outlet) writeJSON(p []byte) error {
	if o.tty {
		p = []byte(cell.TerminalJSON(string(p)))
	}
	_, err := o.w.Write(p)
	return err
}

// control is a sequence that moves the cursor or sets a mode.
type control string

// The sequences. Nothing else reaches a terminal.
const (
	eraseLine   control = "\r\x1b[K"
	eraseScreen control = "\x1b[H\x1b[2J"
	pasteOn     control = "\x1b[?2004h"
	pasteOff    control = "\x1b[?2004l"
	cursorHome  control = "\x1b[H"
	eraseRight  control = "\x1b[K"
	eraseBelow  control = "\x1b[J"
	otherScreen control = "\x1b[?1049h\x1b[?25l" // without a cursor
	ownScreen   control = "\x1b[?25h\x1b[?1049l"
)

// control writes a sequence to a terminal, and nothing elsewhere.
func (o *outlet) control(c control) {
	if o.tty {
		_, _ = io.WriteString(o.w, string(c)) // the text after it tells of an error
	}
}

// screen is a screen on the terminal, which cleans what is written to it.
func (o *outlet) screen(columns, rows int) *lineedit.Screen {
	return lineedit.NewScreen(o.w, columns, rows)
}

// size is that of the terminal.
func (o *outlet) size() (columns, rows int, err error) { return term.GetSize(int(o.f.Fd())) }
