package message

import (
	"encoding/json"
	"errors"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// JSON is the text of one JSON value that is decoded on demand: the input of a tool, its result,
// or any member whose shape is not fixed. It is a substring of its message's line and keeps that
// line in memory; a copy that [strings.Clone] made does not.
//
// The zero value means that the member was absent; null is the text "null".
type JSON string

var _ = jsonwire.RegisterText[JSON]()

// errAbsent is what decoding a member that was not there gives.
var errAbsent = errors.New("claude: no value to decode")

// Decode decodes the value into what dst points to, by the rules of [json.Unmarshal]. It returns
// an error for a value that was absent.
func (j JSON) Decode(dst any) error {
	if j == "" {
		return errAbsent
	}
	return json.Unmarshal([]byte(j), dst)
}

// Value decodes the value into the types that [json.Unmarshal] uses for an any: map[string]any,
// []any, string, float64, bool and nil. It is nil for a value that was absent or is not JSON.
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
