package message

import (
	"encoding/json"
	"errors"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// JSON is the text of one JSON value that is decoded on demand: a tool's input, a tool's
// result, a member whose shape is anybody's. It is part of its message's line and holds it in
// memory; [strings.Clone] frees it.
//
// The zero value means that the member was absent; null is the text "null".
type JSON string

var _ = jsonwire.RegisterText[JSON]()

// errAbsent is what decoding a member that was not there gives.
var errAbsent = errors.New("claude: no value to decode")

// Decode decodes the value into what dst points to, as [json.Unmarshal] does.
// A value that was absent is an error.
func (j JSON) Decode(dst any) error {
	if j == "" {
		return errAbsent
	}
	return json.Unmarshal([]byte(j), dst)
}

// Value decodes the value into the usual Go types: map[string]any, []any,
// string, float64, bool, nil. It is nil for a value that was absent.
func (j JSON) Value() any {
	var v any
	if j == "" || json.Unmarshal([]byte(j), &v) != nil {
		return nil
	}
	return v
}

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

// UnmarshalJSON keeps a copy of the text. It does not decode it, which [JSON.Decode] does on
// demand.
func (j *JSON) UnmarshalJSON(text []byte) error {
	*j = JSON(text)
	return nil
}
