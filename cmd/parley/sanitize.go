package main

import (
	"strings"
	"unicode/utf8"
)

// sanitize makes text of others fit for a terminal: control characters other
// than line feed and tab are left out, so that no escape sequence is ever
// whole, and bytes that are not UTF-8 become U+FFFD.
func sanitize(s string) string {
	if !strings.ContainsFunc(s, unsafeRune) && utf8.ValidString(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if unsafeRune(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// unsafeRune reports whether r is one of C0, DEL and C1, without \n and \t.
func unsafeRune(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f
}

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
		if used += runeWidth(r); used > columns-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// width is the number of columns that text takes, as near as is needed to cut
// lines.
func width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// runeWidth is 2 for the blocks of East Asian scripts and of emoji.
func runeWidth(r rune) int {
	switch {
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60,
		r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}
