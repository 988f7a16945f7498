package item

import (
	"fmt"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// JSON is the text of one JSON value that is decoded on demand: the arguments of a tool, a result,
// or any member without a fixed shape. The zero value means that the member was absent; null is
// the text "null". The methods Decode and Value decode it.
type JSON = jsonwire.JSON

// ValueOf encodes a Go value as JSON. It panics for a value that JSON cannot represent, such as a
// channel, which is a programming error.
func ValueOf(v any) JSON {
	b, err := jsonwire.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("item: %v", err))
	}
	return JSON(b)
}

// encodePart returns the text that a value was decoded from, or for a constructed value its type
// and the fields of the struct that v points to. MarshalJSON of each item and each part of an input
// calls it: a method promoted from an embedded struct would see only the embedded fields.
func encodePart(text, typ string, v any) ([]byte, error) {
	if text != "" {
		return []byte(text), nil
	}
	out, err := jsonwire.AppendMembers(jsonwire.AppendString([]byte(`{"type":`), typ), v)
	if err != nil {
		return nil, err
	}
	return append(out, '}'), nil
}
