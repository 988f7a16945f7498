package main

import (
	"strings"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/cell"
)

// sanitize makes text of others fit for a terminal.
func sanitize(s string) string { return cell.Sanitize(s) }

// oneLine is text as part of a line: sanitized, and every run of white space a
// single space.
func oneLine(s string) string { return strings.Join(strings.Fields(sanitize(s)), " ") }

// firstLine is the first line of text that is not blank.
func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return oneLine(line)
}

// shorten cuts text to a number of columns, with an ellipsis where it was cut.
func shorten(s string, columns int) string {
	if columns < 1 || width(s) <= columns {
		return s
	}
	used := 0
	for i, r := range s {
		if used += cell.RuneWidth(r); used > columns-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// width is the number of columns that text takes.
func width(s string) int { return cell.Width(s) }
