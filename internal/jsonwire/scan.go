package jsonwire

import (
	"math/bits"
	"strconv"
)

// maxDepth is the maximum nesting depth, the limit of encoding/json.
const maxDepth = 10000

// SyntaxError is returned for invalid JSON, with the position of the error.
type SyntaxError struct {
	Offset int    // in bytes from the start of the text
	What   string // description of the error
}

func (e *SyntaxError) Error() string {
	return "jsonwire: " + e.What + " at offset " + strconv.Itoa(e.Offset)
}

// Valid reports whether s is exactly one JSON value.
func Valid(s string) bool {
	d := Decoder{s: s}
	d.Skip()
	return d.end() == nil
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// span is the content of a string between its quotes. If it is ASCII without escapes, it is
// the value.
type span struct {
	text    string
	escaped bool // it holds a backslash
	ascii   bool
}

// scanString moves past the string that starts at the cursor.
func (d *Decoder) scanString() span {
	s, i := d.s, d.i+1
	start, out := i, span{ascii: true}
	for {
		n, ascii := untilSpecial(s[i:])
		i += n
		out.ascii = out.ascii && ascii
		if i >= len(s) {
			d.fail(i, "string without an end")
			return span{}
		}
		switch c := s[i]; {
		case c == '"':
			d.i = i + 1
			out.text = s[start:i]
			return out
		case c == '\\':
			out.escaped = true
			if i+1 < len(s) && simpleEscapes[s[i+1]] {
				i += 2
				continue
			}
			n := escapeLen(s[i:])
			if n == 0 {
				d.fail(i, "bad escape")
				return span{}
			}
			i += n
		default:
			d.fail(i, "control character in a string")
			return span{}
		}
	}
}

// untilSpecial counts the bytes of s before the first quote, backslash or control character
// and reports whether all of them are ASCII.
func untilSpecial(s string) (n int, ascii bool) {
	var seen uint64
	rest := s
	// Long strings make up most of a stream: scan 32 bytes at a time unless the first 8 have a
	// special byte, then 8, then 1.
	for len(rest) >= 32 && special(load64(rest)) == 0 {
		a, b, c, d := load64(rest), load64(rest[8:]), load64(rest[16:]), load64(rest[24:])
		if special(a)|special(b)|special(c)|special(d) != 0 {
			break
		}
		seen |= a | b | c | d
		rest = rest[32:]
	}
	for len(rest) >= 8 {
		w := load64(rest)
		if hit := special(w); hit != 0 {
			// A borrow can mark bytes above the first hit, never below it.
			k := bits.TrailingZeros64(hit) >> 3
			seen |= w & (1<<(8*k) - 1)
			return len(s) - len(rest) + k, seen&highs == 0
		}
		seen |= w
		rest = rest[8:]
	}
	for len(rest) > 0 && rest[0] != '"' && rest[0] != '\\' && rest[0] >= 0x20 {
		seen |= uint64(rest[0])
		rest = rest[1:]
	}
	return len(s) - len(rest), seen&highs == 0
}

// special sets the high bit of every byte that is a quote, a backslash or a control character,
// and possibly of bytes above the first of them.
func special(w uint64) uint64 {
	quote := w ^ (ones * '"')
	slash := w ^ (ones * '\\')
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*0x20)&^w) & highs
}

// load64 returns the first eight bytes of s; the compiler combines them to one load.
func load64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// simpleEscapes are the bytes that make an escape of two.
var simpleEscapes = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// escapeLen returns the length of the escape at the start of s, or 0 if it is invalid.
func escapeLen(s string) int {
	switch {
	case len(s) < 2:
		return 0
	case simpleEscapes[s[1]]:
		return 2
	case s[1] == 'u':
		if _, ok := hex4(s[2:]); ok {
			return 6
		}
	}
	return 0
}

func hex4(s string) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	var r rune
	for i := range 4 {
		c := s[i]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// scanNumber moves past a number and returns its text.
func (d *Decoder) scanNumber() (text string, integer bool) {
	s, start, i := d.s, d.i, d.i
	if i < len(s) && s[i] == '-' {
		i++
	}
	switch {
	case i < len(s) && s[i] == '0':
		i++
	case i < len(s) && '1' <= s[i] && s[i] <= '9':
		i = digits(s, i)
	default:
		d.fail(i, "bad number")
		return "", false
	}
	integer = true
	if i < len(s) && s[i] == '.' {
		integer = false
		if i = d.someDigits(i + 1); i < 0 {
			return "", false
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		integer = false
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if i = d.someDigits(i); i < 0 {
			return "", false
		}
	}
	d.i = i
	return s[start:i], integer
}

func digits(s string, i int) int {
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return i
}

// someDigits passes at least one digit, or fails and returns -1.
func (d *Decoder) someDigits(i int) int {
	j := digits(d.s, i)
	if j == i {
		d.fail(i, "bad number")
		return -1
	}
	return j
}

func (d *Decoder) scanWord(word string) {
	if len(d.s)-d.i < len(word) || d.s[d.i:d.i+len(word)] != word {
		d.fail(d.i, "unknown word")
		return
	}
	d.i += len(word)
}
