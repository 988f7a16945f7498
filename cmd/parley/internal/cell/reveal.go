package cell

import (
	"fmt"
	"strings"
	"unicode"
)

// Reveal replaces every invisible character of a text with its code point, such as U+202E. A person who approves the
// text then sees characters that change its direction, join its words or hide in it. Line breaks and tabs stay.
func Reveal(s string) string {
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			fmt.Fprintf(&b, "U+%04X", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// hidden reports whether a character has no width on a screen, or looks like a space but is another character.
func hidden(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef: // variation selectors
		return true
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0, r == 0x2800: // fillers
		return true
	case r >= 0x180b && r <= 0x180f: // Mongolian selectors
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) || r != ' ' && unicode.Is(unicode.Zs, r) || r >= 0xfdd0 && r <= 0xfdef
}
