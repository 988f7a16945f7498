// Package cell computes the width of text on a terminal and sanitizes text for it.
package cell

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sanitize makes untrusted text safe for a terminal: it removes control characters other than
// line feed and tab, so that no escape sequence is complete, and replaces bytes that are not
// UTF-8 by U+FFFD.
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

// Unsafe reports whether r can alter the display of a text: a control character (C0, DEL or C1) other than \n and \t, a
// change of the text direction, a line separator, an invisible byte order mark or tag, or one of the marks of a look.
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

// These two noncharacters enclose a look in a text until Terminal converts it to an escape
// sequence. So untrusted text can never contain an escape sequence: at worst it sets a colour.
const (
	lookOpen  = '\uFDD0'
	lookClose = '\uFDD1'
)

// maxLook is the maximum length of a look including its end. This program uses only a few
// parameters; in untrusted text the search for the end stops there.
const maxLook = 64

// Plainly resets all styles.
const Plainly = "\uFDD00\uFDD1"

// Look returns the start of a look with the parameters of an SGR sequence.
func Look(parameters string) string { return string(lookOpen) + parameters + string(lookClose) }

// shown are the SGR parameters that a look may have. They never hide text.
var shown = []string{"0", "1", "2", "3", "4", "7", "9", "31", "32", "33", "34", "35", "36"}

// Terminal returns text for a terminal: sanitized, with looks as escape sequences.
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

// TerminalJSON returns JSON for a terminal: unsafe characters are written as JSON escapes, so
// that the value does not change.
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

// Width returns the number of columns that text without looks takes.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += RuneWidth(r)
	}
	return n
}

// RuneWidth returns 2 for East Asian scripts and emoji, 0 for combining marks, 1 otherwise.
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

// Escape returns the length of the look that s begins with, or 0.
func Escape(s string) int {
	if !strings.HasPrefix(s, string(lookOpen)) {
		return 0
	}
	if i := strings.IndexRune(s[:min(len(s), utf8.RuneLen(lookOpen)+maxLook)], lookClose); i >= 0 {
		return i + utf8.RuneLen(lookClose)
	}
	return utf8.RuneLen(lookOpen)
}

// Rows splits one line, which may contain colours, into rows of the given width. Colours
// continue in the next row. There is at least one row.
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

// Plain returns text without looks.
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
