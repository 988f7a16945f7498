package usage

import (
	"bytes"
	"encoding/json"
)

// cursor walks over one line of JSON and decodes only requested values. It checks only the
// structure: a line that a JSON decoder rejects may pass, a line that is cut off never does.
type cursor struct {
	b      []byte
	i      int
	broken bool // the text ended or was not JSON; every method then returns at once
}

func (c *cursor) space() {
	for c.i < len(c.b) && c.b[c.i] <= ' ' {
		c.i++
	}
}

// peek returns the first byte of the next value, 0 at the end.
func (c *cursor) peek() byte {
	c.space()
	if c.i >= len(c.b) || c.broken {
		return 0
	}
	return c.b[c.i]
}

// take consumes one expected byte.
func (c *cursor) take(want byte) bool {
	if c.peek() != want {
		c.broken = true
		return false
	}
	c.i++
	return true
}

// text consumes a string and returns the bytes between its quotes, not unescaped.
func (c *cursor) text() []byte {
	if !c.take('"') {
		return nil
	}
	for start, i := c.i, c.i; ; {
		n := bytes.IndexByte(c.b[i:], '"')
		if n < 0 {
			c.broken = true
			return nil
		}
		i += n
		if !escaped(c.b, i) {
			c.i = i + 1
			return c.b[start:i]
		}
		i++
	}
}

// escaped reports whether an odd number of backslashes precedes i.
func escaped(b []byte, i int) bool {
	n := 0
	for i > n && b[i-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// str is text if the next value is a string; it skips any other value.
func (c *cursor) str() []byte {
	if c.peek() == '"' {
		return c.text()
	}
	c.skip()
	return nil
}

// int returns the next value if it is a non-negative integer, else 0.
func (c *cursor) int() int64 {
	c.space()
	n, start := int64(0), c.i
	for c.i < len(c.b) && '0' <= c.b[c.i] && c.b[c.i] <= '9' && n < 1<<52 {
		n = n*10 + int64(c.b[c.i]-'0')
		c.i++
	}
	if c.i == start || c.i < len(c.b) && !endsNumber(c.b[c.i]) {
		c.i = start
		c.skip()
		return 0
	}
	return n
}

func endsNumber(c byte) bool { return c <= ' ' || c == ',' || c == '}' || c == ']' }

// isTrue reports whether the next value is true.
func (c *cursor) isTrue() bool {
	yes := c.peek() == 't'
	c.skip()
	return yes
}

// skip skips the next value.
func (c *cursor) skip() {
	switch first := c.peek(); first {
	case '"':
		c.text()
	case '{', '[':
		c.skipNested()
	case 0, ',', ':', '}', ']':
		c.broken = true
	default:
		for c.i < len(c.b) && !endsNumber(c.b[c.i]) {
			c.i++
		}
	}
}

// skipNested skips an object or an array, to its closing bracket.
func (c *cursor) skipNested() {
	for depth := 0; c.i < len(c.b); {
		switch c.b[c.i] {
		case '"':
			if c.text(); c.broken {
				return
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		c.i++
		if depth == 0 {
			return
		}
	}
	c.broken = true
}

// members walks an object: for m := c.members(); m.next(); { look at m.key, then consume the value
// }.
type members struct {
	c     *cursor
	key   []byte
	begun bool
}

// members enters the next value if it is an object. It skips any other value and yields no members.
func (c *cursor) members() members {
	if c.peek() != '{' {
		c.skip()
		return members{}
	}
	c.i++
	return members{c: c}
}

func (m *members) next() bool {
	if m.c == nil {
		return false
	}
	switch m.c.peek() {
	case '}':
		m.c.i++
		return false
	case ',':
		if !m.begun {
			m.c.broken = true
			return false
		}
		m.c.i++
	default:
		if m.begun {
			m.c.broken = true
			return false
		}
	}
	m.begun = true
	m.key = m.c.text()
	return m.c.take(':')
}

// unquote returns the value of a JSON string without its quotes.
func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	var s string
	if err := json.Unmarshal(append(append([]byte{'"'}, raw...), '"'), &s); err != nil {
		return string(raw)
	}
	return s
}
