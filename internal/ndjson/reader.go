package ndjson

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// DefaultMaxLine is the default limit of a line in bytes.
const DefaultMaxLine = 256 << 20

// KeptOfLong is the number of bytes kept of a line over the limit.
const KeptOfLong = 4 << 10

// byteOrderMark is the first character of some programs' output.
const byteOrderMark = "\ufeff"

const (
	smallBuffer = 4 << 10
	largeBuffer = 256 << 10
	burst       = 32 << 10 // a read of this size indicates a burst
)

// largeBuffers are lent to readers during a burst, so that idle readers hold only a small buffer each.
var largeBuffers = sync.Pool{New: func() any { b := make([]byte, largeBuffer); return &b }}

// Line is one line without its ending.
type Line struct {
	Text    string // the original bytes; the first KeptOfLong of a line that is TooLong
	Size    int    // the length of the whole line
	TooLong bool   // the line exceeds the limit
	Torn    bool   // the stream ended before the line did
}

// Reader splits a stream into lines. It is not safe for concurrent use.
type Reader struct {
	src   io.Reader
	max   int
	small []byte
	large *[]byte
	rest  []byte // read but not yet scanned; part of one of the buffers
	full  bool   // the last read was large, so more input is likely
	begun bool   // a line was returned
	reads int    // number of reads of the source
	err   error  // the error of the source
}

// NewReader reads from src. A line longer than maxLine is cut, see [Line], and does not end the stream; 0 means DefaultMaxLine.
func NewReader(src io.Reader, maxLine int) *Reader {
	if maxLine <= 0 {
		maxLine = DefaultMaxLine
	}
	// The first line of a CLI is long, and a caller waits for the lines after it.
	return &Reader{src: src, max: maxLine, full: true}
}

// Next returns the next line that is not blank. A last line without a line feed counts, with Torn set. It omits a byte order mark
// before the first line. After the last line, and on every later call, it returns the error of the source or io.EOF.
func (r *Reader) Next() (Line, error) {
	for {
		line, ok := r.line()
		if !ok {
			return Line{}, r.err
		}
		if !r.begun {
			r.begun = true
			text := strings.TrimPrefix(line.Text, byteOrderMark)
			line.Size -= len(line.Text) - len(text)
			line.Text = text
		}
		if !blank(line) {
			return line, nil
		}
	}
}

// Reads returns the number of reads of the source. Lines with the same number have arrived together.
func (r *Reader) Reads() int { return r.reads }

// line returns the next line, blank or not; ok is false at the end.
func (r *Reader) line() (line Line, ok bool) {
	for seen := 0; ; {
		if i := bytes.IndexByte(r.rest[seen:], '\n'); i >= 0 {
			i += seen
			line = r.finish(string(r.rest[:min(i, r.kept(i))]), i, false)
			r.rest = r.rest[i+1:]
			return line, true
		}
		seen = len(r.rest)
		if seen > r.max || !r.room() {
			return r.longLine()
		}
		if !r.fill() {
			line = r.finish(string(r.rest), seen, true)
			r.rest = nil
			r.release()
			return line, seen > 0
		}
	}
}

// kept returns the number of bytes to keep of a line of this size.
func (r *Reader) kept(size int) int {
	if size > r.max {
		return KeptOfLong
	}
	return size
}

// longLine joins a line that is longer than a buffer.
func (r *Reader) longLine() (Line, bool) {
	var b strings.Builder
	size := 0
	for {
		part, found := r.rest, false
		if i := bytes.IndexByte(r.rest, '\n'); i >= 0 {
			part, found = r.rest[:i], true
		}
		size += len(part)
		if size <= r.max {
			b.Write(part)
		} else if b.Len() < KeptOfLong {
			b.Write(part[:min(len(part), KeptOfLong-b.Len())])
		}
		if found {
			r.rest = r.rest[len(part)+1:]
			return r.finish(b.String(), size, false), true
		}
		r.rest = nil
		if !r.fill() {
			r.release()
			return r.finish(b.String(), size, true), size > 0
		}
	}
}

func (r *Reader) finish(text string, size int, torn bool) Line {
	if size > r.max {
		// Cloned, so that four kilobytes do not keep hundreds of megabytes in memory.
		return Line{Text: strings.Clone(text[:min(len(text), KeptOfLong)]), Size: size, TooLong: true, Torn: torn}
	}
	return Line{Text: strings.TrimSuffix(text, "\r"), Size: size, Torn: torn}
}

// room makes room after rest, in a larger buffer if necessary. It returns false if the limit is
// reached.
func (r *Reader) room() bool {
	if len(r.rest) == 0 {
		// No data is kept: use a large buffer in a burst, and release it before waiting.
		if r.full && r.large == nil {
			r.large = largeBuffers.Get().(*[]byte)
		} else if !r.full {
			r.release()
		}
		return true
	}
	buf := r.buffer()
	if len(r.rest) <= len(buf)/2 {
		r.rest = buf[:copy(buf, r.rest)]
		return true
	}
	if r.large != nil {
		return false
	}
	r.large = largeBuffers.Get().(*[]byte)
	r.rest = (*r.large)[:copy(*r.large, r.rest)]
	return true
}

// fill appends the result of one read to rest. It returns false if the source has ended.
func (r *Reader) fill() bool {
	buf := r.buffer()[len(r.rest):]
	for r.err == nil {
		n, err := r.src.Read(buf)
		r.err = err
		r.reads++
		if n > 0 {
			r.rest = r.buffer()[:len(r.rest)+n]
			r.full = n == len(buf) || n >= burst
			return true
		}
	}
	return false
}

func (r *Reader) buffer() []byte {
	if r.large != nil {
		return *r.large
	}
	if r.small == nil {
		r.small = make([]byte, smallBuffer)
	}
	return r.small
}

func (r *Reader) release() {
	if r.large != nil {
		largeBuffers.Put(r.large)
		r.large = nil
	}
}

func blank(l Line) bool {
	for i := range len(l.Text) {
		if c := l.Text[i]; c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return !l.TooLong
}
