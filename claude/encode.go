package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
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

// encodeMessage writes the line of m, or the fields of plain, which is m without
// its methods, behind the type.
func encodeMessage(m Message, plain any) ([]byte, error) {
	if raw := m.Raw(); raw != nil {
		return raw, nil
	}
	fields, err := encodeJSON(plain)
	if err != nil {
		return nil, err
	}
	if u, ok := m.(*UnknownMessage); ok && u.Type != "" {
		return fields, nil
	}
	typ, subtype, _ := strings.Cut(Kind(m), "/")
	head := map[string]any{"type": typ}
	if s, ok := m.(interface{ System() *SystemMessage }); ok && s.System().Subtype == "" && subtype != "" {
		fields = bytes.Replace(fields, []byte(`"subtype":""`), fmt.Appendf(nil, `"subtype":%q`, subtype), 1)
	}
	return prepend(head, fields)
}

// prepend puts the members of head before those of the object in fields.
func prepend(head map[string]any, fields []byte) ([]byte, error) {
	out, err := encodeJSON(head)
	if err != nil || string(fields) == "{}" {
		return out, err
	}
	return append(append(out[:len(out)-1], ','), fields[1:]...), nil
}

// encodePart writes the text that a block, an event or a delta came from, or the
// fields of plain behind the type.
func encodePart(text, typ string, plain any) ([]byte, error) {
	if text != "" {
		return []byte(text), nil
	}
	fields, err := encodeJSON(plain)
	if err != nil {
		return nil, err
	}
	return prepend(map[string]any{"type": typ}, fields)
}

// encodeJSON is json.Marshal without the escapes for HTML.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// unmarshaled takes the method MarshalJSON, which a type gets from an embedded
// SystemMessage, away again: two methods of one name at the same depth are none.
// Else only the embedded fields would be written.
type unmarshaled struct{ marshaled }

type marshaled struct{}

// MarshalJSON is never called.
func (marshaled) MarshalJSON() ([]byte, error) { return nil, errNoObject }
