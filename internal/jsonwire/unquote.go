package jsonwire

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unquote turns the text between the quotes of a valid JSON string into its
// value: escapes resolved, invalid UTF-8 and lone surrogates replaced by U+FFFD,
// byte for byte as encoding/json does.
func unquote(s string) string {
	if strings.IndexByte(s, '\\') < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\\':
			i += appendEscape(&b, s[i:])
		case c < utf8.RuneSelf:
			n, _ := untilSpecial(s[i:])
			n = asciiPrefix(s[i : i+max(n, 1)])
			b.WriteString(s[i : i+n])
			i += n
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			b.WriteRune(r) // RuneError for an invalid byte
			i += size
		}
	}
	return b.String()
}

func asciiPrefix(s string) int {
	n := 0
	for n < len(s) && s[n] < utf8.RuneSelf {
		n++
	}
	return n
}

// appendEscape writes the value of the escape at the start of s, two of them for
// a surrogate pair, and returns how many bytes it took.
func appendEscape(b *strings.Builder, s string) int {
	if s[1] != 'u' {
		b.WriteByte(simpleEscape(s[1]))
		return 2
	}
	r, _ := hex4(s[2:])
	if !utf16.IsSurrogate(r) {
		b.WriteRune(r)
		return 6
	}
	if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if low, ok := hex4(s[8:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				b.WriteRune(pair)
				return 12
			}
		}
	}
	b.WriteRune(utf8.RuneError)
	return 6
}

func simpleEscape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c // quote, backslash, slash
}
