package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// keptOfBad is the number of bytes of a bad line that its error holds.
const keptOfBad = 4 << 10

// Position is the place of a line in its file: its number, the offset of its first byte, and
// its length.
type Position struct {
	Line   int   // counted from 1; 0 where the file was not read from its start
	Offset int64 // of the line's first byte
	Size   int   // of the line in bytes, without its line feed
}

// LineError is returned for a line that is not an entry: it is not JSON, it is not an object, or it
// is an incomplete last line. It is the only error after which reading continues.
type LineError struct {
	Path string // the file, "" if the text was not read from one
	Position
	Torn bool   // the file ends in the middle of the line
	Text string // the first 4 KiB of the line
	Err  error  // the cause
}

func (e *LineError) Error() string {
	what := "bad line"
	if e.Torn {
		what = "torn last line"
	}
	return fmt.Sprintf("transcript: %s:%d (offset %d): %s: %v", e.Path, e.Line, e.Offset, what, e.Err)
}

// Unwrap returns the reason why the line is not an entry, such as a syntax error of its JSON.
func (e *LineError) Unwrap() error { return e.Err }

// errNoObject is the cause for a line that is JSON but not an object.
var errNoObject = errors.New("no JSON object")

func lineError(path string, l rawLine, err error) *LineError {
	return &LineError{
		Path: path, Position: l.pos, Torn: l.torn, Err: err,
		Text: strings.ToValidUTF8(string(l.text[:min(len(l.text), keptOfBad)]), "\uFFFD"),
	}
}

// rawLine is a line of a file. Its text is valid until the next line is read.
type rawLine struct {
	text []byte
	pos  Position
	torn bool // no line feed ends it
}

// lineReader splits a stream into lines of any length. Lines of only white space are skipped but
// counted.
type lineReader struct {
	src    io.Reader
	buf    []byte
	start  int // start of the unread part of the buffer
	end    int // end of the data in the buffer
	offset int64
	number int // number of the last line; negative: unknown
	err    error
}

// readSize is the size of a read in bytes.
const readSize = 256 << 10

// newLineReader reads lines from src. offset is the position of its first byte in the file; unless
// it is 0, the lines have no numbers.
func newLineReader(src io.Reader, offset int64) *lineReader {
	r := &lineReader{src: src, offset: offset}
	if offset > 0 {
		r.number = -1
	}
	return r
}

// next returns the next line, or io.EOF after the last one. It skips a byte order mark at the start
// of the file.
func (r *lineReader) next() (rawLine, error) {
	for {
		l, err := r.line()
		if err != nil {
			return rawLine{}, err
		}
		if l.pos.Offset == 0 {
			l.text = bytes.TrimPrefix(l.text, []byte("\ufeff"))
		}
		if trimmed := trimLine(l.text); len(trimmed) > 0 {
			l.text = trimmed
			return l, nil
		}
	}
}

func (r *lineReader) line() (rawLine, error) {
	for seen := 0; ; {
		if i := bytes.IndexByte(r.buf[r.start+seen:r.end], '\n'); i >= 0 {
			return r.take(seen+i, false), nil
		}
		seen = r.end - r.start
		if !r.fill() {
			if seen == 0 || !errors.Is(r.err, io.EOF) {
				return rawLine{}, r.err
			}
			return r.take(seen, true), nil
		}
	}
}

// take returns the next line, n bytes without its line feed.
func (r *lineReader) take(n int, torn bool) rawLine {
	if r.number >= 0 {
		r.number++
	}
	l := rawLine{
		text: r.buf[r.start : r.start+n],
		pos:  Position{Line: max(r.number, 0), Offset: r.offset, Size: n},
		torn: torn,
	}
	if !torn {
		n++
	}
	r.start += n
	r.offset += int64(n)
	return l
}

// fill reads more data into the buffer; it returns false at the end of the source.
func (r *lineReader) fill() bool {
	if r.err != nil {
		return false
	}
	if r.start > 0 {
		copy(r.buf, r.buf[r.start:r.end])
		r.end -= r.start
		r.start = 0
	}
	if r.end == len(r.buf) {
		grown := make([]byte, max(readSize, 2*len(r.buf)))
		copy(grown, r.buf[:r.end])
		r.buf = grown
	}
	for r.err == nil {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		r.err = err
		if n > 0 {
			return true
		}
	}
	return false
}

// trimLine removes white space from both ends of a line. A hole that a crash left in a file reads
// as zero bytes; they count as white space, as for the CLI.
func trimLine(b []byte) []byte {
	for len(b) > 0 && b[0] <= ' ' {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1] <= ' ' && b[len(b)-1] != 0 {
		b = b[:len(b)-1]
	}
	return b
}
