package jsonwire

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unquote turns the text between the quotes of a valid JSON string into its value:
// escapes resolved, invalid UTF-8 and lone surrogates replaced by U+FFFD, like
// encoding/json.
func unquote(s string, ascii bool) string {
	if !ascii && !utf8.ValidString(s) {
		return unescape(toValidUTF8(s))
	}
	return unescape(s)
}

// unescape resolves the escapes of valid UTF-8.
func unescape(s string) string {
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i >= 0 {
		b.WriteString(s[:i])
		s = s[i:]
		s = s[appendEscape(&b, s):]
		i = strings.IndexByte(s, '\\')
	}
	b.WriteString(s)
	return b.String()
}

// toValidUTF8 replaces every invalid byte by U+FFFD; strings.ToValidUTF8 would
// replace a run of them by one.
func toValidUTF8(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 16)
	for _, r := range s {
		b.WriteRune(r)
	}
	return b.String()
}

// appendEscape writes the value of the escape at the start of s, two of them for a
// surrogate pair, and returns the number of consumed bytes.
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
