package message

import (
	"encoding/json"
	"fmt"
)

// Encode returns a message as a line of JSON without a line break: byte for byte the line that
// it was decoded from, or its type and fields if the program built it. [json.Marshal] gives the
// same value, but with <, > and & escaped.
func Encode(m Message) ([]byte, error) {
	if raw := m.Raw(); raw != nil {
		return raw, nil
	}
	if m, ok := m.(json.Marshaler); ok {
		return m.MarshalJSON()
	}
	return nil, fmt.Errorf("claude: a %T cannot be encoded", m)
}
