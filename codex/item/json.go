package item

import (
	"fmt"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// JSON is the text of one JSON value that is decoded on demand: the arguments of a tool, a result,
// or any member without a fixed shape. The zero value means that the member was absent; null is
// the text "null". The methods Decode and Value decode it.
type JSON = jsonwire.JSON

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
