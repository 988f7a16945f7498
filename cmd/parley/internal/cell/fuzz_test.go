package cell

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// looks are the escape sequences of one or more looks.
var looks = regexp.MustCompile(`\x1b\[(` + strings.Join(shown, "|") + `)(;(` + strings.Join(shown, "|") + `))*m`)

// FuzzTerminal: for any text, the terminal gets only the escape sequences of this program's looks, and sanitizing is
// idempotent.
func FuzzTerminal(f *testing.F) {
	for _, s := range []string{"", "a\x1b[31mb", "\x9b31m", Look("31") + "x" + Plainly, Look("31;8") + "x", Look("1;3") + "x", "\uFDD0", "\uFDD1\uFDD0", "\xff\x1b", "\u202eabc", "a\r\nb\tc"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		clean := Sanitize(s)
		if !utf8.ValidString(clean) || strings.ContainsFunc(clean, Unsafe) || Sanitize(clean) != clean {
			t.Fatalf("Sanitize(%q) = %q", s, clean)
		}
		rest := looks.ReplaceAllString(Terminal(s), "")
		if strings.ContainsFunc(rest, Unsafe) || !utf8.ValidString(rest) {
			t.Fatalf("Terminal(%q) leaves %q", s, rest)
		}
	})
}
