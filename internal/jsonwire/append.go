package jsonwire

import (
	"strings"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string with no escape that is not needed, as
// JSON.stringify writes it. Invalid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for {
		n, ascii := untilSpecial(s)
		if piece := s[:n]; ascii || utf8.ValidString(piece) {
			dst = append(dst, piece...)
		} else {
			dst = appendValid(dst, piece)
		}
		if n == len(s) {
			return append(dst, '"')
		}
		dst = appendEscaped(dst, s[n])
		s = s[n+1:]
	}
}

// appendValid appends s with U+FFFD for each byte that is not UTF-8.
func appendValid(dst []byte, s string) []byte {
	for _, r := range s {
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

func appendEscaped(dst []byte, c byte) []byte {
	if i := strings.IndexByte("\"\\\b\f\n\r\t", c); i >= 0 {
		return append(dst, '\\', `"\bfnrt`[i])
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
}
