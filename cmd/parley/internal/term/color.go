package term

import "github.com/seed7221b0f9/parley/cmd/parley/internal/cell"

// Style is a text style on a terminal with colours.
type Style string

const (
	Plain  Style = ""
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Bold   Style = "1"
)

// Paint applies a style to text, if the pen has colours.
func (p *Pen) Paint(s Style, text string) string {
	if !p.Color || s == Plain || text == "" {
		return text
	}
	return cell.Look(string(s)) + text + cell.Plainly
}

// WantColor reports whether to use colours on a terminal.
func WantColor(noColorFlag bool, getenv func(string) string) bool {
	return !noColorFlag && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

// The marks of success and failure.
const (
	OKMark   = "✓"
	FailMark = "✗"
)
