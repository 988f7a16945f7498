package message

import (
	"encoding/json"
	"fmt"
)

// Encode returns the line of a message: byte for byte the one that it was
// decoded from, or its fields for a message that was built. [json.Marshal]
// gives the same value, but with <, > and & escaped as it always does.
func Encode(m Message) ([]byte, error) {
	if raw := m.Raw(); raw != nil {
		return raw, nil
	}
	if m, ok := m.(json.Marshaler); ok {
		return m.MarshalJSON()
	}
	return nil, fmt.Errorf("claude: a %T cannot be encoded", m)
}
