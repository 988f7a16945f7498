package host

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// Version is the highest version of the protocol that this package speaks. It supports only version 1.
const Version = 1

// The types of a frame. A frame consists of the length of the rest in four bytes, the type and the payload. Numbers are
// big-endian.
const (
	frameRequest = 'q' // JSON, to the host
	frameAnswer  = 'a' // JSON, to the owner
	frameNotice  = 'n' // JSON, to the owner, without a request
	frameData    = 'd' // a record, to the owner, and in files
	frameStderr  = 'e' // agent, bytes, to the owner
	frameWrite   = 'w' // agent, flags, id, bytes, to the host
	frameResult  = 'c' // call, flags, bytes, to the owner
	frameGrant   = 'g' // agent, bytes, number, to the host
	frameTunnel  = 't' // tunnel, flags, bytes, both ways
	frameRoom    = 'b' // tunnel, bytes that its other end may send, both ways
)

const (
	headSize = 5
	// maxFrame limits a frame: a request holds a command line, or a checkpoint in base64.
	maxFrame = 8 << 20
	// fragment is the maximum part of a line in one frame.
	fragment = 64 << 10
	// maxID limits the id of a line to an agent.
	maxID = 255
)

// flagMore is set if the line continues in another frame.
const flagMore = 1

// beginFrame appends the header of a frame; endFrame sets its length.
func beginFrame(b []byte, kind byte) []byte { return append(b, 0, 0, 0, 0, kind) }

func endFrame(b []byte, begin int) []byte {
	binary.BigEndian.PutUint32(b[begin:], uint32(len(b)-begin-4))
	return b
}

// jsonFrame returns a frame with a value in JSON.
func jsonFrame(kind byte, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(text)+1 > maxFrame {
		return nil, fmt.Errorf("%w: a frame of %d bytes is longer than %d", ErrRefused, len(text)+1, maxFrame)
	}
	return endFrame(append(beginFrame(nil, kind), text...), 0), nil
}

// frameReader reads frames. A payload is valid until the next call, or permanently if keep is set: then each buffer is used
// once.
type frameReader struct {
	r          io.Reader
	buf        []byte
	begin, end int
	keep       bool
}

// readSize is the size of one read.
const readSize = 64 << 10

func (f *frameReader) next() (kind byte, payload []byte, err error) {
	if err := f.fill(headSize); err != nil {
		return 0, nil, err
	}
	length := binary.BigEndian.Uint32(f.buf[f.begin:])
	if length < 1 || length > maxFrame {
		return 0, nil, fmt.Errorf("invalid frame of %d bytes: the limit is %d", length, maxFrame)
	}
	size := 4 + int(length)
	if err := f.fill(size); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	frame := f.buf[f.begin : f.begin+size : f.begin+size]
	f.begin += size
	return frame[4], frame[headSize:], nil
}

// run returns the data frame that next has just returned, followed by buffered frames of the same agent. It consumes them.
func (f *frameReader) run(payload []byte) []byte {
	begin := f.begin - headSize - len(payload)
	for {
		size, whole := frameSize(f.buf[f.begin:f.end])
		if !whole || size < headSize+4 || f.buf[f.begin+4] != frameData || string(f.buf[f.begin+headSize:f.begin+headSize+4]) != string(payload[:4]) {
			return f.buf[begin:f.begin:f.begin]
		}
		f.begin += size
	}
}

// fill reads until n bytes are available.
func (f *frameReader) fill(n int) error {
	for f.end-f.begin < n {
		if f.begin == f.end && !f.keep {
			f.begin, f.end = 0, 0
		}
		if len(f.buf)-f.begin < n || len(f.buf) == f.end {
			f.move(n)
		}
		m, err := f.r.Read(f.buf[f.end:])
		f.end += m
		if m == 0 && err != nil {
			if err == io.EOF && f.end > f.begin {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// move makes room for a frame of n bytes. It discards a large buffer after its frame.
func (f *frameReader) move(n int) {
	rest := f.buf[f.begin:f.end]
	if size := max(n, readSize); f.keep || size > len(f.buf) || len(f.buf) > 2*readSize {
		f.buf = make([]byte, size)
	}
	f.end = copy(f.buf, rest)
	f.begin = 0
}

// cursor reads binary fields from a payload.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) take(n int) []byte {
	if len(c.b) < n {
		c.bad = true
		return make([]byte, n)
	}
	v := c.b[:n]
	c.b = c.b[n:]
	return v
}

func (c *cursor) u8() byte    { return c.take(1)[0] }
func (c *cursor) u32() uint32 { return binary.BigEndian.Uint32(c.take(4)) }
func (c *cursor) u64() uint64 { return binary.BigEndian.Uint64(c.take(8)) }

// text reads a string with a one-byte length.
func (c *cursor) text() string { return string(c.take(int(c.u8()))) }

// writeFrames appends the frames of a line to an agent.
func writeFrames(b []byte, agent uint32, id string, line []byte) []byte {
	for {
		part := line[:min(len(line), fragment)]
		line = line[len(part):]
		flags := byte(0)
		if len(line) > 0 {
			flags = flagMore
		}
		begin := len(b)
		b = beginFrame(b, frameWrite)
		b = binary.BigEndian.AppendUint32(b, agent)
		b = append(append(b, flags, byte(len(id))), id...)
		b = endFrame(append(b, part...), begin)
		if flags == 0 {
			return b
		}
	}
}

func grantFrame(agent, bytes uint32, number uint64) []byte {
	b := beginFrame(make([]byte, 0, headSize+16), frameGrant)
	b = binary.BigEndian.AppendUint32(b, agent)
	b = binary.BigEndian.AppendUint32(b, bytes)
	return endFrame(binary.BigEndian.AppendUint64(b, number), 0)
}

func appendStderr(b []byte, agent uint32, text []byte) []byte {
	begin := len(b)
	b = binary.BigEndian.AppendUint32(beginFrame(b, frameStderr), agent)
	return endFrame(append(b, text...), begin)
}

// frameSize returns the size of the frame at the beginning of b, if it is complete.
func frameSize(b []byte) (int, bool) {
	if len(b) < headSize {
		return 0, false
	}
	size := 4 + int(binary.BigEndian.Uint32(b))
	return size, len(b) >= size
}
