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
	folded []rune   // the text without its case
	border []int    // for each beginning of it, the longest shorter one that ends it
}

// maxRun is how much of a plain run is looked for in the bytes.
const maxRun = 32

// rarity orders letters and digits, the rarest first: as they are in English and in
// code, roughly.
const rarity = "QZXJKVBYWGPFMUCDLHRSNIOATE9876543210qzxjkvbywgpfmucdlhrsnioate"

func newMatcher(text string, exact bool) *matcher {
	m := &matcher{text: text, exact: exact}
	m.setFolded()
	for _, run := range strings.FieldsFunc(text, func(r rune) bool { return !isPlain(r) }) {
		if len(run) > len(m.run) {
			m.run = []byte(strings.ToLower(run))
		}
	}
	// A part of what must be there must be there too, and is compared in no time.
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

// hexCode is what stands in an escape after \u, of a pair in the first one.
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
// need not be: it is unusual, but it is JSON.
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
	// Knuth, Morris and Pratt: no character is looked at twice.
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

// runeOffset is where the character number n begins.
func runeOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// setFolded prepares the text for a search without regard to case: its characters, and
// for each beginning of it the length of the longest shorter one that also ends it.
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

// folded stands for a character in every case. What is ASCII has no case outside of it,
// so that bytes can be looked for: K is not the Kelvin sign.
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
