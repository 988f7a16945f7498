package transcript

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// composed is the text with its characters in their composed form (NFC).
func composed(s string) string { return norm.NFC.String(s) }

// visibleRounds is how often visible looks again whether something is left.
const visibleRounds = 10

// visible is the text in its compatibility form (NFKC) without format characters,
// those of private use and those that do not exist: a tag must not look like
// another one and be different. What is ASCII stays as it is.
func visible(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0 {
		return s
	}
	for range visibleRounds {
		before := s
		s = strings.Map(func(r rune) rune {
			if unicode.In(r, unicode.Cf, unicode.Co) || !assigned(r) {
				return -1
			}
			return r
		}, norm.NFKC.String(s))
		if s == before {
			break
		}
	}
	return s
}

// assigned reports whether a code point stands for something.
func assigned(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.C)
}
