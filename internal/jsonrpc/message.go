package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// The error codes of the protocol.
const (
	CodeParse          = -32700 // the line is not JSON
	CodeInvalidRequest = -32600 // the line is not a request
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeOverloaded     = -32001 // too many requests at once
	CodeCancelled      = -32800 // the caller cancelled its request
)

// Error is an error answer, in either direction.
type Error struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// MethodNotFound returns the answer to a request for a method that does not exist.
func MethodNotFound(method string) *Error {
	return &Error{Code: CodeMethodNotFound, Message: "Method not found: " + method}
}

// ID is the text of a request's id: a number, a string in its quotes, or null. It is
// returned byte for byte.
type ID string

// Cut holds the members of a message that were found in the start of a line over the limit.
type Cut struct {
	ID     ID // empty if it is not in this part
	Method bool
}

// ReadCut reads the start of a line.
func ReadCut(part string) (c Cut) {
	d := jsonwire.NewDecoder(part)
	if d.Kind() != '{' {
		return c
	}
	for m := d.Members(); m.Next(); {
		text := d.Text()
		switch {
		case d.Err() != nil:
			return c
		case m.Key == "id":
			c.ID = ID(text)
		case m.Key == "method":
			c.Method = true
		}
	}
	return c
}

// RequestID returns the id of an answer to the message: null if it is not known to be a request.
func (c Cut) RequestID() ID {
	if c.ID == "" || !c.Method {
		return "null"
	}
	return c.ID
}

// TooLong returns the answer to a message over a limit of bytes.
func TooLong(size, limit int) *Error {
	return &Error{Code: CodeInvalidRequest, Message: fmt.Sprintf("The message has %d bytes, the limit is %d", size, limit)}
}

// Message is one incoming message. Raw is all of it, and the other fields are parts of
// Raw; an absent part is empty.
type Message struct {
	ID     ID
	Method string
	Params string // JSON
	Result string // JSON
	Error  *Error
	Raw    string
	Line   uint64 // the number that a host gave its line, 0 without a host
}

// IsRequest reports whether the peer waits for an answer to m.
func (m *Message) IsRequest() bool { return m.Method != "" && m.ID != "" }

// IsNotification reports whether m is a notification.
func (m *Message) IsNotification() bool { return m.Method != "" && m.ID == "" }

// IsAnswer reports whether m answers a request.
func (m *Message) IsAnswer() bool {
	return m.Method == "" && m.ID != "" && (m.Result != "" || m.Error != nil)
}

// text holds the JSON of a value.
type text string

var _ = jsonwire.RegisterText[text]()

type envelope struct {
	ID     text   `json:"id"`
	Method string `json:"method"`
	Params text   `json:"params"`
	Result text   `json:"result"`
	Error  text   `json:"error"`
}

var errNotObject = errors.New("the message is not a JSON object")

// decode decodes one message. It returns an error if s is not a JSON object; for an
// object that is not JSON-RPC all Is methods return false.
func decode(s string) (*Message, error) {
	var e envelope
	d := jsonwire.NewDecoder(s)
	if d.Kind() != '{' {
		if err := d.Err(); err != nil {
			return nil, err
		}
		return nil, errNotObject
	}
	d.Into(&e)
	if err := d.End(); err != nil {
		return nil, err
	}
	m := &Message{ID: ID(e.ID), Method: e.Method, Params: string(e.Params), Result: string(e.Result), Raw: s}
	if !validID(m.ID) {
		m.ID, m.Method = "", ""
		return m, nil
	}
	if e.Error != "" && e.Error != "null" {
		m.Error = decodeError(string(e.Error))
	}
	return m, nil
}

// decodeError reads an error object. A value of another shape becomes the message.
func decodeError(s string) *Error {
	var e struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
		Data    text   `json:"data"`
	}
	if err := jsonwire.Unmarshal(s, &e); err != nil || e.Message == "" && e.Code == 0 {
		return &Error{Code: CodeInternal, Message: s}
	}
	out := &Error{Code: e.Code, Message: e.Message}
	if e.Data != "" {
		out.Data = json.RawMessage(e.Data)
	}
	return out
}

// validID reports whether an id is absent, a number, a string or null.
func validID(id ID) bool {
	if id == "" || id == "null" {
		return true
	}
	c := id[0]
	return c == '"' || c == '-' || c >= '0' && c <= '9'
}

// encoder writes messages; bare leaves out the member jsonrpc.
type encoder struct{ bare bool }

func (e encoder) open() []byte {
	if e.bare {
		return []byte(`{`)
	}
	return []byte(`{"jsonrpc":"2.0",`)
}

// request returns the line of a request, or of a notification if id is empty.
func (e encoder) request(id ID, method string, params any) ([]byte, error) {
	b := e.open()
	if id != "" {
		b = append(append(append(b, `"id":`...), id...), ',')
	}
	b = jsonwire.AppendString(append(b, `"method":`...), method)
	if a, ok := params.(Appender); ok {
		var err error
		if b, err = a.AppendJSON(append(b, `,"params":`...)); err != nil {
			return nil, fmt.Errorf("jsonrpc: the params of %s: %w", method, err)
		}
	} else if params != nil {
		p, err := marshal(params)
		if err != nil {
			return nil, fmt.Errorf("jsonrpc: the params of %s: %w", method, err)
		}
		b = append(append(b, `,"params":`...), p...)
	}
	return append(b, '}'), nil
}

// answer returns the line of an answer. An absent result gives null, because the member
// is required.
func (e encoder) answer(id ID, result any, err error) []byte {
	if err == nil {
		p, marshalErr := marshal(result)
		if marshalErr == nil {
			b := append(append(e.open(), `"id":`...), id...)
			return append(append(append(b, `,"result":`...), p...), '}')
		}
		err = fmt.Errorf("the result cannot be encoded: %w", marshalErr)
	}
	p, marshalErr := marshal(wireError(err))
	if marshalErr != nil { // Data that is not JSON
		p, _ = marshal(&Error{Code: wireError(err).Code, Message: wireError(err).Message})
	}
	b := append(append(e.open(), `"id":`...), id...)
	return append(append(append(b, `,"error":`...), p...), '}')
}

func wireError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Code: CodeInternal, Message: err.Error()}
}

// Appender is implemented by parameters that may be large: they are written into their line without another copy. AppendJSON must
// append one JSON value without line feeds.
type Appender interface {
	AppendJSON(b []byte) ([]byte, error)
}

// marshal is json.Marshal without HTML escapes and on one line. Raw JSON may contain line
// feeds, which are white space.
func marshal(v any) ([]byte, error) {
	if raw, ok := v.(json.RawMessage); ok && len(raw) > 0 && bytes.IndexByte(raw, '\n') < 0 && json.Valid(raw) {
		return raw, nil
	}
	return jsonwire.Marshal(v)
}
