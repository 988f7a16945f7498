package history

import (
	"fmt"
	"os"
	"time"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// workBar shows the progress of long work on a terminal.
type workBar struct {
	w     *sessionWork
	what  string
	begin time.Time
	last  time.Time
	shown bool
}

// barAfter is the delay before the bar appears, barEvery the interval of its updates.
const (
	barAfter = 300 * time.Millisecond
	barEvery = 100 * time.Millisecond
)

func (w *sessionWork) bar(what string) *workBar { return &workBar{w: w, what: what, begin: time.Now()} }

func (b *workBar) update(done, total int) {
	now := time.Now()
	if !b.w.con.Err.TTY || os.Getenv("TERM") == "dumb" || now.Sub(b.begin) < barAfter || now.Sub(b.last) < barEvery {
		return
	}
	b.last, b.shown = now, true
	b.w.con.Err.Control(term.EraseLine)
	fmt.Fprintf(b.w.con.Err.W, "%s: %d of %d", b.what, done, total)
}

func (b *workBar) clear() {
	if b.shown {
		b.w.con.Err.Control(term.EraseLine)
		b.shown = false
	}
}

// table writes a table fitted to the terminal.
func (w *sessionWork) table(t *term.Table) {
	out := w.con.Out
	for _, line := range t.Render(out.Width, out) {
		out.Line(line)
	}
}

// shortID returns the beginning of an id on a terminal, elsewhere all of it.
func (w *sessionWork) shortID(id string) string {
	if w.con.Out.TTY && len(id) > 8 {
		return id[:8]
	}
	return id
}

// sizeText formats a number of bytes.
func sizeText(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000_000:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	case n < 1000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// timeText formats a time for a list.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}
