// Package cell knows how many columns of a terminal text takes, and what text
// may be shown there.
package cell

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sanitize makes text of others fit for a terminal: control characters other
// than line feed and tab are left out, so that no escape sequence is ever
// whole, and bytes that are not UTF-8 become U+FFFD.
func Sanitize(s string) string {
	if !strings.ContainsFunc(s, Unsafe) && utf8.ValidString(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if Unsafe(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// Unsafe reports whether r is one of C0, DEL and C1, without \n and \t, or turns
// the direction of the text around it.
func Unsafe(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// Width is the number of columns that text without escape sequences takes.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += RuneWidth(r)
	}
	return n
}

// RuneWidth is 2 for East Asian scripts and emoji, 0 for marks that combine with
// the rune before them, 1 otherwise.
func RuneWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case wide(r):
		return 2
	case r == 0x200d || r >= 0xfe00 && r <= 0xfe0f || unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	return 1
}

func wide(r rune) bool {
	switch {
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0x303e, r >= 0x3041 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6,
		r >= 0x1f300 && r <= 0x1f64f, r >= 0x1f680 && r <= 0x1f6ff, r >= 0x1f900 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return true
	}
	return strings.ContainsRune("⌚⌛⏩⏪⏫⏬⏰⏳☔☕♈♉♊♋♌♍♎♏♐♑♒♓♿⚓⚡⚽⚾⛄⛅⛔⛪⛵⛽✅✊✋✨❌❎❓❔❕❗➕➖➗⭐⭕", r)
}

// Escape is the length of the escape sequence that s begins with, 0 if it begins
// with none. It knows the sequences that set colours.
func Escape(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	for i := 2; i < len(s); i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
	}
	return len(s)
}

// Rows cuts one line, which may have colours in it, into rows of so many
// columns. Colours go on in the next row. There is at least one row.
func Rows(line string, columns int) []string {
	var rows []string
	var row strings.Builder
	used, look := 0, ""
	for i := 0; i < len(line); {
		if n := Escape(line[i:]); n > 0 {
			if look = line[i : i+n]; look == "\x1b[0m" || look == "\x1b[m" {
				look = ""
			}
			row.WriteString(line[i : i+n])
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(line[i:])
		w := RuneWidth(r)
		if columns > 0 && used+w > columns && used > 0 {
			if look != "" {
				row.WriteString("\x1b[0m")
			}
			rows = append(rows, row.String())
			row.Reset()
			row.WriteString(look)
			used = 0
		}
		row.WriteString(line[i : i+n])
		used += w
		i += n
	}
	return append(rows, row.String())
}

// Plain is text without escape sequences.
func Plain(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if n := Escape(s[i:]); n > 0 {
			i += n
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}
