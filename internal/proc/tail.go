package proc

import "bytes"

// tail keeps the last max bytes written to it.
type tail struct {
	max int
	buf []byte // the last bytes, at least max+1 if there were as many
	cut bool   // bytes before buf were dropped
}

// write appends p. The buffer grows to twice max before it is cut, to limit the copying.
func (t *tail) write(p []byte) {
	t.buf = append(t.buf, p...)
	keep := t.max + 1
	if len(t.buf) > 2*keep {
		n := copy(t.buf, t.buf[len(t.buf)-keep:])
		t.buf = t.buf[:n]
		t.cut = true
	}
}

// String returns the tail. If it was cut, it begins after the first newline, unless the byte before
// the tail shows that it already begins a line.
func (t *tail) String() string {
	if !t.cut && len(t.buf) <= t.max {
		return string(t.buf)
	}
	b := t.buf[len(t.buf)-t.max-1:]
	if i := bytes.IndexByte(b[:len(b)-1], '\n'); i >= 0 {
		return string(b[i+1:])
	}
	return string(b[1:])
}
