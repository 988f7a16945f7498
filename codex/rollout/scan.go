package rollout

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/seed7221b0f9/parley/internal/ndjson"
)

const (
	scanBuffer = 256 << 10
	// headLen is the number of bytes at the start of a line that contain its type and the type of its payload.
	headLen = 200
)

// maxLine is the length limit of a wanted line; less in tests.
var maxLine = ndjson.DefaultMaxLine

// scanner finds lines by their beginnings. Nearly all bytes of a rollout are in lines that a list
// or a sum does not need: it skips them without copying.
type scanner struct {
	buf        []byte
	start, end int  // the unread part of buf
	searched   int  // no line feed before this index
	passing    bool // the current line is not wanted
}

var scanners = sync.Pool{New: func() any { return &scanner{buf: make([]byte, scanBuffer)} }}

// byteOrderMark is a prefix that some editors write at the start of a file. It is not part of the first line.
const byteOrderMark = "\ufeff"

// scan calls use with each line of r that want accepts by its beginning. use must not keep the
// line; if it returns false, the scan ends. It skips a wanted line that is longer than maxLine.
func scan(r io.Reader, want func(head []byte) bool, use func(line []byte) bool) error {
	s := scanners.Get().(*scanner)
	defer func() {
		if len(s.buf) <= 4*scanBuffer { // do not keep the buffer of a rare long line
			scanners.Put(s)
		}
	}()
	s.start, s.end, s.searched, s.passing = 0, 0, 0, false
	s.end, _ = io.ReadFull(r, s.buf[:len(byteOrderMark)]) // the next read returns the error again
	if string(s.buf[:s.end]) == byteOrderMark {
		s.end = 0
	}
	for {
		if !s.lines(want, use) {
			return nil
		}
		s.room(want)
		n, err := r.Read(s.buf[s.end:])
		s.end += n
		if err != nil {
			if !s.lines(want, use) {
				return nil
			}
			s.line(s.buf[s.start:s.end], want, use) // the last line may lack its line feed
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// lines passes the complete lines in the buffer to use; it returns false if the scan has ended.
func (s *scanner) lines(want func([]byte) bool, use func([]byte) bool) bool {
	for {
		i := bytes.IndexByte(s.buf[s.searched:s.end], '\n')
		if i < 0 {
			s.searched = s.end
			return true
		}
		end := s.searched + i
		if !s.line(s.buf[s.start:end], want, use) {
			return false
		}
		s.start, s.searched, s.passing = end+1, end+1, false
	}
}

func (s *scanner) line(line []byte, want func([]byte) bool, use func([]byte) bool) bool {
	if s.passing || len(line) == 0 || !want(line[:min(len(line), headLen)]) {
		return true
	}
	return use(line)
}

// room makes room for the rest of an incomplete line.
func (s *scanner) room(want func([]byte) bool) {
	if line := s.buf[s.start:s.end]; !s.passing && len(line) >= headLen && !want(line[:headLen]) || len(line) > maxLine {
		s.passing = true
	}
	if s.passing {
		s.start, s.end, s.searched = 0, 0, 0
		return
	}
	if s.start > 0 {
		copy(s.buf, s.buf[s.start:s.end])
		s.end, s.searched, s.start = s.end-s.start, s.searched-s.start, 0
	}
	if s.end == len(s.buf) {
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
}

// kindOf returns the type of a line from its beginning, and for an event_msg that of its payload.
// ok is false if the members are in another order than the program writes, and the line has to be
// decoded.
func kindOf(head []byte) (typ, payload []byte, ok bool) {
	typ, rest, ok := typeMember(head, 1)
	if !ok || !bytes.Equal(typ, eventMsg) {
		return typ, nil, ok
	}
	i := bytes.Index(rest, payloadKey)
	if i < 0 || bytes.ContainsAny(rest[:i], opening) {
		return nil, nil, false
	}
	payload, _, ok = typeMember(rest[i+len(payloadKey):], 1)
	return typ, payload, ok
}

// opening are the bytes after which a text may belong to another object or a string.
const opening = `{[\`

var (
	eventMsg   = []byte("event_msg")
	payloadKey = []byte(`"payload":`)
	typeKey    = []byte(`"type":"`)
)

// typeMember finds the member type of an object before any nested object or list.
func typeMember(text []byte, from int) (value, rest []byte, ok bool) {
	for i := from; i < len(text); i++ {
		switch text[i] {
		case '{', '[', '\\': // the text may belong to another object or a string
			return nil, nil, false
		case '"':
			if !bytes.HasPrefix(text[i:], typeKey) {
				continue
			}
			rest = text[i+len(typeKey):]
			end := bytes.IndexByte(rest, '"')
			if end < 0 || bytes.IndexByte(rest[:end], '\\') >= 0 || !utf8.Valid(rest[:end]) {
				return nil, nil, false // decoding would change the text
			}
			return rest[:end], rest[end+1:], true
		}
	}
	return nil, nil, false
}
