package transcript

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// matcher searches a text in lines of JSON, ignoring case and escapes. It first searches the bytes
// for something that every matching line contains; it decodes and searches the lines that pass.
type matcher struct {
	text   string
	exact  bool     // case-sensitive
	anchor [2]byte  // the rarest letter of a plain run, in both cases
	run    []byte   // the run, in lower case, if any
	at     int      // of the anchor in run
	forms  [][]byte // without a run: the encodings of one character of the text
	codes  []string // and the hexadecimal digits of its escapes
	folded []rune   // the case-folded text
	border []int    // for each prefix, the length of the longest proper prefix that is also its suffix
}

// maxRun is the length of a plain run that is searched in the bytes.
const maxRun = 32

// rarity orders letters and digits, rarest first, roughly as in English and in code.
const rarity = "QZXJKVBYWGPFMUCDLHRSNIOATE9876543210qzxjkvbywgpfmucdlhrsnioate"

func newMatcher(text string, exact bool) *matcher {
	m := &matcher{text: text, exact: exact}
	m.setFolded()
	for _, run := range strings.FieldsFunc(text, func(r rune) bool { return !isPlain(r) }) {
		if len(run) > len(m.run) {
			m.run = []byte(strings.ToLower(run))
		}
	}
	// A part of a required run is required too, and is compared faster.
	if len(m.run) > maxRun {
		m.run = m.run[:maxRun]
	}
	if m.run == nil {
		m.setForms()
		return m
	}
	best := len(rarity)
	for i, c := range m.run {
		if rank := strings.IndexByte(rarity, c); rank < best {
			best, m.at = rank, i
		}
	}
	c := m.run[m.at]
	m.anchor = [2]byte{c, byte(unicode.ToUpper(rune(c)))}
	return m
}

// isPlain reports whether usual JSON encoders write a character unescaped.
func isPlain(r rune) bool {
	return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// setForms sets the encodings of one character for a text without a plain one: in each case,
// unescaped and escaped.
func (m *matcher) setForms() {
	best := rune(-1)
	for _, r := range m.text {
		best = max(best, r) // the higher, the rarer
	}
	for r := best; ; {
		m.forms = append(m.forms, []byte(string(r)))
		if i := strings.IndexRune("\"\\/\b\f\n\r\t", r); i >= 0 {
			m.forms = append(m.forms, []byte{'\\', `"\/bfnrt`[i]})
		}
		m.codes = append(m.codes, hexCode(r))
		if r = unicode.SimpleFold(r); r == best {
			return
		}
	}
}

// hexCode returns the digits of an escape after \u; for a surrogate pair those of the first.
func hexCode(r rune) string {
	if r > 0xffff {
		r = 0xd800 + (r-0x10000)>>10
	}
	return fmt.Sprintf("%04x", r)
}

// indexCode returns the index of an escape with one of the codes, or -1.
func indexCode(b []byte, codes []string) int {
	for from := 0; ; {
		i := bytes.Index(b[from:], []byte(`\u`))
		if i < 0 {
			return -1
		}
		from += i
		if from+6 <= len(b) {
			code := b[from+2 : from+6]
			if slices.ContainsFunc(codes, func(c string) bool { return strings.EqualFold(c, string(code)) }) {
				return from
			}
		}
		from += 2
	}
}

// index returns the index of something in b that a match requires, or -1. It can be at, before or
// inside the match.
func (m *matcher) index(b []byte) int {
	first := -1
	note := func(i int) {
		if i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	if m.run == nil {
		for _, form := range m.forms {
			note(bytes.Index(b, form))
		}
		note(indexCode(b, m.codes))
		return first
	}
	for i, c := range m.anchor {
		if i == 0 || c != m.anchor[0] {
			end := len(b)
			if first >= 0 {
				end = min(end, first+len(m.run))
			}
			note(m.indexRun(b[:end], c))
		}
	}
	if first >= 0 {
		b = b[:first]
	}
	note(indexEscapedPlain(b))
	return first
}

// indexRun returns the index of the run in b; it searches for one of its letters first.
func (m *matcher) indexRun(b []byte, c byte) int {
	for from := m.at; from < len(b); {
		i := bytes.IndexByte(b[from:], c)
		if i < 0 {
			return -1
		}
		from += i
		start := from - m.at
		if start+len(m.run) > len(b) {
			return -1
		}
		if bytes.EqualFold(b[start:start+len(m.run)], m.run) {
			return start
		}
		from++
	}
	return -1
}

// indexEscapedPlain returns the index of a letter or digit that is escaped unnecessarily, which is
// unusual but valid JSON.
func indexEscapedPlain(b []byte) int {
	pattern := []byte(`\u00`)
	for from := 0; ; {
		i := bytes.Index(b[from:], pattern)
		if i < 0 {
			return -1
		}
		from += i
		if from+4 < len(b) && b[from+4] >= '3' && b[from+4] <= '7' && !bytes.Contains([]byte("3c3C3e3E7f7F"), b[from+4:min(len(b), from+6)]) {
			return from
		}
		from += len(pattern)
	}
}

// find returns the first match in a decoded text.
func (m *matcher) find(s string) (start, end int, ok bool) {
	if m.exact {
		i := strings.Index(s, m.text)
		return i, i + len(m.text), i >= 0
	}
	// Knuth, Morris and Pratt: each character is read once.
	matched, count := 0, 0
	for i, r := range s {
		r = folded(r)
		for matched > 0 && m.folded[matched] != r {
			matched = m.border[matched-1]
		}
		if m.folded[matched] == r {
			matched++
		}
		count++
		if matched == len(m.folded) {
			_, size := utf8.DecodeRuneInString(s[i:])
			return runeOffset(s, count-matched), i + size, true
		}
	}
	return 0, 0, false
}

// runeOffset returns the byte offset of character n.
func runeOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// setFolded prepares a search that ignores case: the folded characters, and for each prefix the
// length of the longest proper prefix that is also its suffix.
func (m *matcher) setFolded() {
	for _, r := range m.text {
		m.folded = append(m.folded, folded(r))
	}
	m.border = make([]int, len(m.folded))
	for i, n := 1, 0; i < len(m.folded); i++ {
		for n > 0 && m.folded[n] != m.folded[i] {
			n = m.border[n-1]
		}
		if m.folded[n] == m.folded[i] {
			n++
		}
		m.border[i] = n
	}
}

// folded returns one representative of a character for all cases. ASCII characters fold only to
// ASCII, so that bytes can be searched: K does not match the Kelvin sign.
func folded(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r |= 0x20
		}
		return r
	}
	lowest := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		if f >= utf8.RuneSelf {
			lowest = min(lowest, f)
		}
	}
	return lowest
}
