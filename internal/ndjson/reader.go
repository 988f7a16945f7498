package ndjson

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// DefaultMaxLine is the guard against a line that never ends.
const DefaultMaxLine = 256 << 20

// KeptOfLong is how much of a line over the guard is kept.
const KeptOfLong = 4 << 10

const (
	smallBuffer = 4 << 10
	largeBuffer = 64 << 10
)

// largeBuffers are lent to readers in the middle of a burst, so that a thousand
// idle readers hold a small buffer each.
var largeBuffers = sync.Pool{New: func() any { b := make([]byte, largeBuffer); return &b }}

// Line is one line without its ending.
type Line struct {
	Text    string // the bytes as they came; the first KeptOfLong of a line that is TooLong
	Size    int    // the length of the whole line
	TooLong bool   // the line passed the guard
	Torn    bool   // the stream ended before the line did
}

// Reader splits a stream into lines. It is for one goroutine.
type Reader struct {
	src   io.Reader
	max   int
	small []byte
	large *[]byte
	rest  []byte // read, not yet looked at
	err   error  // what the source ended with
}

// NewReader reads from src. A line longer than maxLine is cut as Line says and
// does not end the stream; 0 is DefaultMaxLine.
func NewReader(src io.Reader, maxLine int) *Reader {
	if maxLine <= 0 {
		maxLine = DefaultMaxLine
	}
	return &Reader{src: src, max: maxLine}
}

// Next returns the next line that is not blank. A last line without a line feed
// counts, with Torn set. The error, io.EOF or what the source gave, comes after
// the last line and again on every later call.
func (r *Reader) Next() (Line, error) {
	for {
		line, ok := r.line()
		if !ok {
			return Line{}, r.err
		}
		if !blank(line) {
			return line, nil
		}
	}
}

// line returns the next line, blank or not; ok is false at the end.
func (r *Reader) line() (line Line, ok bool) {
	if i := bytes.IndexByte(r.rest, '\n'); i >= 0 && i <= r.max {
		line = Line{Text: string(trimCR(r.rest[:i])), Size: i}
		r.rest = r.rest[i+1:]
		return line, true
	}
	return r.longLine()
}

// longLine gathers a line that is not in the buffer as a whole.
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
			return r.finish(b.String(), size, true), size > 0
		}
	}
}

func (r *Reader) finish(text string, size int, torn bool) Line {
	if size > r.max {
		// Cloned, so that four kilobytes do not keep hundreds of megabytes alive.
		return Line{Text: strings.Clone(text[:min(len(text), KeptOfLong)]), Size: size, TooLong: true, Torn: torn}
	}
	return Line{Text: strings.TrimSuffix(text, "\r"), Size: size, Torn: torn}
}

// fill reads once more; false means that the source has ended.
func (r *Reader) fill() bool {
	for r.err == nil {
		buf := r.buffer()
		n, err := r.src.Read(buf)
		r.err = err
		if n > 0 {
			r.rest = buf[:n]
			r.lend(n == len(buf))
			return true
		}
	}
	r.release()
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

// lend takes a large buffer for the next read when this one was filled to the
// brim. The large one goes back when a read finds it empty in small pieces.
func (r *Reader) lend(full bool) {
	switch {
	case full && r.large == nil:
		r.large = largeBuffers.Get().(*[]byte)
	case r.large != nil && len(r.rest) <= smallBuffer:
		r.small = append(r.small[:0], r.rest...)[:len(r.rest)]
		r.rest = r.small
		r.small = r.small[:cap(r.small)]
		r.release()
	}
}

func (r *Reader) release() {
	if r.large != nil {
		largeBuffers.Put(r.large)
		r.large = nil
	}
}

func trimCR(b []byte) []byte { return bytes.TrimSuffix(b, []byte{'\r'}) }

func blank(l Line) bool { return !l.TooLong && strings.TrimLeft(l.Text, " \t\r") == "" }
