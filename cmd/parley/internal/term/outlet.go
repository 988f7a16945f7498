package term

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"

	"golang.org/x/term"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/cell"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/lineedit"
)

// Outlet is the only access to standard output and standard error: no other file names
// them. It sanitizes all text for a terminal. Other output is unchanged, unless Clean is
// set.
type Outlet struct {
	w     io.Writer
	f     *os.File // nil in tests
	TTY   bool
	Clean bool // also sanitize text that does not go to a terminal
}

// StandardOutput and standardError are the program's outlets.
func StandardOutput() *Outlet { return newOutlet(os.Stdout) }
func StandardError() *Outlet  { return newOutlet(os.Stderr) }

// ProtocolOutput reserves standard output for a protocol. All other output then goes to
// standard error.
func ProtocolOutput() *Outlet {
	o := StandardOutput()
	os.Stdout = os.Stderr
	return o
}

// Lend passes the standard files to an interactive program of the user.
func Lend(cmd *exec.Cmd) { cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr }

func newOutlet(f *os.File) *Outlet {
	_, tty := TerminalWidth(f)
	return &Outlet{w: f, f: f, TTY: tty}
}

// Write writes text. On a terminal it removes control characters except for line feeds
// and tabs, and shows looks as colours.
func (o *Outlet) Write(p []byte) (int, error) {
	clean := cell.Terminal
	switch {
	case !o.TTY && !o.Clean:
		return o.w.Write(p)
	case !o.TTY:
		clean = cell.Sanitize
	}
	if _, err := io.WriteString(o.w, clean(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close closes the file that the outlet writes to.
func (o *Outlet) Close() error { return o.f.Close() }

// EncodeJSON writes a value as a line of JSON.
func (o *Outlet) EncodeJSON(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return o.WriteJSON(append(data, '\n'))
}

// WriteJSON writes JSON. On a terminal it writes unsafe characters as JSON escapes.
func (o *Outlet) WriteJSON(p []byte) error {
	if o.TTY || o.Clean {
		p = []byte(cell.TerminalJSON(string(p)))
	}
	_, err := o.w.Write(p)
	return err
}

// control is a sequence that moves the cursor or sets a mode.
type control string

// The allowed sequences.
const (
	EraseLine   control = "\r\x1b[K"
	EraseScreen control = "\x1b[H\x1b[2J"
	PasteOn     control = "\x1b[?2004h"
	PasteOff    control = "\x1b[?2004l"
	CursorHome  control = "\x1b[H"
	EraseRight  control = "\x1b[K"
	EraseBelow  control = "\x1b[J"
	OtherScreen control = "\x1b[?1049h\x1b[?25l" // without a cursor
	OwnScreen   control = "\x1b[?25h\x1b[?1049l"
)

// Control writes a sequence to a terminal; elsewhere it has no effect.
func (o *Outlet) Control(c control) {
	if o.TTY {
		_, _ = io.WriteString(o.w, string(c)) // the text after it reports errors
	}
}

// Screen returns a screen on the terminal, which sanitizes its output.
func (o *Outlet) Screen(columns, rows int) *lineedit.Screen {
	return lineedit.NewScreen(o.w, columns, rows)
}

// Size returns the size of the terminal.
func (o *Outlet) Size() (columns, rows int, err error) { return term.GetSize(int(o.f.Fd())) }
