package item

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// DecodeError is returned when text is not a JSON object, or not a message of the protocol.
type DecodeError struct {
	Text string // its first 4 KiB
	Err  error
}

func (e *DecodeError) Error() string { return fmt.Sprintf("item: decoding %.80q: %v", e.Text, e.Err) }

// Unwrap returns the reason why the line could not be decoded, mostly a syntax error of its
// JSON.
func (e *DecodeError) Unwrap() error { return e.Err }

var (
	errNotObject  = errors.New("not a JSON object")
	errNotMessage = errors.New("neither a method nor an answer")
)

const keptText = 4 << 10

func clip(s string) string { return s[:min(len(s), keptText)] }

func notObject(s string, err error) error {
	if err == nil {
		err = errNotObject
	}
	return &DecodeError{Text: clip(s), Err: err}
}

// Response is a response of the server or of the client. Exactly one of Result and Error is set.
type Response struct {
	ID     JSON // as received: a number or a string
	Result JSON
	Error  *RPCError

	line string
}

// Raw returns a copy of the whole line, nil for a response that was not decoded.
func (r *Response) Raw() json.RawMessage { return JSON(r.line).Bytes() }

// RPCError is the error of a [Response]. Nearly all errors of the server have the code -32600 and
// differ only in their text.
type RPCError struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
	Data    JSON   `json:"data,omitempty"`
}

// Call is a request or a notification of the client. A notification has no ID.
type Call struct {
	ID     JSON
	Method string
	Params JSON

	line string
}

// Raw returns a copy of the whole line, nil for a call that was not decoded.
func (c *Call) Raw() json.RawMessage { return JSON(c.line).Bytes() }

type envelope struct {
	ID          JSON   `json:"id"`
	Method      string `json:"method"`
	Params      JSON   `json:"params"`
	Result      JSON   `json:"result"`
	Error       JSON   `json:"error"`
	EmittedAtMs int64  `json:"emittedAtMs"`
}

// open splits a line into its parts.
func open(line string) (*envelope, error) {
	d := jsonwire.NewDecoder(line)
	if d.Kind() != '{' {
		return nil, notObject(line, d.Err())
	}
	e := &envelope{}
	d.Into(e)
	if err := d.End(); err != nil {
		return nil, &DecodeError{Text: clip(line), Err: err}
	}
	if !jsonwire.Valid(line) {
		// Decoding only skips over the parts, so their syntax is checked here.
		return nil, &DecodeError{Text: clip(line), Err: errors.New("not valid JSON")}
	}
	return e, nil
}

func (e *envelope) response(line string) (*Response, error) {
	if e.ID == "" || e.Result == "" && e.Error.IsNull() {
		return nil, &DecodeError{Text: clip(line), Err: errNotMessage}
	}
	r := &Response{ID: e.ID, Result: e.Result, line: line}
	if !e.Error.IsNull() {
		r.Error = &RPCError{}
		_ = jsonwire.Unmarshal(string(e.Error), r.Error)
	}
	return r, nil
}

// Line is a line of the wire, decoded: a [Notification], a [Request], a *[Response], or for
// a line of the client a *[Call].
type Line interface {
	// Raw returns a copy of the whole line.
	Raw() json.RawMessage
}

// DecodeServer decodes a line that the server wrote: a [Notification], a [Request] or a
// *[Response]. It returns a *[DecodeError] for any other line.
func DecodeServer(line []byte) (Line, error) { return decodeServer(string(line)) }

func decodeServer(line string) (Line, error) {
	e, err := open(line)
	switch {
	case err != nil:
		return nil, err
	case e.Method == "":
		return errNil(e.response(line))
	case e.ID == "":
		return newNotification(e, line), nil
	}
	return newRequest(e, line), nil
}

// DecodeClient decodes a line that the client wrote: a *[Call] or a *[Response]. It returns a
// *[DecodeError] if the line is neither.
func DecodeClient(line []byte) (Line, error) {
	s := string(line)
	e, err := open(s)
	switch {
	case err != nil:
		return nil, err
	case e.Method == "":
		return errNil(e.response(s))
	}
	return &Call{ID: e.ID, Method: e.Method, Params: e.Params, line: s}, nil
}

// errNil keeps a nil *Response from becoming a non-nil Line.
func errNil(r *Response, err error) (Line, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}

// DecodeValue decodes the result of a response, or any other part of a line, into the value that
// dst points to. Items and inputs in it get their concrete types. A member with an unexpected type
// leaves its field zero. The error is a *[DecodeError].
func DecodeValue(text JSON, dst any) error {
	if err := jsonwire.Unmarshal(string(text), dst); err != nil {
		return &DecodeError{Text: clip(string(text)), Err: err}
	}
	return nil
}
