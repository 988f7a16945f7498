package item

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// JSON is the text of one JSON value that is decoded on demand: the arguments of a tool, a result,
// or any member whose shape is not fixed. The zero value means that the member was absent; null is
// the text "null".
type JSON string

var _ = jsonwire.RegisterText[JSON]()

var errAbsent = errors.New("item: no value to decode")

// Decode decodes the value into what dst points to, as [json.Unmarshal] does. It fails
// for a value that was absent.
func (j JSON) Decode(dst any) error {
	if j == "" {
		return errAbsent
	}
	return json.Unmarshal([]byte(j), dst)
}

// IsNull reports whether the value is null or was absent. For most members of the server both mean
// the same.
func (j JSON) IsNull() bool { return j == "" || j == "null" }

// Bytes returns a copy of the text for use with package json, or nil for a value that was
// absent.
func (j JSON) Bytes() json.RawMessage {
	if j == "" {
		return nil
	}
	return json.RawMessage(j)
}

// MarshalJSON writes the text as it is, or null for a value that was absent. The text is not
// checked here.
func (j JSON) MarshalJSON() ([]byte, error) {
	if j == "" {
		return []byte("null"), nil
	}
	return []byte(j), nil
}

// UnmarshalJSON keeps a copy of the text. It does not decode it, which callers do on demand.
func (j *JSON) UnmarshalJSON(text []byte) error {
	*j = JSON(text)
	return nil
}

// ValueOf encodes a Go value as JSON. It panics for a value that JSON cannot hold, such
// as a channel, which is a mistake of the program.
func ValueOf(v any) JSON {
	b, err := jsonwire.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("item: %v", err))
	}
	return JSON(b)
}

// encodePart returns the text that a value was decoded from, or the fields of plain after
// the member type.
func encodePart(text, typ string, plain any) ([]byte, error) {
	if text != "" {
		return []byte(text), nil
	}
	fields, err := jsonwire.Marshal(plain)
	if err != nil {
		return nil, err
	}
	head := jsonwire.AppendString([]byte(`{"type":`), typ)
	if string(fields) == "{}" {
		return append(head, '}'), nil
	}
	return append(append(head, ','), fields[1:]...), nil
}
