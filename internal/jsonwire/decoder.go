package jsonwire

import (
	"reflect"
	"strconv"
	"strings"
)

// Decoder is a cursor over one JSON text. After the first error, which Err returns, all
// methods return zero values.
type Decoder struct {
	s     string
	i     int
	depth int
	err   error
}

// Unmarshal decodes s, one JSON value, into the value that dst points to. The only error is a
// *SyntaxError; dst then holds the values before the error.
func Unmarshal(s string, dst any) error {
	d := NewDecoder(s)
	d.Into(dst)
	return d.End()
}

// NewDecoder returns a decoder at the start of s.
func NewDecoder(s string) *Decoder { return &Decoder{s: s} }

// Err returns the first error, or nil.
func (d *Decoder) Err() error { return d.err }

// End checks that only white space remains and returns the first error.
func (d *Decoder) End() error { return d.end() }

func (d *Decoder) end() error {
	if d.err == nil {
		if d.space(); d.i < len(d.s) {
			d.fail(d.i, "text after the value")
		}
	}
	return d.err
}

func (d *Decoder) fail(at int, what string) {
	if d.err == nil {
		d.err = &SyntaxError{Offset: at, What: what}
	}
	d.i = len(d.s)
}

func (d *Decoder) space() {
	// The CLI writes no white space, so the usual case is one comparison.
	if d.i < len(d.s) && d.s[d.i] <= ' ' {
		d.skipSpace()
	}
}

func (d *Decoder) skipSpace() {
	for d.i < len(d.s) {
		switch d.s[d.i] {
		case ' ', '\t', '\r', '\n':
			d.i++
		default:
			return
		}
	}
}

// Kind returns the kind of the next value without moving: '"' for a string, '{', '[', 't' and
// 'f' for a boolean, 'n' for null, '0' for a number, 0 at the end or at no value.
func (d *Decoder) Kind() byte {
	d.space()
	if d.i >= len(d.s) {
		return 0
	}
	switch c := d.s[d.i]; c {
	case '"', '{', '[', 't', 'f', 'n':
		return c
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return '0'
	}
	return 0
}

// Offset returns the position of the cursor, for Since.
func (d *Decoder) Offset() int {
	d.space()
	return d.i
}

// Since returns the text from an earlier Offset up to the cursor.
func (d *Decoder) Since(start int) string {
	if d.err != nil {
		return ""
	}
	return d.s[start:d.i]
}

// Null moves past the next value if it is null, and reports whether it was.
func (d *Decoder) Null() bool {
	if d.Kind() != 'n' {
		return false
	}
	d.Skip()
	return true
}

// Into decodes the next value into the value that dst points to.
func (d *Decoder) Into(dst any) {
	v := reflect.ValueOf(dst).Elem()
	planFor(v.Type())(d, v)
}

// Text moves past the next value and returns its text undecoded: it only searches its end. The
// text may be invalid JSON, which is detected when it is decoded.
func (d *Decoder) Text() string {
	start := d.Offset()
	switch d.Kind() {
	case '"':
		d.passString()
	case '{', '[':
		d.passNested()
	default:
		d.Skip()
	}
	return d.Since(start)
}

// passString moves past a string: to the first quote that no backslash escapes.
func (d *Decoder) passString() {
	for i := d.i + 1; ; {
		n := strings.IndexByte(d.s[i:], '"')
		if n < 0 {
			d.fail(len(d.s), "string without an end")
			return
		}
		i += n + 1
		if !escapedAt(d.s, i-1) {
			d.i = i
			return
		}
	}
}

// escapedAt reports whether the byte at i has an odd number of backslashes
// before it.
func escapedAt(s string, i int) bool {
	n := 0
	for i > n && s[i-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// passNested moves past an object or an array: to the bracket that closes it.
func (d *Decoder) passNested() {
	for depth := 0; d.i < len(d.s); {
		switch d.s[d.i] {
		case '"':
			d.passString()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		d.i++
		if depth == 0 {
			return
		}
	}
	d.fail(d.i, "unexpected end")
}

// String moves past the next value; ok reports whether it was a string.
func (d *Decoder) String() (s string, ok bool) {
	if d.Kind() != '"' {
		d.Skip()
		return "", false
	}
	return d.str(), true
}

func (d *Decoder) str() string {
	t := d.scanString()
	if t.ascii && !t.escaped {
		return t.text
	}
	return unquote(t.text, t.ascii)
}

// Skip moves past the next value.
func (d *Decoder) Skip() {
	switch d.Kind() {
	case '"':
		d.scanString()
	case '{':
		for m := d.Members(); m.Next(); {
			d.Skip()
		}
	case '[':
		for e := d.Elements(); e.Next(); {
			d.Skip()
		}
	case 't':
		d.scanWord("true")
	case 'f':
		d.scanWord("false")
	case 'n':
		d.scanWord("null")
	case '0':
		d.scanNumber()
	default:
		d.fail(d.i, "no value")
	}
}

// Peek returns the string member named key of the next object without moving. It returns the first
// of several members, or "" if the member is missing or not a string.
func (d *Decoder) Peek(key string) string {
	if s, ok := peekFirst(d.s[d.i:], key); ok {
		return s
	}
	p := Decoder{s: d.s, i: d.i}
	if p.Kind() != '{' {
		return ""
	}
	for m := p.Members(); m.Next(); {
		if m.Key == key {
			s, _ := p.String()
			return s
		}
		p.Skip()
	}
	return ""
}

// peekFirst is the fast path of Peek for a first member without escapes, as the type of nearly
// every object on the wire is.
func peekFirst(s, key string) (string, bool) {
	n := len(key)
	if len(s) < n+6 || s[:2] != `{"` || s[2:2+n] != key || s[2+n:5+n] != `":"` {
		return "", false
	}
	value := s[5+n:]
	end, ascii := untilSpecial(value)
	if !ascii || end == len(value) || value[end] != '"' {
		return "", false
	}
	return value[:end], true
}

// Members walks an object: for m := d.Members(); m.Next(); { use m.Key, then
// move past the value }.
type Members struct {
	d     *Decoder
	Key   string
	begun bool
}

// Members enters the next object. The caller has checked Kind.
func (d *Decoder) Members() Members {
	d.enter()
	return Members{d: d}
}

// Next moves to the next member's value; at the end of the object it moves past the brace and
// returns false.
func (m *Members) Next() bool {
	d := m.d
	if !d.more('}', &m.begun) {
		return false
	}
	if d.i >= len(d.s) || d.s[d.i] != '"' {
		d.fail(d.i, "no key")
		return false
	}
	m.Key = d.str()
	d.space()
	if d.i >= len(d.s) || d.s[d.i] != ':' {
		d.fail(d.i, "no colon")
		return false
	}
	d.i++
	return true
}

// Literal moves past text if the input continues with exactly that.
func (d *Decoder) Literal(text string) bool {
	if strings.HasPrefix(d.s[d.i:], text) {
		d.i += len(text)
		return true
	}
	return false
}

// Resume walks the rest of an object after Literal and others have passed its first members.
func (d *Decoder) Resume() Members {
	d.depth++
	return Members{d: d, begun: true}
}

// nextIs is like Next for an expected key, which has no escapes: it costs one comparison
// instead of a scan. If the guess is wrong, it does not move, and the caller must call Next.
func (m *Members) nextIs(guess string) bool {
	d := m.d
	i, n := d.i, len(guess)
	if m.begun {
		if i >= len(d.s) || d.s[i] != ',' {
			return false
		}
		i++
	}
	if len(d.s)-i < n+3 || d.s[i] != '"' || d.s[i+1:i+1+n] != guess || d.s[i+1+n] != '"' || d.s[i+2+n] != ':' {
		return false
	}
	m.begun, m.Key, d.i = true, guess, i+n+3
	return true
}

// Elements walks an array like Members walks an object.
type Elements struct {
	d     *Decoder
	begun bool
}

// Elements enters the next array. The caller has checked Kind.
func (d *Decoder) Elements() Elements {
	d.enter()
	return Elements{d: d}
}

// Next reports whether there is another element.
func (e *Elements) Next() bool { return e.d.more(']', &e.begun) }

func (d *Decoder) enter() {
	d.space()
	d.i++
	if d.depth++; d.depth > maxDepth {
		d.fail(d.i, "nested too deep")
	}
}

// more moves to the next element, past a comma if it is not the first, or past the closing
// bracket.
func (d *Decoder) more(closing byte, begun *bool) bool {
	if d.err != nil {
		return false
	}
	d.space()
	switch {
	case d.i >= len(d.s):
		d.fail(d.i, "unexpected end")
		return false
	case d.s[d.i] == closing:
		d.i++
		d.depth--
		return false
	case !*begun:
		*begun = true
		return true
	case d.s[d.i] != ',':
		d.fail(d.i, "no comma")
		return false
	}
	d.i++
	d.space()
	if d.i < len(d.s) && d.s[d.i] == closing {
		d.fail(d.i, "comma before the end")
		return false
	}
	return true
}

// Int moves past the next value; ok reports whether it was a whole number.
func (d *Decoder) Int() (n int64, ok bool) {
	if d.Kind() != '0' {
		d.Skip()
		return 0, false
	}
	text, integer := d.scanNumber()
	if integer {
		n, err := strconv.ParseInt(text, 10, 64)
		return n, err == nil
	}
	// 1e3 and 12.0 are whole numbers too; 12.5 is not and keeps its text.
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != float64(int64(f)) {
		return 0, false
	}
	return int64(f), true
}

// Float moves past the next value; ok reports whether it was a number.
func (d *Decoder) Float() (f float64, ok bool) {
	if d.Kind() != '0' {
		d.Skip()
		return 0, false
	}
	text, _ := d.scanNumber()
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil
}

// Bool moves past the next value; ok reports whether it was a boolean.
func (d *Decoder) Bool() (b, ok bool) {
	kind := d.Kind()
	d.Skip()
	return kind == 't', kind == 't' || kind == 'f'
}
