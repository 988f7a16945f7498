package chat

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	xterm "golang.org/x/term"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/lineedit"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// screenUI is a person at a terminal: a line editor below the agent's output.
type screenUI struct {
	c       *loop
	in      *os.File
	out     *term.Outlet
	screen  *lineedit.Screen
	editor  *lineedit.Editor
	keys    lineedit.Keys
	restore func()
}

// newUI returns an editor on a terminal, and a line reader elsewhere.
func (c *loop) newUI(in *os.File) (ui, error) {
	out := c.con.Out.Outlet
	if !c.con.Out.TTY || !xterm.IsTerminal(int(in.Fd())) || os.Getenv("TERM") == "dumb" {
		return newLineUI(c, in), nil
	}
	columns, rows, err := out.Size()
	if err != nil {
		return newLineUI(c, in), nil
	}
	history, err := lineedit.OpenHistory(historyPath())
	if err != nil {
		c.note("the history cannot be read: " + err.Error())
	}
	old, err := xterm.MakeRaw(int(in.Fd()))
	if err != nil {
		return newLineUI(c, in), nil
	}
	t := &screenUI{c: c, in: in, out: out, screen: out.Screen(columns, rows)}
	t.editor = &lineedit.Editor{History: history, Complete: c.completions}
	t.restore = func() {
		out.Control(term.PasteOff)
		_ = xterm.Restore(int(in.Fd()), old)
	}
	out.Control(term.PasteOn)
	c.con.Lock()
	defer c.con.Unlock()
	c.con.Out.W = t.screen
	if c.con.Err.TTY {
		c.con.Err.W = t.screen
	}
	c.out.live = &liveProse{tail: t.screen.Tail}
	return t, nil
}

// historyPath returns the path of the history file, or "".
func historyPath() string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "parley", "history")
	}
	if runtime.GOOS == "windows" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		return filepath.Join(dir, "parley", "history")
	}
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, ".local", "state", "parley", "history")
}

func (t *screenUI) start() {
	t.c.note("/help lists the commands, Ctrl-D ends.")
	// This goroutine cannot be waited for: a read from a terminal blocks until a user
	// types.
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := t.in.Read(buf)
			typed := append([]byte(nil), buf[:n]...)
			t.c.post(func() { t.typed(typed) })
			if err != nil {
				t.c.post(t.c.leave)
				return
			}
		}
	}()
	t.changed()
}

func (t *screenUI) typed(p []byte) {
	for _, key := range t.keys.Feed(p) {
		switch t.editor.Handle(key) {
		case lineedit.Submitted:
			t.submit()
		case lineedit.Cancelled:
			empty := t.editor.String() == ""
			t.c.ctrlC(empty)
			if !empty && !t.c.busy() {
				t.editor.Set("")
			}
		case lineedit.Ended:
			t.c.leave()
		case lineedit.Refresh:
			t.screen.Clear()
		case lineedit.Listed:
			t.c.note(strings.Join(t.editor.Candidates(), "  "))
		}
	}
}

func (t *screenUI) submit() {
	text := t.editor.Take()
	if t.c.asking() {
		t.c.submit(text) // an answer is not added to the history
		return
	}
	if err := t.editor.History.Add(text); err != nil {
		t.c.note("the history cannot be kept: " + err.Error())
		t.editor.History, _ = lineedit.OpenHistory("") // once is enough
	}
	t.c.submit(text)
}

func (t *screenUI) hold() { t.screen.Hold() }

// changed draws the typed line and the status above it.
func (t *screenUI) changed() {
	defer t.screen.Release()
	look := t.c.con.Out
	t.screen.Status(look.Paint(term.Dim, t.status()))
	if t.c.leaving {
		t.screen.Input(nil, 0, 0)
		return
	}
	rows, row, column := t.editor.Rows(look.Paint(term.Bold, t.c.promptMark()), look.Paint(term.Bold, "… "), t.screen.Columns()-1)
	t.screen.Input(rows, row, column)
}

// status describes the current activity, or returns "".
func (t *screenUI) status() string {
	if t.c.leaving || !t.c.busy() {
		return ""
	}
	text := "… waiting"
	if begun := t.c.prompts.working(); !begun.IsZero() {
		text = "… working " + time.Since(begun).Round(time.Second).String()
	}
	if t.c.asking() {
		text = "… waiting for you"
	}
	if n := t.c.queued(); n > 0 {
		text += fmt.Sprintf(" · %d queued", n)
	}
	return text + " · Ctrl-C interrupts"
}

// resize applies the new size of the terminal.
func (t *screenUI) resize() {
	columns, rows, err := t.out.Size()
	if err != nil {
		return
	}
	t.c.con.Lock()
	t.c.con.Out.Width = columns
	if t.c.con.Err.TTY {
		t.c.con.Err.Width = columns
	}
	t.screen.Resize(columns, rows)
	t.c.out.live.redraw()
	t.c.con.Unlock()
}

func (t *screenUI) stop() {
	t.c.con.Lock()
	t.c.out.live.flush()
	t.c.con.Unlock()
	t.screen.Stop()
	t.c.con.Lock()
	t.c.con.Out.W = t.out
	if t.c.con.Err.TTY {
		t.c.con.Err.W = t.out
	}
	t.c.con.Unlock()
	t.restore()
}
