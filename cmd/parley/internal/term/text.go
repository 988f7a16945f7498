package term

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/cell"
)

// Sanitize makes text of others fit for a terminal.
func Sanitize(s string) string { return cell.Sanitize(s) }

// OneLine is text as part of a line: sanitized, and every run of white space a
// single space.
func OneLine(s string) string { return strings.Join(strings.Fields(Sanitize(s)), " ") }

// FirstLine is the first line of text that is not blank.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return OneLine(line)
}

// Shorten cuts text to a number of columns, with an ellipsis where it was cut.
func Shorten(s string, columns int) string {
	if columns < 1 || Width(s) <= columns {
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

// Width is the number of columns that text takes.
func Width(s string) int { return cell.Width(s) }

// Seconds is a duration as a person reads it.
func Seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// Count is a number of tokens in short.
func Count(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// Plural returns a number with its noun.
func Plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Nearest is the word that is most like a name, "" if none is.
func Nearest(name string, words []string) (best string) {
	least := 3 // of changes
	for _, w := range words {
		if strings.HasPrefix(w, name) && len(name) > 1 {
			return w
		}
		if n := changes(name, w); n < least && n < len(name) {
			best, least = w, n
		}
	}
	return best
}

// changes is how many runes have to be added, left out or replaced to make b of a.
// Words of more than 40 are not like any other.
func changes(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > 40 || len(y) > 40 {
		return 40
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range x {
		before := row[0]
		row[0] = i + 1
		for j, s := range y {
			cost := before
			if r != s {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(y)]
}
