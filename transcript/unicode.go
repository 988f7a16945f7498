package transcript

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// composed returns the text in composed form (NFC).
func composed(s string) string { return norm.NFC.String(s) }

// visibleRounds limits how often visible repeats the removal.
const visibleRounds = 10

// visible returns the text in its compatibility form (NFKC) without format, private-use and
// unassigned characters: different tags must not look the same. ASCII characters are unchanged.
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

// assigned reports whether a code point is assigned.
func assigned(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.C)
}
