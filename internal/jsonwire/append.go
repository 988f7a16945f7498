package jsonwire

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"
)

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string with only the necessary escapes, like
// JSON.stringify. Invalid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	if len(s) >= largeString {
		dst = slices.Grow(dst, quotedLen(s)+spare)
	}
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

const (
	// largeString is the minimum length of strings that are copied once, at the cost of a second scan.
	largeString = 64 << 10
	// spare is the extra capacity for the rest of the message after a large string.
	spare = 1 << 10
)

// quotedLen returns the length that AppendString gives a string of valid UTF-8.
func quotedLen(s string) int {
	size := 2
	for {
		n, _ := untilSpecial(s)
		if size += n; n == len(s) {
			return size
		}
		var one [6]byte
		size += len(appendEscaped(one[:0], s[n]))
		s = s[n+1:]
	}
}

// Quote returns s as a JSON string, in the form of [AppendString].
func Quote(s string) string {
	b := AppendString(nil, s)
	return unsafe.String(unsafe.SliceData(b), len(b)) // b has no other reference
}

// Quoted yields the text between the quotes of s as a JSON string, in short parts that are valid until the next.
func Quoted(s string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var buf []byte
		for s != "" {
			n := min(len(s), quotedPart)
			for back := 0; n < len(s) && !utf8.RuneStart(s[n]) && back < utf8.UTFMax; back++ {
				n--
			}
			buf = AppendString(buf[:0], s[:n])
			if s = s[n:]; !yield(buf[1 : len(buf)-1]) {
				return
			}
		}
	}
}

// quotedPart is the size in bytes of the string that a part of Quoted covers.
const quotedPart = 32 << 10

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
