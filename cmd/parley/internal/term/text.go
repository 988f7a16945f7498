package term

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/cell"
)

// Sanitize makes untrusted text safe for a terminal.
func Sanitize(s string) string { return cell.Sanitize(s) }

// OneLine returns text for part of a line: sanitized, with every run of white space as a
// single space.
func OneLine(s string) string { return strings.Join(strings.Fields(Sanitize(s)), " ") }

// FirstLine returns the first line of text that is not blank.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return OneLine(line)
}

// Shorten cuts text to a number of columns, with an ellipsis if it was cut.
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

// Width returns the number of columns that text takes.
func Width(s string) int { return cell.Width(s) }

// Seconds formats a duration.
func Seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// Count formats a number of tokens.
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

// Nearest returns the word that is most similar to a name, or "" if no word is similar.
func Nearest(name string, words []string) (best string) {
	least := 3 // the smallest edit distance so far
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

// changes returns the edit distance of a and b. Words of more than 40 runes are never
// similar.
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
