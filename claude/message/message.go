package message

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

var errNoObject = errors.New("not a JSON object")

// Message is one decoded line of the CLI's output. The set of types is closed: a line of a type
// that this package does not know is an *[Unknown], a system message of an unknown subtype a
// *[System], and a line that is not a JSON object a *[BadLine].
//
// A decoded message is read-only and may be read by several goroutines. Its strings are
// substrings of its line: a program that keeps one of them for longer than the message should
// copy it with [strings.Clone].
type Message interface {
	// Head returns the members that all messages share.
	Head() *Header
	// Raw returns a copy of the line, byte for byte; nil for a message that was
	// built and not decoded.
	Raw() json.RawMessage

	message()
}

// Header holds the uuid and the session id that most messages have. Both are empty for messages
// without them on the wire: keep_alive, transcript_mirror and the control messages.
type Header struct {
	UUID      string `json:"uuid,omitempty"`
	SessionID string `json:"session_id,omitempty"`

	line string
}

// Head returns the header itself. It gives all messages, which embed a Header, the method of
// the interface [Message].
func (h *Header) Head() *Header { return h }

// Raw returns a copy of the line that the message was decoded from, byte for byte, or nil for a
// message that was built.
func (h *Header) Raw() json.RawMessage {
	if h.line == "" {
		return nil
	}
	return json.RawMessage(h.line)
}

func (h *Header) message() {}

// Unknown is a line of a type that this package does not know, mostly from a newer CLI. Raw
// returns all of it, and Decode decodes it into a type of the program.
type Unknown struct {
	Header
	Type string `json:"type"`
}

// Decode decodes the line of the message into the value that dst points to, by the rules of
// [json.Unmarshal].
func (m *Unknown) Decode(dst any) error { return JSON(m.line).Decode(dst) }

// Error is a line {"type":"error"}. The CLI does not write it; other SDKs put it into their own
// streams to mark an error.
type Error struct {
	Header
	Error JSON `json:"error,omitempty"` // mostly a string
}

// BadLine is a line that is not a JSON object, or one longer than claude.Options.MaxLine. The
// stream continues after it unless claude.Options.StrictLines is set.
type BadLine struct {
	Header // Raw returns at most the first 4 KiB
	Size   int
	Err    error // a *DecodeError
}

// keptOfBad is the number of bytes kept of a bad line.
const keptOfBad = 4 << 10

// NewBadLine returns the message for a line of size bytes that begins with text and
// could not be decoded because of err. It keeps at most the first 4 KiB of text.
func NewBadLine(text string, size int, err error) *BadLine {
	kept := strings.Clone(text[:min(len(text), keptOfBad)])
	return &BadLine{Header: Header{line: kept}, Size: size, Err: err}
}

// Decode decodes one line of the CLI's output. It returns a *[DecodeError] if the line is not a
// JSON object. Unknown types, subtypes, members and values are not errors.
func Decode(line []byte) (Message, error) {
	m := DecodeLine(string(line))
	if bad, ok := m.(*BadLine); ok {
		return nil, bad.Err
	}
	return m, nil
}

// DecodeLine decodes one line of the CLI's output like [Decode], but returns a *[BadLine] for a
// line that is not a JSON object. The message keeps the line in memory.
func DecodeLine(line string) Message {
	if m := decodeTextDelta(line); m != nil {
		return m
	}
	d := jsonwire.NewDecoder(line)
	if d.Kind() != '{' {
		return NewBadLine(line, len(line), &DecodeError{Line: line, Err: errNoObject})
	}
	typ := d.Peek("type")
	m := newMessage(d, typ)
	if err := d.End(); err != nil {
		return NewBadLine(line, len(line), &DecodeError{Line: line, Err: err})
	}
	m.Head().line = line
	return m
}

// newMessage decodes the next object into the Go type of its wire type.
func newMessage(d *jsonwire.Decoder, typ string) Message {
	kind := typ
	if typ == "system" {
		kind = "system/" + d.Peek("subtype")
	}
	if create, ok := messageTypes[kind]; ok {
		m := create()
		d.Into(m)
		return m
	}
	if typ == "system" {
		m := &System{}
		d.Into(m)
		return m
	}
	m := &Unknown{}
	d.Into(m)
	return m
}

// Kind returns the type of a message as the wire names it, such as "assistant" or "result", with
// the subtype for system messages, such as "system/init". It is "bad line" for a *[BadLine].
func Kind(m Message) string {
	switch m := m.(type) {
	case *Unknown:
		return m.Type
	case *System:
		return "system/" + m.Subtype
	case *BadLine:
		return "bad line"
	}
	return kindOf(m)
}

// Clone returns a shallow copy of m without its line, so that its fields can be changed and
// [Encode] encodes the fields. Blocks and events inside are shared with m; replace one instead
// of changing it.
func Clone[T any, M interface {
	*T
	Message
}](m M) M {
	c := M(new(T))
	*c = *m
	c.Head().line = ""
	return c
}
