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

// byteOrderMark is what some programs begin their output with.
const byteOrderMark = "\ufeff"

const (
	smallBuffer = 4 << 10
	largeBuffer = 256 << 10
	burst       = 32 << 10 // a read of this much finds the writer at work
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
	rest  []byte // read, not yet looked at; part of one of the buffers
	full  bool   // the last read found so much that there is more
	begun bool   // a line was returned
	reads int    // how often the source was read
	err   error  // what the source ended with
}

// NewReader reads from src. A line longer than maxLine is cut as Line says and
// does not end the stream; 0 is DefaultMaxLine.
func NewReader(src io.Reader, maxLine int) *Reader {
	if maxLine <= 0 {
		maxLine = DefaultMaxLine
	}
	// The first line of a CLI is a long one, and a caller waits for what comes after it.
	return &Reader{src: src, max: maxLine, full: true}
}

// Next returns the next line that is not blank. A last line without a line feed
// counts, with Torn set. A byte order mark before the first line is left out. The error, io.EOF or what the source gave, comes after
// the last line and again on every later call.
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

// Reads counts how often the source was read. Lines between which it does not
// change have come together.
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

// kept is how much of a line of this size is kept.
func (r *Reader) kept(size int) int {
	if size > r.max {
		return KeptOfLong
	}
	return size
}

// longLine gathers a line that no buffer holds.
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
		// Cloned, so that four kilobytes do not keep hundreds of megabytes alive.
		return Line{Text: strings.Clone(text[:min(len(text), KeptOfLong)]), Size: size, TooLong: true, Torn: torn}
	}
	return Line{Text: strings.TrimSuffix(text, "\r"), Size: size, Torn: torn}
}

// room makes room after rest, in a larger buffer if need be; false if there is none to be had.
func (r *Reader) room() bool {
	if len(r.rest) == 0 {
		// Nothing is kept: a burst gets a large buffer, and a reader that is about
		// to wait gives it back.
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

// fill reads once more, after rest; false means that the source has ended.
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

func blank(l Line) bool { return !l.TooLong && strings.TrimLeft(l.Text, " \t\r") == "" }
