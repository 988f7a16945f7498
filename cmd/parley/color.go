package main

import "github.com/seed7221b0f9/parley/cmd/parley/internal/cell"

// style is how text looks on a terminal with colours.
type style string

const (
	plain  style = ""
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
	bold   style = "1"
)

// paint gives text a style, if the pen has colours.
func (p *pen) paint(s style, text string) string {
	if !p.color || s == plain || text == "" {
		return text
	}
	return cell.Look(string(s)) + text + cell.Plainly
}

// wantColor decides about colours on a terminal.
func wantColor(noColorFlag bool, getenv func(string) string) bool {
	return !noColorFlag && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}
