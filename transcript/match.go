package transcript

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// matcher looks for a text in lines of JSON, where it may be written with other
// case and with escapes. It first looks at the bytes, for something that every
// such line has to have; what passes is decoded and looked at again.
type matcher struct {
	text   string
	exact  bool     // case counts
	anchor [2]byte  // the rarest letter of a plain run, in both cases
	run    []byte   // the run, in lower case, if there is one
	at     int      // of the anchor in it
	forms  [][]byte // without a run: how a character of the text can be written
	codes  []string // and the hexadecimal digits of its escapes
}

// rarity orders letters and digits, the rarest first: as they are in English and in
// code, roughly.
const rarity = "QZXJKVBYWGPFMUCDLHRSNIOATE9876543210qzxjkvbywgpfmucdlhrsnioate"

func newMatcher(text string, exact bool) *matcher {
	m := &matcher{text: text, exact: exact}
	for _, run := range strings.FieldsFunc(text, func(r rune) bool { return !isPlain(r) }) {
		if len(run) > len(m.run) {
			m.run = []byte(strings.ToLower(run))
		}
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

// isPlain reports whether a character is written as itself in all JSON that people
// meet.
func isPlain(r rune) bool {
	return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// setForms finds the ways to write one character of a text that has no plain one: in
// each case, as it is and escaped.
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

// hexCode is what stands in an escape behind \u, of a pair in the first one.
func hexCode(r rune) string {
	if r > 0xffff {
		r = 0xd800 + (r-0x10000)>>10
	}
	return fmt.Sprintf("%04x", r)
}

// indexCode is the place of an escape of one of the codes.
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

// index is the place of something in b that a match needs, -1 if there is none. It
// can be at or before the match, or inside of it.
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

// indexRun is the place of the run in b, found by one of its letters.
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

// indexEscapedPlain is the place of a letter or digit that is escaped although it
// need not be: nobody writes so, but it is JSON.
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

// find is the first match in a decoded text.
func (m *matcher) find(s string) (start, end int, ok bool) {
	if m.exact {
		i := strings.Index(s, m.text)
		return i, i + len(m.text), i >= 0
	}
	first, size := utf8.DecodeRuneInString(m.text)
	for i, r := range s {
		if !sameFold(r, first) {
			continue
		}
		if n := prefixFold(s[i:], m.text, size); n >= 0 {
			return i, i + n, true
		}
	}
	return 0, 0, false
}

// prefixFold is the length of the part of s that equals sub but for case, -1 if s
// does not begin so. The first rune of sub, size bytes long, was compared.
func prefixFold(s, sub string, size int) int {
	_, n := utf8.DecodeRuneInString(s)
	for _, want := range sub[size:] {
		got, k := utf8.DecodeRuneInString(s[n:])
		if k == 0 || !sameFold(got, want) {
			return -1
		}
		n += k
	}
	return n
}

// sameFold reports whether two characters differ in case only. What is ASCII has no
// case outside of it, so that bytes can be looked for: K is not the Kelvin sign.
func sameFold(a, b rune) bool {
	if a == b {
		return true
	}
	if a < utf8.RuneSelf || b < utf8.RuneSelf {
		return a|0x20 == b|0x20 && 'a' <= a|0x20 && a|0x20 <= 'z'
	}
	for r := unicode.SimpleFold(a); r != a; r = unicode.SimpleFold(r) {
		if r == b {
			return true
		}
	}
	return false
}
