// Package cell knows how many columns of a terminal text takes, and what text
// may be shown there.
package cell

import (
	"fmt"
	"slices"
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

// Unsafe reports whether r is one of C0, DEL and C1, without \n and \t, turns the
// direction of the text around it, breaks a line where \n does not, is a byte order mark or
// a tag, which nobody sees, or is one of the marks of a look.
func Unsafe(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\n' && r != '\t'
	case r < 0x7f:
		return false
	case r <= 0x9f, r == 0x2028, r == 0x2029, r == 0xfeff, r == lookOpen, r == lookClose, r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return unicode.Is(unicode.Bidi_Control, r)
}

// A look stands in a text between these two, which are not characters, until Terminal makes an
// escape sequence of it. So nothing that others wrote can be one: at worst it has a colour.
const (
	lookOpen  = '\uFDD0'
	lookClose = '\uFDD1'
)

// maxLook is the length of a look and its end. This program adds a few parameters at most; in a
// text of others the end is not looked for any farther.
const maxLook = 64

// Plainly ends every look.
const Plainly = "\uFDD00\uFDD1"

// Look begins a look, which is the parameters of an SGR sequence.
func Look(parameters string) string { return string(lookOpen) + parameters + string(lookClose) }

// shown are the parameters that this program uses. None of them hides text.
var shown = []string{"0", "1", "2", "3", "4", "7", "9", "31", "32", "33", "34", "35", "36"}

// Terminal is text as a terminal gets it: sanitized, its looks escape sequences.
func Terminal(s string) string {
	if !strings.ContainsFunc(s, Unsafe) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for {
		text, rest, found := strings.Cut(s, string(lookOpen))
		b.WriteString(Sanitize(text))
		if !found {
			return b.String()
		}
		look, _, ok := strings.Cut(rest[:min(len(rest), maxLook)], string(lookClose))
		if ok = ok && !slices.ContainsFunc(strings.Split(look, ";"), func(p string) bool { return !slices.Contains(shown, p) }); !ok {
			s = rest
			continue
		}
		b.WriteString("\x1b[" + look + "m")
		s = rest[len(look)+utf8.RuneLen(lookClose):]
	}
}

// TerminalJSON is JSON as a terminal gets it: what is not safe is written as an
// escape of JSON, so that the value stays what it is.
func TerminalJSON(s string) string {
	if !strings.ContainsFunc(s, Unsafe) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		if Unsafe(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Width is the number of columns that text without looks takes.
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

// Escape is the length of the look that s begins with, 0 if it begins with none.
func Escape(s string) int {
	if !strings.HasPrefix(s, string(lookOpen)) {
		return 0
	}
	if i := strings.IndexRune(s[:min(len(s), utf8.RuneLen(lookOpen)+maxLook)], lookClose); i >= 0 {
		return i + utf8.RuneLen(lookClose)
	}
	return utf8.RuneLen(lookOpen)
}

// Rows cuts one line, which may have colours in it, into rows of so many
// columns. Colours go on in the next row. There is at least one row.
func Rows(line string, columns int) []string {
	var rows []string
	var row strings.Builder
	used, look := 0, ""
	for i := 0; i < len(line); {
		if n := Escape(line[i:]); n > 0 {
			if look = line[i : i+n]; look == Plainly {
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
				row.WriteString(Plainly)
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

// Plain is text without looks.
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
